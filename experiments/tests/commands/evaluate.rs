//! `evaluate`, the program itself: a run's own number again, more samples, and refusals with their remedy.

use clap::Parser;
use helmholtz_datasets::Locator;
use helmholtz_experiments::cli::{Cli, Command};
use helmholtz_experiments::commands::evaluate::evaluate;
use helmholtz_experiments::registry::Registry;
use helmholtz_harness::reproduce::End;
use helmholtz_harness::streams::Captured;
use serde_json::Value;
use std::path::Path;
use std::process::{self, Output};
use std::sync::atomic::{AtomicBool, Ordering};

fn helmholtz(folder: &Path, args: &str) -> Output {
    let mut command = process::Command::new(env!("CARGO_BIN_EXE_helmholtz"));
    command.args(args.split(' ')).current_dir(folder);
    command.output().unwrap()
}

fn lines(output: &Output) -> Vec<Value> {
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

const RUN: &str = "runs/table1/quick-2-epochs/glyphs/linear/rws/seed-3";

/// A run of two epochs, of a net that has taken the pixels' means from the training images; and its result.
fn run(folder: &Path) -> Value {
    let text = include_str!("../../table1.toml")
        .replace(
            "valid_images = 1000 ",
            "final_samples = 7\nvalid_images = 5 ",
        )
        .replace("test_images = 1000\n", "test_images = 5\n")
        .replace("batch = 50", "centred = true\nbatch = 500")
        .replace("valid_samples = 100\n", "valid_samples = 2\n")
        .replace("test_samples = 100\n", "test_samples = 2\n");
    std::fs::write(folder.join("mine.toml"), text).unwrap();
    let args =
        "reproduce mine.toml --dataset glyphs --net linear --method rws --epochs 2 --seeds 3";
    let output = helmholtz(folder, args);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    let text = std::fs::read_to_string(folder.join(RUN).join("result.json")).unwrap();
    let mut result: Value = serde_json::from_str(&text).unwrap();
    result["content"].take()
}

#[test]
fn a_run_s_own_samples_give_its_own_number_and_more_give_a_lower_one() {
    let dir = tempfile::tempdir().unwrap();
    let result = run(dir.path());
    let args = format!("evaluate {RUN} --samples 100,7,1,7 --json --out here");
    let found = lines(&helmholtz(dir.path(), &args));
    // Three rows, in order, and the table.
    let rows = found.last().unwrap()["table"]["rows"]
        .as_array()
        .unwrap()
        .clone();
    let samples: Vec<_> = rows
        .iter()
        .map(|row| row["samples"].as_u64().unwrap())
        .collect();
    assert_eq!((samples, found.len()), (vec![1, 7, 100], 4));
    let nll = |row: &Value| row["mean"].as_f64().unwrap();
    assert_eq!(nll(&rows[1]), result["final_nll"].as_f64().unwrap());
    assert!(nll(&rows[0]) > nll(&rows[1]) && nll(&rows[1]) > nll(&rows[2]));
    // With one sample it is minus the bound.
    assert!((nll(&rows[0]) + rows[0]["elbo"].as_f64().unwrap()).abs() < 1e-9);
    let document = found.last().unwrap()["document"].to_string();
    assert!(document.contains("\"severity\":\"caution\"") && document.contains("GENERATED"));
    let table = std::fs::read_to_string(dir.path().join("here/evaluation.md")).unwrap();
    assert!(table.contains("| 100 |") && table.contains("GENERATED") && table.contains("Commit"));
}

#[test]
fn last_parameters_and_fewer_images_are_other_numbers_and_the_run_stays_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let result = run(dir.path());
    let args = format!("evaluate {RUN} --samples 7 --images 20");
    let output = helmholtz(dir.path(), &args);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        text.contains("linear / rws / seed 3 as selected, after")
            && text.contains("on 20 test images"),
        "{text}"
    );
    let args = format!("evaluate {RUN} --samples 7 --last --images 20 --json");
    let last = lines(&helmholtz(dir.path(), &args));
    assert!(
        last.last().unwrap()["table"]["run"]
            .as_str()
            .unwrap()
            .contains("after 2 epochs")
    );
    assert_eq!(
        result,
        run(dir.path()),
        "it is done, and nothing was made again"
    );
}

/// An evaluation into `out`, stopped once `stops` holds of the folder.
fn evaluated(
    run: &Path,
    rest: &str,
    out: &Path,
    stops: impl Fn(&Path) -> bool + Sync,
) -> (End, String, String) {
    let line = ["helmholtz", "evaluate", run.to_str().unwrap()];
    let line = line.into_iter().chain(rest.split(' '));
    let line = line.chain(["--out", out.to_str().unwrap()]);
    let Command::Evaluate(args) = Cli::try_parse_from(line).unwrap().command else {
        unreachable!("`evaluate` was asked for")
    };
    let (shown, said) = (Captured::default(), Captured::default());
    let streams = Captured::streams(&shown, &said);
    let (registry, locator) = (Registry::default(), Locator::new(None));
    let (stop, over) = (AtomicBool::new(stops(out)), AtomicBool::new(false));
    let end = std::thread::scope(|threads| {
        threads.spawn(|| {
            while !over.load(Ordering::SeqCst) {
                stop.fetch_or(stops(out), Ordering::SeqCst);
                std::thread::yield_now();
            }
        });
        let end = evaluate(&args, &registry, &locator, &stop, &streams);
        over.store(true, Ordering::SeqCst);
        end
    });
    (end.unwrap(), shown.take(), said.take())
}

