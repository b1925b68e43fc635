//! An experiment of every kind, cut so that a run takes about a second.

use std::fs;
use std::path::Path;
use std::process::Command;

use toml::{Table, Value};

/// A kind of experiment.
pub struct Kind {
    /// As experiment files have it.
    pub name: &'static str,
    /// What follows `reproduce`.
    pub args: &'static str,
    /// Writes what it needs into an empty folder.
    pub prepare: fn(&Path),
    /// Whether it needs the real MNIST.
    pub needs_digits: bool,
}

const OWN: Kind = Kind {
    name: "",
    args: "small.toml",
    prepare: data,
    needs_digits: false,
};

/// All kinds.
pub const KINDS: &[Kind] = &[
    Kind {
        name: "table",
        args: "table1 --dataset bits.amat --net linear --method jsa,rws --epochs 12 --jobs 1",
        ..OWN
    },
    Kind {
        name: "arm-toy",
        prepare: toy,
        ..OWN
    },
    Kind {
        name: "apg-gmm",
        prepare: gmm,
        ..OWN
    },
    Kind {
        name: "apg-dmm",
        prepare: dmm,
        ..OWN
    },
    Kind {
        name: "apg-bmnist",
        prepare: bmnist,
        needs_digits: true,
        ..OWN
    },
    Kind {
        name: "apg-kl",
        args: "kl.toml --jobs 1",
        prepare: kl,
        ..OWN
    },
    Kind {
        name: "apg-table",
        args: "both.toml --jobs 1",
        prepare: both,
        ..OWN
    },
    Kind {
        name: "curves",
        args: "fig1 --profile paper --epochs 100",
        prepare: recorded,
        ..OWN
    },
    Kind {
        name: "variance-curve",
        args: "small.toml --dataset glyphs --method jsa --jobs 1",
        prepare: variance,
        ..OWN
    },
    Kind {
        name: "grid",
        args: "small.toml --dataset bits.amat --net linear --method rws --epochs 8 --jobs 1",
        prepare: grid,
        ..OWN
    },
    Kind {
        name: "evaluations",
        args: "small.toml --dataset bits.amat --net linear --method jsa,rws --epochs 12 --jobs 1",
        prepare: evaluations,
        ..OWN
    },
];

/// `bits.amat`: 200 images of nine bits.
fn data(folder: &Path) {
    let bit = |i: usize| ((i * i / 7 + i / 9 * (i % 9)) % 2).to_string();
    let row = |row: usize| {
        let bits: Vec<String> = (9 * row..9 * row + 9).map(bit).collect();
        bits.join(" ") + "\n"
    };
    let text: String = (0..200).map(row).collect();
    fs::write(folder.join("bits.amat"), text).unwrap();
}

/// `small.toml` in `folder`: a bundled experiment with these keys set, by their paths.
fn cut(folder: &Path, bundled: &str, set: &[(&str, &str)]) {
    data(folder);
    let mut file: Table = bundled.parse().unwrap();
    file.insert("name".into(), "small".into());
    for (path, value) in set {
        let value: Table = format!("value = {value}").parse().unwrap();
        let mut keys: Vec<&str> = path.split('.').collect();
        let last = keys.pop().unwrap();
        let mut table = &mut file;
        for key in keys {
            let inner = table.get_mut(key).and_then(Value::as_table_mut);
            table = inner.unwrap_or_else(|| panic!("{path}"));
        }
        // A key that no longer exists would cut nothing.
        let old = table.insert(last.into(), value["value"].clone());
        assert!(old.is_some(), "{path}");
    }
    fs::write(folder.join("small.toml"), file.to_string()).unwrap();
}

fn toy(folder: &Path) {
    let set = [
        ("ascent.iterations", "40"),
        ("ascent.replicates", "5"),
        ("variance.replicates", "50"),
        ("classes.classes", "4"),
        ("classes.iterations", "200"),
        ("classes.replicates", "20"),
        ("t1.replicates", "20"),
    ];
    cut(folder, include_str!("../../arm-toy.toml"), &set);
}

fn gmm(folder: &Path) {
    let set = [
        ("training.sweeps", "2"),
        ("training.particles", "3"),
        ("training.batch", "2"),
        ("training.points", "8"),
        ("training.check_every", "4"),
        ("training.check_instances", "3"),
        ("training.checkpoint_seconds", "1e-3"),
        ("evaluation.points", "9"),
        ("evaluation.instances", "3"),
        ("evaluation.sweeps", "2"),
        ("evaluation.shown_sweeps", "[1, 2]"),
        ("evaluation.particles", "3"),
        ("evaluation.prior_particles", "4"),
        ("evaluation.curve_sweeps", "2"),
        ("evaluation.curve_particles", "3"),
        ("evaluation.curve_runs", "2"),
        ("evaluation.curve_prior_particles", "5"),
        ("evaluation.budget", "4"),
        ("evaluation.budget_sweeps", "[1, 2, 4]"),
        ("profile.quick.steps", "20"),
    ];
    cut(folder, include_str!("../../apg-gmm.toml"), &set);
}

