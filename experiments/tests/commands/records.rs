//! What a run folder says of its making, the program itself: other commits, other data, damaged metrics, several S, cheap checks.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use helmholtz_experiments::cell_runner::CellResult;
use helmholtz_experiments::log_likelihoods;
use helmholtz_runs::config_hash;
use serde_json::{Value, from_value, json};

const RUN: &str = "runs/table1/quick-3-epochs/glyphs/linear/rws/seed-1";

/// An edited table 1 with these lines among its quick settings, in `folder`.
fn file(folder: &Path, lines: &str) -> PathBuf {
    let text = include_str!("../../table1.toml")
        .replace("valid_images = 1000 ", "valid_images = 20 ")
        .replace("test_images = 1000\n", "test_images = 20\n")
        .replace("valid_samples = 100\n", "valid_samples = 2\n")
        .replace("test_samples = 100\n", "test_samples = 2\n")
        .replace("batch = 50\n", "batch = 500\n")
        .replace("check_every = 1\n", &format!("check_every = 1\n{lines}"));
    let path = folder.join("mine.toml");
    fs::write(&path, text).unwrap();
    path
}

fn command(folder: &Path, commit: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_helmholtz"));
    let args =
        "reproduce mine.toml --dataset glyphs --net linear --method rws --epochs 3 --seeds 1";
    command
        .args(args.split(' '))
        .env("HELMHOLTZ_COMMIT", commit)
        .current_dir(folder);
    command
}

/// All that was said, on one line.
fn text(output: &Output) -> String {
    let [err, out] = [&output.stderr, &output.stdout].map(|said| String::from_utf8_lossy(said));
    let words: Vec<&str> = err
        .split_whitespace()
        .chain(out.split_whitespace())
        .collect();
    words.join(" ")
}

fn run(folder: &Path, commit: &str) -> String {
    let output = command(folder, commit).output().unwrap();
    assert!(output.status.success(), "{}", text(&output));
    text(&output)
}

/// Starts a run and kills it once it has a checkpoint.
fn begin(folder: &Path, commit: &str) {
    let mut first = command(folder, commit);
    let first = first.stdout(Stdio::null()).stderr(Stdio::null());
    let mut first = first.spawn().unwrap();
    let started = Instant::now();
    while !folder.join(RUN).join("checkpoints/000001").is_dir() {
        assert!(
            started.elapsed() < Duration::from_secs(300),
            "no checkpoint"
        );
        std::thread::sleep(Duration::from_millis(2));
    }
    first.kill().unwrap();
    first.wait().unwrap();
    assert!(
        !folder.join(RUN).join("result.json").exists(),
        "it was too quick"
    );
}

fn content(path: PathBuf) -> Value {
    let text = fs::read_to_string(path).unwrap();
    serde_json::from_str::<Value>(&text).unwrap()["content"].take()
}

#[test]
fn a_run_of_two_commits_names_both_and_what_changes_no_bit_does_not_stop_it() {
    let dir = tempfile::tempdir().unwrap();
    file(dir.path(), "checkpoint_seconds = 1\n");
    begin(dir.path(), "aaaa");
    file(dir.path(), "checkpoint_seconds = 7\n");
    let out = run(dir.path(), "bbbb");
    assert!(out.contains("commit bbbb instead of aaaa"), "{out}");
    let folder = dir.path().join(RUN);
    let result: CellResult = from_value(content(folder.join("result.json"))).unwrap();
    let provenance = &result.provenance;
    assert_eq!(
        (provenance.commit.as_str(), provenance.arithmetic),
        ("bbbb", helmholtz_runs::ARITHMETIC)
    );
    let parts = &provenance.history;
    let commits: Vec<&str> = parts.iter().map(|part| part.commit.as_str()).collect();
    assert_eq!(commits, ["aaaa", "bbbb"]);
    assert_eq!((parts[0].from.epochs, parts[1].to.epochs), (0, 3));
    assert_eq!(parts[0].to, parts[1].from);
    assert!(out.contains("Trained by several programs"), "{out}");
    let config = content(folder.join("config.json"));
    assert_eq!(config["settings"]["checkpoint_seconds"], 1);
    assert_eq!(config["fingerprint"], json!(result.fingerprint));
    assert_eq!(result.fingerprint.unwrap().len(), 64);
}

