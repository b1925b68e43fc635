//! Which files are mutated, and which tests look at them.

/// Files that are mutated together, and the tests that judge them.
#[derive(Debug)]
pub struct Scope {
    /// What `--scope` takes.
    pub name: &'static str,
    /// The files, as `cargo mutants` takes them.
    pub files: &'static [&'static str],
    /// What they hold besides.
    pub not: &'static [&'static str],
    /// Packages whose tests run: those in their sources, and `tests`.
    pub packages: &'static [&'static str],
    /// Their tests outside of the sources.
    pub tests: &'static [&'static str],
    /// Whether the faults of `tests/faults.toml` are planted, too.
    pub by_hand: bool,
}

/// The crates that know no tensors.
const PLAIN: &[&str] = &[
    "helmholtz-samplers",
    "helmholtz-invariance",
    "helmholtz-random",
];

/// Their tests outside of the sources.
const OF_PLAIN: &[&str] = &[
    "kernels",
    "state_kernels",
    "mapped_store",
    "mixed_store",
    "resampling",
    "sampling",
    "smc",
    "smc_folder",
    "store_files",
    "correct",
    "discrete",
    "gallery",
    "numbers",
    "spec",
];

/// All scopes, the default first.
pub const SCOPES: [Scope; 14] = [
    // Coefficients, by the proofs and what each crate claims of them. The catalogue is text.
    Scope {
        name: "coefficients",
        files: &["crates/estimators/src/**/*.rs"],
        not: &["crates/estimators/src/catalogue.rs"],
        packages: &[
            "helmholtz-ops",
            "helmholtz-distributions",
            "helmholtz-samplers",
            "helmholtz-estimators",
            "helmholtz-tests",
        ],
        tests: &[
            "proofs",
            "settings",
            "ops",
            "layers",
            "real",
            "kernels",
            "state_kernels",
            "mixed_store",
        ],
        by_hand: true,
    },
    // Operations and their backward routines, by loops over plain numbers and numerical derivatives. The GPU's kernels need a device.
    Scope {
        name: "operations",
        files: &["crates/ops/src/**/*.rs"],
        not: &[
            "crates/ops/src/cubecl.rs",
            "crates/ops/src/flex/bits/*.rs",
            "crates/ops/src/flex/categorical/*.rs",
        ],
        packages: &[
            "helmholtz-ops",
            "helmholtz-distributions",
            "helmholtz-tests",
        ],
        tests: &["ops", "layers", "real"],
        by_hand: false,
    },
    // Products of bits and one-hot rows, by loops in f64 on every instruction set of the machine.
    Scope {
        name: "bits",
        files: &[
            "crates/ops/src/flex/bits.rs",
            "crates/ops/src/flex/bits/*.rs",
            "crates/ops/src/flex/categorical.rs",
            "crates/ops/src/flex/categorical/*.rs",
            "crates/ops/src/flex/live.rs",
        ],
        not: &[],
        packages: &[
            "helmholtz-ops",
            "helmholtz-distributions",
            "helmholtz-tests",
        ],
        tests: &["ops", "layers", "real"],
        by_hand: false,
    },
    // The plain crates, by their own tests: what a feature adds is not built. Three records of one run: a verdict of one scope is one of
    // the others, since packages and tests are the same.
    Scope {
        name: "kernels",
        files: &[
            "crates/samplers/src/kernels/state/discrete.rs",
            "crates/samplers/src/kernels/state/discrete/**/*.rs",
            "crates/samplers/src/kernels/state/turns.rs",
            "crates/samplers/src/coupling/*.rs",
        ],
        not: &[],
        packages: PLAIN,
        tests: OF_PLAIN,
        by_hand: false,
    },
    Scope {
        name: "samplers",
        files: &["crates/samplers/src/**/*.rs", "crates/random/src/*.rs"],
        not: &[
            "crates/samplers/src/batched_hmc.rs",
            "crates/samplers/src/burn_target.rs",
            "crates/samplers/src/sampling/inference_data.rs",
            "crates/samplers/src/sampling/zarr.rs",
        ],
        packages: PLAIN,
        tests: OF_PLAIN,
        by_hand: false,
    },
    Scope {
        name: "invariance",
        files: &["crates/invariance/src/**/*.rs"],
        not: &[
            "crates/invariance/src/gradients.rs",
            "crates/invariance/src/gradients/*.rs",
        ],
        packages: PLAIN,
        tests: OF_PLAIN,
        by_hand: false,
    },
    // What certifies estimators, by the proofs that use it.
    Scope {
        name: "gradients",
        files: &[
            "crates/invariance/src/gradients.rs",
            "crates/invariance/src/gradients/*.rs",
        ],
        not: &[],
        packages: &["helmholtz-invariance", "helmholtz-tests"],
        tests: &["proofs"],
        by_hand: false,
    },
    Scope {
        name: "apg",
        files: &["crates/apg/src/*.rs"],
        not: &[],
        packages: &["helmholtz-apg"],
        tests: &["engine"],
        by_hand: false,
    },
    Scope {
        name: "distributions",
        files: &["crates/distributions/src/*.rs"],
        not: &[],
        packages: &["helmholtz-distributions"],
        tests: &["layers", "real"],
        by_hand: false,
    },
    // What a run writes, by crashes at every operation and damage to every byte, in their small forms.
    Scope {
        name: "runs",
        files: &[
            "crates/files/src/**/*.rs",
            "crates/crashes/src/*.rs",
            "crates/runs/src/*.rs",
        ],
        not: &[
            "crates/crashes/src/tests.rs",
            "crates/files/src/lock/tests.rs",
        ],
        packages: &["helmholtz-files", "helmholtz-crashes", "helmholtz-runs"],
        tests: &[
            "campaign",
            "damage",
            "faults",
            "foreign",
            "locks",
            "mutated",
            "paths",
            "processes",
            "runs",
            "store",
        ],
        by_hand: false,
    },
    Scope {
        name: "harness",
        files: &["crates/harness/src/**/*.rs", "crates/report/src/**/*.rs"],
        not: &[],
        packages: &["helmholtz-harness", "helmholtz-report"],
        tests: &["drawing", "formats"],
        by_hand: false,
    },
    // Without Parquet, which is a feature.
    Scope {
        name: "datasets",
        files: &["crates/datasets/src/**/*.rs"],
        not: &["crates/datasets/src/own/parquet.rs"],
        packages: &["helmholtz-datasets"],
        tests: &["mutated", "real_data"],
        by_hand: false,
    },
    // Without the copies of other formats, which are a feature.
    Scope {
        name: "training",
        files: &[
            "crates/training/src/**/*.rs",
            "crates/evaluation/src/**/*.rs",
        ],
        not: &["crates/training/src/safetensors.rs"],
        packages: &["helmholtz-training", "helmholtz-evaluation"],
        tests: &[
            "training",
            "analytic_kl",
            "gradient_variance",
            "nll",
            "tempered",
        ],
        by_hand: false,
    },
    Scope {
        name: "models",
        files: &["crates/models/*/src/**/*.rs"],
        not: &[],
        packages: &[
            "helmholtz-categorical-vae",
            "helmholtz-conditional-sbn",
            "helmholtz-count-vae",
            "helmholtz-dmm",
            "helmholtz-gmm",
            "helmholtz-nets",
            "helmholtz-sbn",
            "helmholtz-tracker",
        ],
        tests: &["feedforward", "mixture", "network", "rings", "tracking"],
        by_hand: false,
    },
];

/// The scope of this name.
///
/// # Errors
/// If there is none.
pub fn named(name: &str) -> Result<&'static Scope, String> {
    let names = || SCOPES.iter().map(|scope| scope.name);
    let found = SCOPES.iter().find(|scope| scope.name == name);
    found.ok_or_else(|| {
        let names: Vec<&str> = names().collect();
        format!("there is no scope `{name}`: {}", names.join(", "))
    })
}
