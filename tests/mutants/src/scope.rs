//! Which files are mutated, and which tests look at them.

/// The files that hold coefficients, kernels and backward routines, as `cargo mutants` takes them.
pub const FILES: [&str; 10] = [
    "crates/estimators/src/*.rs",
    "crates/estimators/src/*/*.rs",
    "crates/samplers/src/kernel.rs",
    "crates/samplers/src/kernels/index/*.rs",
    "crates/samplers/src/kernels/state/*.rs",
    "crates/samplers/src/kernels/state/discrete/*.rs",
    "crates/samplers/src/log_space.rs",
    "crates/samplers/src/scan.rs",
    "crates/ops/src/*.rs",
    "crates/ops/src/flex/*.rs",
];

/// What they hold besides: the catalogue is text, and the GPU's kernels need a device.
pub const NOT: [&str; 2] = [
    "crates/estimators/src/catalogue.rs",
    "crates/ops/src/cubecl.rs",
];

/// Packages whose tests run.
pub const PACKAGES: [&str; 5] = [
    "helmholtz-ops",
    "helmholtz-distributions",
    "helmholtz-samplers",
    "helmholtz-estimators",
    "helmholtz-tests",
];

/// Their tests outside of the sources: the proofs, and what each crate claims of the files above.
pub const TESTS: [&str; 9] = [
    "proofs",
    "readme",
    "settings",
    "ops",
    "layers",
    "real",
    "kernels",
    "state_kernels",
    "mixed_store",
];