#[test]
fn a_run_begun_on_other_data_is_refused_with_the_remedy_and_stays() {
    let dir = tempfile::tempdir().unwrap();
    file(dir.path(), "checkpoint_seconds = 1\n");
    begin(dir.path(), "aaaa");
    let config = dir.path().join(RUN).join("config.json");
    let mut other = content(config.clone());
    other["fingerprint"] = "0123456789abcdef".into();
    let sealed = json!({"format": 1, "sha256": config_hash(&other), "content": other});
    fs::write(&config, sealed.to_string()).unwrap();
    let output = command(dir.path(), "aaaa").output().unwrap();
    let text = text(&output);
    assert!(!output.status.success(), "{text}");
    for part in ["other data", "0123456789abcdef", "--data-dir", "--fresh"] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert!(dir.path().join(RUN).join("checkpoints/000001").is_dir());
}

#[test]
fn several_samples_are_one_evaluation_and_damaged_metrics_are_not_drawn() {
    let dir = tempfile::tempdir().unwrap();
    let lines = "checkpoint_seconds = 60\ntest_at_checks = false\nfinal_samples = [30, 7, 10]\nreported_samples = 10\n";
    file(dir.path(), lines);
    let out = run(dir.path(), "aaaa");
    assert!(
        out.contains("S = 10 importance samples (result.json has the NLL with S = 7 or 30 too)"),
        "{out}"
    );
    let folder = dir.path().join(RUN);
    let result: CellResult = from_value(content(folder.join("result.json"))).unwrap();
    let samples: Vec<u64> = result.finals.iter().map(|nll| nll.samples).collect();
    assert_eq!((samples, result.final_samples), (vec![7, 10, 30], Some(10)));
    assert_eq!(result.final_nll, Some(result.finals[1].nll));
    // Each image's estimate is kept; their mean is the number.
    let all = log_likelihoods::read(&folder, &result).unwrap().unwrap();
    let own = all.with(10).unwrap();
    let mean = own.iter().map(|l| -l).sum::<f64>() / own.len() as f64;
    assert_eq!((own.len(), Some(mean)), (1000, result.final_nll));
    // `evaluate` gives the same numbers.
    let mut evaluate = Command::new(env!("CARGO_BIN_EXE_helmholtz"));
    let args = ["evaluate", RUN, "--samples", "10,30", "--json"];
    let output = evaluate
        .args(args)
        .current_dir(dir.path())
        .output()
        .unwrap();
    let found = String::from_utf8_lossy(&output.stdout).into_owned();
    let table: Value = serde_json::from_str(found.lines().last().unwrap()).unwrap();
    let numbers = [
        &table["table"]["rows"][0]["mean"],
        &table["table"]["rows"][1]["mean"],
    ];
    assert_eq!(
        numbers,
        [&json!(result.finals[1].nll), &json!(result.finals[2].nll)]
    );
    // Checks evaluate no test images.
    let metrics = folder.join("metrics.jsonl");
    let rows = fs::read_to_string(&metrics).unwrap();
    assert!(
        rows.contains("\"valid\"") && !rows.contains("\"test\""),
        "{rows}"
    );
    // A digit of a check changed: the table and the report say so.
    let damaged = rows.replacen("\"epoch\":2", "\"epoch\":1", 1);
    fs::write(&metrics, damaged).unwrap();
    let again = run(dir.path(), "aaaa");
    assert!(again.contains("DAMAGED METRICS"), "{again}");
    let mut report = Command::new(env!("CARGO_BIN_EXE_helmholtz"));
    let args = ["report", "--out", "runs", "--to", "report"];
    let output = report.args(args).current_dir(dir.path()).output().unwrap();
    let said = text(&output);
    assert!(said.contains("metrics.jsonl is damaged (of "), "{said}");
    let page = fs::read_to_string(dir.path().join("report/report.md")).unwrap();
    assert!(page.contains("DAMAGED METRICS"), "{page}");
    // And the file of each image's estimate is held to its hash.
    let file = folder.join("log-likelihoods.bin");
    let mut bytes = fs::read(&file).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&file, bytes).unwrap();
    let error = log_likelihoods::read(&folder, &result)
        .unwrap_err()
        .to_string();
    assert!(error.contains("log-likelihoods.bin is damaged"), "{error}");
}