fn dmm(folder: &Path) {
    let set = [
        ("training.sweeps", "2"),
        ("training.particles", "3"),
        ("training.batch", "2"),
        ("training.points", "16"),
        ("training.check_every", "4"),
        ("training.check_instances", "3"),
        ("training.checkpoint_seconds", "1e-3"),
        ("evaluation.points", "[16, 32]"),
        ("evaluation.instances", "3"),
        ("evaluation.separated", "2"),
        ("evaluation.batch", "2"),
        ("evaluation.particles", "3"),
        ("evaluation.prior_particles", "4"),
        ("evaluation.sweeps", "2"),
        ("evaluation.shown_sweeps", "[1, 2]"),
        ("evaluation.hmc.leapfrog", "[1, 2]"),
        ("evaluation.hmc.step_size", "1e-3"),
        ("evaluation.hmc.warm_up", "5"),
        ("profile.quick.steps", "20"),
    ];
    cut(folder, include_str!("../../apg-dmm.toml"), &set);
}

fn bmnist(folder: &Path) {
    let set = [
        ("model.position-hidden", "[6, 5]"),
        ("model.digit-hidden", "[8, 7]"),
        ("training.sweeps", "3"),
        ("training.particles", "3"),
        ("training.batch", "2"),
        ("training.check_sequences", "2"),
        ("evaluation.sweeps", "3"),
        ("evaluation.shown_sweeps", "[2, 3]"),
        ("evaluation.particles", "3"),
        ("evaluation.hmc.moves.leapfrog", "[2]"),
        ("evaluation.hmc.moves.warm_up", "3"),
        ("profile.quick.steps", "8"),
        ("profile.quick.model.canvas", "{ side = 12, digit = 4 }"),
        ("profile.quick.training.particles", "3"),
        ("profile.quick.training.frames", "2"),
        ("profile.quick.training.check_every", "2"),
        ("profile.quick.training.checkpoint_seconds", "1e-3"),
        ("profile.quick.evaluation.settings", "[[2, 2], [3, 1]]"),
        ("profile.quick.evaluation.sequences", "3"),
        ("profile.quick.evaluation.prior_particles", "5"),
        (
            "profile.quick.evaluation.hmc",
            "{ sequences = 3, batch = 5 }",
        ),
    ];
    cut(folder, include_str!("../../apg-bmnist.toml"), &set);
}

fn kl(folder: &Path) {
    gmm(folder);
    let text = r#"
        kind = "apg-kl"
        name = "kl"
        title = "Two divisions"
        experiment = "small.toml"
        divisions = [{ sweeps = 3, particles = 2 }, { sweeps = 1, particles = 6 }]
        profile.quick = { profile = "quick", steps = 9 }
    "#;
    fs::write(folder.join("kl.toml"), text).unwrap();
}

fn both(folder: &Path) {
    dmm(folder);
    fs::rename(folder.join("small.toml"), folder.join("rings.toml")).unwrap();
    let rings = fs::read_to_string(folder.join("rings.toml")).unwrap();
    let rings = rings.replace("name = \"small\"", "name = \"rings\"");
    fs::write(folder.join("rings.toml"), rings).unwrap();
    gmm(folder);
    let text = r#"
        kind = "apg-table"
        name = "both"
        title = "Two models"
        profile.quick = [
            { experiment = "small.toml", profile = "quick", steps = 6 },
            { experiment = "rings.toml", profile = "quick", steps = 6 },
        ]
    "#;
    fs::write(folder.join("both.toml"), text).unwrap();
}

/// The finished runs of a table, made once and copied.
fn trained(folder: &Path) {
    use std::sync::OnceLock;
    static MADE: OnceLock<tempfile::TempDir> = OnceLock::new();
    let made = MADE.get_or_init(|| {
        let home = tempfile::tempdir().unwrap();
        data(home.path());
        let mut command = Command::new(env!("CARGO_BIN_EXE_helmholtz"));
        command
            .arg("reproduce")
            .args(super::KINDS[0].args.split(' '))
            .current_dir(home.path());
        assert!(command.output().unwrap().status.success());
        home
    });
    copy(made.path(), folder);
}

/// Recorded runs.
fn recorded(folder: &Path) {
    let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("results/table1/paper-100-epochs");
    let runs = folder.join("runs/table1/paper-100-epochs");
    copy(&results, &runs.join("binarized-mnist"));
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        match entry.path().is_dir() {
            true => copy(&entry.path(), &to),
            false => drop(fs::copy(entry.path(), to).unwrap()),
        }
    }
}

fn variance(folder: &Path) {
    let set = [
        (
            "settings",
            "{ check_every = 1000000, valid_samples = 10, valid_images = 20, test_samples = 10, test_images = 20, \
             particles = 2, batch = 2000 }",
        ),
        ("profile.quick.epochs", "2"),
        ("profile.quick.images", "20"),
        ("profile.quick.replicates", "4"),
    ];
    cut(folder, include_str!("../../fig3.toml"), &set);
}

fn grid(folder: &Path) {
    let set = [("values", "[1e-3, 3e-3]")];
    cut(folder, include_str!("../../rates.toml"), &set);
}

fn evaluations(folder: &Path) {
    trained(folder);
    let set = [("profile.quick.samples", "[1, 7, 500]")];
    cut(folder, include_str!("../../table1-samples.toml"), &set);
}