/// An earlier evaluation stays when another is stopped before its end.
#[test]
fn an_evaluation_that_is_stopped_takes_nothing_away() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path());
    let (run, here) = (dir.path().join(RUN), dir.path().join("here"));
    let written = || std::fs::read_to_string(here.join("evaluation.md")).unwrap();
    let (end, shown, _) = evaluated(&run, "--samples 3", &here, |_| false);
    assert_eq!((end, shown.is_empty()), (End::Complete, false));
    let earlier = written();
    let (end, shown, said) = evaluated(&run, "--samples 5", &here, |_| true);
    assert_eq!((end, shown), (End::Interrupted, String::new()));
    assert!(said.contains("the same command starts over"), "{said}");
    assert_eq!(written(), earlier);
}

/// Kept pieces of an evaluation.
fn pieces(out: &Path) -> usize {
    let entries = std::fs::read_dir(out.join("pieces"));
    entries.map_or(0, |entries| {
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        names.filter(|name| name.ends_with(".json")).count()
    })
}

#[test]
fn an_evaluation_that_was_stopped_goes_on_and_gives_the_same_bits() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path());
    let run = dir.path().join(RUN);
    let asked = "--samples 20,300 --images 600 --tempered 2,3";
    let [whole, stopped] = ["whole", "stopped"].map(|name| dir.path().join(name));
    assert_eq!(evaluated(&run, asked, &whole, |_| false).0, End::Complete);
    // A hundred images a thread. In the pass, and then in the tempered part after it, where that has several pieces.
    let of_pass =
        600usize.div_ceil(100 * std::thread::available_parallelism().map_or(1, Into::into));
    let moments = [1, of_pass + 1];
    for least in &moments[..of_pass.min(2)] {
        let (end, _, said) = evaluated(&run, asked, &stopped, |out| pieces(out) >= *least);
        assert_eq!(end, End::Interrupted, "{said}");
        assert!((*least..2 * of_pass).contains(&pieces(&stopped)));
    }
    let (end, _, said) = evaluated(&run, asked, &stopped, |_| false);
    assert_eq!(end, End::Complete, "{said}");
    let bits = |folder: &Path| std::fs::read(folder.join("log-likelihoods.bin")).unwrap();
    assert!(bits(&whole) == bits(&stopped));
    let numbers = |folder: &Path| {
        let text = std::fs::read_to_string(folder.join("evaluation.md")).unwrap();
        let rows = text.lines().filter(|line| line.starts_with("| "));
        let rows = rows.map(String::from).collect::<Vec<_>>();
        rows[..9].to_vec()
    };
    assert_eq!(numbers(&whole), numbers(&stopped));
    assert!(!stopped.join("pieces").exists());
}

#[test]
fn what_cannot_be_evaluated_is_refused_with_the_remedy() {
    let dir = tempfile::tempdir().unwrap();
    let rejection = |args: &str| {
        let output = helmholtz(dir.path(), args);
        assert!(!output.status.success());
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    assert!(rejection("evaluate nowhere").contains("there is no run"));
    assert!(rejection("evaluate nowhere --samples 0").contains("--samples"));
    run(dir.path());
    let text = rejection(&format!("evaluate {RUN} --images 1000000"));
    assert!(
        text.contains("`--images` asks for 1000000 images"),
        "{text}"
    );
}

/// The finished runs of a table with several numbers of samples: killed and gone on with, the same numbers as `evaluate` gives.
#[test]
fn finished_runs_of_a_table_are_evaluated_with_several_numbers_of_samples() {
    let dir = tempfile::tempdir().unwrap();
    let text = include_str!("../../table1-samples.toml").replace("[10, 100, 1000]", "[1, 7]");
    std::fs::write(dir.path().join("samples.toml"), text).unwrap();
    let args =
        "reproduce samples.toml --dataset glyphs --net linear --method rws --epochs 2 --seeds 3";
    let rejected = helmholtz(dir.path(), args);
    let error = String::from_utf8_lossy(&rejected.stderr).into_owned();
    assert!(
        !rejected.status.success()
            && error.contains("cargo xtask reproduce table1 --profile quick"),
        "{error}"
    );

    run(dir.path());
    let first = helmholtz(dir.path(), &format!("{args} --json"));
    let (plan, table) = (lines(&first).remove(0), lines(&first).pop().unwrap());
    // Each of two estimates of each of 1,000 images, and the parameters.
    assert_eq!(plan["disk"], 2 * 1000 * 56);
    assert!(plan["memory"].as_u64().unwrap() > 4 * 784 * 200);
    let of_run = format!("evaluate {RUN} --samples 1,7 --json");
    let own = lines(&helmholtz(dir.path(), &of_run)).pop().unwrap();
    assert_eq!(table["table"][0]["rows"], own["table"]["rows"]);
    let base = dir.path().join("runs/table1-samples/quick-2-epochs/glyphs");
    let written = std::fs::read_to_string(base.join("table.md")).unwrap();
    assert!(
        written.contains("NLL, S = 7") && written.contains("GENERATED"),
        "{written}"
    );
    let again = helmholtz(dir.path(), args);
    let out = String::from_utf8_lossy(&again.stdout).into_owned();
    assert!(out.contains("1 run, all done."), "{out}");
    // A report has the same table from the run's own numbers.
    assert!(helmholtz(dir.path(), "report --out runs").status.success());
    let tables = dir.path().join("report/tables");
    let shown = tables.join("runs-table1-samples-quick-2-epochs-glyphs-samples.csv");
    let read = |path| std::fs::read_to_string(path).unwrap();
    assert_eq!(read(shown), read(base.join("table.csv")));
}
