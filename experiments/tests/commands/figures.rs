//! Figures of runs by the program itself: drawn from what is recorded, refused with a command where there is nothing; and
//! figure 3, small, on generated images.

use crate::support::{self, helmholtz, text};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn reproduce(folder: &Path, args: &[&str]) -> Output {
    helmholtz(folder, &[&["reproduce"], args].concat())
}

/// Copies the files of recorded run folders, as a user's `runs` would have them.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &to.join(entry.file_name())),
            false => drop(fs::copy(entry.path(), to.join(entry.file_name())).unwrap()),
        }
    }
}

#[test]
fn figure_1_draws_the_runs_that_are_there_and_names_the_command_for_the_others() {
    let dir = tempfile::tempdir().unwrap();
    let recorded = Path::new(env!("CARGO_MANIFEST_DIR")).join("results/table1/paper-100-epochs");
    copy(
        &recorded,
        &dir.path()
            .join("runs/table1/paper-100-epochs/binarized-mnist"),
    );
    let output = reproduce(
        dir.path(),
        &["fig1", "--profile", "paper", "--epochs", "100"],
    );
    let out = text(&output);
    assert!(output.status.success(), "{out}");
    let command = "cargo xtask reproduce table1 --net nonlinear,two-layers --method jsa,rws,rloo --profile paper --epochs 100";
    assert!(
        out.contains(command) && out.contains("100 of 100 epochs"),
        "{out}"
    );
    let folder = dir
        .path()
        .join("runs/fig1/paper-100-epochs/binarized-mnist");
    let svg = fs::read_to_string(folder.join("fig1.svg")).unwrap();
    assert!(
        svg.contains("JSA: chains begin") && svg.contains("RWS, test"),
        "{svg}"
    );
    let csv = fs::read_to_string(folder.join("fig1.csv")).unwrap();
    // Twenty checks of three runs, the switch, and a head.
    assert_eq!(csv.lines().count(), 1 + 3 * 20 + 1);
    assert!(csv.contains("(a) Linear,JSA: chains begin,60,"), "{csv}");
}

#[test]
fn a_figure_without_runs_names_the_command_that_makes_them_and_writes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    for (figure, command) in [
        (
            "fig1",
            "cargo xtask reproduce table1 --net linear,nonlinear,two-layers --method jsa,rws,rloo",
        ),
        (
            "fig2",
            "cargo xtask reproduce table2 --net categorical --method jsa,rloo,st-gumbel-softmax-learned,arsm",
        ),
        (
            "fig4",
            "cargo xtask reproduce table1 --net linear,nonlinear --method jsa,rws,rloo",
        ),
        (
            "fig-table3",
            "cargo xtask reproduce table3 --net structured --method jsa,rws,rloo,vimco --particles 5,20",
        ),
    ] {
        let output = reproduce(dir.path(), &[figure]);
        assert!(!output.status.success());
        assert!(text(&output).contains(command), "{}", text(&output));
    }
    let output = reproduce(dir.path(), &["fig1", "--jobs", "2"]);
    assert!(
        text(&output).contains("it trains nothing"),
        "{}",
        text(&output)
    );
    assert!(!dir.path().join("runs").exists());
}

/// A small cut of figure 3, of two methods.
fn small_fig3(folder: &Path) {
    let text = include_str!("../../fig3.toml");
    let text = text
        .replace("epochs = 4\n", "epochs = 3\n")
        .replace(
            "images = 200\nreplicates = 20\n",
            "images = 20\nreplicates = 4\n",
        )
        .replace(
            "valid_images = 500",
            "valid_images = 20\nparticles = 2\nbatch = 500",
        )
        .replace("test_images = 500", "test_images = 20");
    fs::write(folder.join("small.toml"), text).unwrap();
}

#[test]
fn figure_3_trains_measures_and_draws_and_is_done_once() {
    let dir = tempfile::tempdir().unwrap();
    small_fig3(dir.path());
    let args = ["small.toml", "--dataset", "glyphs", "--method", "jsa,rloo"];
    let output = reproduce(dir.path(), &args);
    let out = text(&output);
    assert!(output.status.success(), "{out}");
    let base = dir.path().join("runs/fig3/quick/glyphs");
    let table = fs::read_to_string(base.join("table.md")).unwrap();
    // The switch is after 0.6 x 3 epochs: before the third the chains are there, held and moving.
    for part in [
        "| JSA | 1 | 0 | 1 |",
        "| JSA | 1 | 2 | 2 | held |",
        "| JSA | 1 | 2 | 2 | moving |",
    ] {
        assert!(table.contains(part), "{table}");
    }
    assert!(
        table.contains("GENERATED IMAGES") && table.contains("without K/(K-1)"),
        "{table}"
    );
    let svg = fs::read_to_string(base.join("fig3.svg")).unwrap();
    assert!(svg.contains("RLOO, released scale") && svg.contains("JSA: chains begin"));
    let again = text(&reproduce(dir.path(), &args));
    assert_eq!(again.matches("  done").count(), 2, "{again}");
    // And the report shows both methods in one figure.
    let mut command = Command::new(env!("CARGO_BIN_EXE_helmholtz"));
    let report = command
        .args(["report", "--out", "runs"])
        .current_dir(dir.path());
    assert!(report.output().unwrap().status.success());
    let page = fs::read_to_string(dir.path().join("report/report.html")).unwrap();
    let title = "JSA Figure 3: gradient variance during training (fig3/quick/glyphs)";
    assert_eq!(page.matches(&format!("<h2>{title}</h2>")).count(), 1);
    let drawn = "report/figures/runs-fig3-quick-glyphs-variance.svg";
    assert!(dir.path().join(drawn).is_file());
}

#[test]
fn training_nll_is_recorded_where_it_is_asked_for_and_changes_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let metrics = |name: &str, more: &str| {
        let toml = include_str!("../../table1.toml")
            .replace("name = \"table1\"", &format!("name = \"{name}\""))
            .replace("epochs = 10\n", "epochs = 2\n")
            .replace(
                "valid_images = 1000 ",
                &format!("valid_images = 20\n{more} "),
            )
            .replace("test_images = 1000", "test_images = 20");
        fs::write(dir.path().join(format!("{name}.toml")), toml).unwrap();
        let file = format!("{name}.toml");
        let cell = [
            "--net",
            "linear",
            "--method",
            "jsa",
            "--dataset",
            "glyphs",
            "--jobs",
            "1",
        ];
        let output = reproduce(dir.path(), &[&[file.as_str()], &cell[..]].concat());
        assert!(output.status.success(), "{}", text(&output));
        let run = format!("runs/{name}/quick/glyphs/linear/jsa/seed-1");
        support::metrics(&dir.path().join(run))
    };
    let plain = metrics("plain", "");
    let mut asked = metrics("asked", "train_images = 30");
    let mut seen = 0;
    for line in &mut asked {
        if let Some(train) = line.as_object_mut().unwrap().remove("train") {
            assert_eq!(
                (&train["images"], &train["samples"]),
                (&30.into(), &100.into())
            );
            seen += 1;
        }
    }
    assert_eq!((seen, plain.len()), (2, 4));
    assert_eq!(plain, asked);
}

#[test]
fn a_run_that_cannot_be_read_is_named_and_the_command_is_one_that_a_shell_takes() {
    let dir = tempfile::tempdir().unwrap();
    let recorded = Path::new(env!("CARGO_MANIFEST_DIR")).join("results/table1/paper-100-epochs");
    let base = "my runs/table1/paper-100-epochs/binarized-mnist";
    copy(&recorded, &dir.path().join(base));
    let damaged = dir
        .path()
        .join(base)
        .join("linear/rws/seed-1/metrics.jsonl");
    let rows = fs::read_to_string(&damaged).unwrap();
    fs::write(&damaged, format!("{{{rows}")).unwrap();
    let args = [
        "fig1",
        "--profile",
        "paper",
        "--epochs",
        "100",
        "--out",
        "my runs",
    ];
    let output = reproduce(dir.path(), &args);
    let out = text(&output);
    assert!(output.status.success(), "{out}");
    let warning = format!("warning: {base}/linear/rws/seed-1: ");
    assert!(
        out.contains(&warning) && out.contains("metrics.jsonl"),
        "{out}"
    );
    assert!(out.contains(" --out 'my runs'"), "{out}");
}
