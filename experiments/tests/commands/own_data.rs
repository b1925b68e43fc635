//! Own data and own nets: the program itself, from files to the table.

use std::fs;
use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};
use std::process::Output;

use crate::npy::npy;
use crate::support::helmholtz;

/// A file of 200 rows of nine numbers, those of bits times `scale`.
fn npz(folder: &Path, name: &str, scale: f32) -> PathBuf {
    let bit = |i: usize| ((i * i / 7 + i / 9 * (i % 9)) % 2) as f32;
    let numbers: Vec<f32> = (0..1800).map(|i| scale * bit(i)).collect();
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default();
    archive.start_file("data.npy", options).unwrap();
    archive.write_all(&npy(9, &numbers)).unwrap();
    let path = folder.join(name);
    fs::write(&path, archive.finish().unwrap().into_inner()).unwrap();
    path
}

fn reproduce(folder: &Path, args: &[&str]) -> Output {
    let common = [
        "--profile",
        "quick",
        "--epochs",
        "1",
        "--jobs",
        "1",
        "--method",
        "rloo",
    ];
    helmholtz(folder, &[&["reproduce"], args, &common].concat())
}

fn out(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}\n{error}");
    text
}

fn rejection(output: &Output) -> String {
    assert!(!output.status.success());
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The only folder in this one.
fn only(folder: &Path) -> PathBuf {
    let mut folders = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let found = folders.next().unwrap();
    assert!(folders.next().is_none());
    found
}

#[test]
fn a_table_of_own_data_has_nothing_published_and_its_runs_know_their_data() {
    let dir = tempfile::tempdir().unwrap();
    npz(dir.path(), "x.npz", 1.0);
    let asked = ["table1", "--dataset", "x.npz", "--net", "linear"];
    // To look at runs that are not there leaves nothing there.
    out(&helmholtz(dir.path(), &[&["status"], &asked[..]].concat()));
    assert!(!dir.path().join("runs").exists());
    let text = out(&reproduce(dir.path(), &asked));
    assert!(
        text.contains("own-x-") && text.contains("160 / 20 / 20"),
        "{text}"
    );
    fs::write(dir.path().join("x.csv"), "1,0").unwrap();
    let text_of_csv = rejection(&reproduce(dir.path(), &["table1", "--dataset", "x.csv"]));
    assert!(text_of_csv.contains("use one of .npy"), "{text_of_csv}");
    assert!(!text.contains("own data)"), "bits need no caution: {text}");
    let data = only(&dir.path().join("runs/table1/quick-1-epochs"));
    let table = fs::read_to_string(data.join("table.json")).unwrap();
    let table: serde_json::Value = serde_json::from_str(&table).unwrap();
    let row = &table["rows"][0];
    assert!(
        row["ours"]["mean"].is_number() || row["ours"].is_object(),
        "{row:#}"
    );
    assert!(
        row["published"].is_null() && row["difference"].is_null(),
        "{row:#}"
    );
    let name = data.file_name().unwrap().to_string_lossy().into_owned();
    let run = data.join("linear/rloo/seed-1");
    let json = |name: &str| -> serde_json::Value {
        serde_json::from_str(&fs::read_to_string(run.join(name)).unwrap()).unwrap()
    };
    let cell = &json("config.json")["content"];
    assert_eq!(
        (cell["dataset"].as_str(), cell["width"].as_u64()),
        (Some(name.as_str()), Some(9))
    );
    let fingerprint = cell["fingerprint"].as_str().unwrap();
    assert!(name.contains(&fingerprint[..8]));
    assert_eq!(json("result.json")["content"]["fingerprint"], fingerprint);

    // The run leads to its data, and other data are refused.
    let folder = run.to_string_lossy();
    let text = out(&helmholtz(
        dir.path(),
        &["evaluate", &folder, "--samples", "10"],
    ));
    assert!(text.contains("20 test images"), "{text}");
    let more = ["--split", "0.5,0.25,0.25", "--dataset", "x.npz"];
    let text = rejection(&helmholtz(
        dir.path(),
        &[&["evaluate", &folder], &more[..]].concat(),
    ));
    assert!(text.contains("data"), "{text}");
    let text = out(&helmholtz(
        dir.path(),
        &[
            "variance",
            "--run",
            &folder,
            "--replicates",
            "3",
            "--batch",
            "20",
        ],
    ));
    assert!(text.contains("RLOO") || text.contains("rloo"), "{text}");
    // Another division is another data set.
    out(&reproduce(
        dir.path(),
        &[&asked[..], &["--split-seed", "2"]].concat(),
    ));
    let folders = fs::read_dir(dir.path().join("runs/table1/quick-1-epochs")).unwrap();
    assert_eq!(folders.count(), 2);
}

/// 160 training images in batches of 50: three steps an epoch, and the 2000 steps of the profile are 667 epochs.
#[test]
fn figure_3_is_measured_on_own_data() {
    let dir = tempfile::tempdir().unwrap();
    npz(dir.path(), "x.npz", 1.0);
    let text = include_str!("../../fig3.toml")
        .replace(
            "images = 200\nreplicates = 20\n",
            "images = 20\nreplicates = 4\n",
        )
        .replace(
            "valid_images = 500",
            "valid_images = 20\nparticles = 2\nbatch = 80",
        );
    fs::write(dir.path().join("small.toml"), text).unwrap();
    let asked = [
        "small.toml",
        "--dataset",
        "x.npz",
        "--epochs",
        "2",
        "--method",
        "rloo",
    ];
    let text = out(&helmholtz(
        dir.path(),
        &[&["reproduce"], &asked[..]].concat(),
    ));
    assert!(text.contains("2 epochs on own-x-"), "{text}");
    let data = only(&dir.path().join("runs/fig3/quick-2-epochs"));
    let table = fs::read_to_string(data.join("table.md")).unwrap();
    assert!(table.contains("| RLOO | 1 | 1 | 1 |"), "{table}");
}

#[test]
fn steps_are_counted_in_epochs_of_own_data() {
    let dir = tempfile::tempdir().unwrap();
    npz(dir.path(), "x.npz", 1.0);
    let asked = ["disarm", "--dataset", "x.npz", "--net", "nonlinear"];
    let quick = ["--method", "rloo", "--jobs", "1"];
    let plan = [&["reproduce"], &asked[..], &quick, &["--dry-run"]].concat();
    let text = out(&helmholtz(dir.path(), &plan));
    assert!(text.contains("667"), "{text}");
    let text = out(&reproduce(dir.path(), &asked));
    assert!(text.contains("RLOO") && text.contains("own-x-"), "{text}");
}

#[test]
fn grey_levels_are_said_and_other_numbers_refused_by_a_net_of_bits() {
    let dir = tempfile::tempdir().unwrap();
    npz(dir.path(), "grey.npz", 0.5);
    npz(dir.path(), "counts.npz", 3.0);
    let of = |file: &str| {
        reproduce(
            dir.path(),
            &["table1", "--dataset", file, "--net", "linear"],
        )
    };
    let text = out(&of("grey.npz"));
    assert!(text.contains("NUMBERS (own data)"), "{text}");
    let text = rejection(&of("counts.npz"));
    assert!(
        text.contains("of the data has 3 in column") && text.contains("Scale or binarise"),
        "{text}"
    );
    let text = rejection(&of("nowhere.npz"));
    assert!(
        text.contains("nowhere.npz") && text.contains("no such file"),
        "{text}"
    );
    fs::write(dir.path().join("bad.npz"), "<!DOCTYPE html>").unwrap();
    let text = rejection(&of("bad.npz"));
    assert!(
        text.contains("bad.npz") && text.contains("no zip archive"),
        "{text}"
    );
}

#[test]
fn a_net_of_ones_own_trains_on_data_of_ones_own() {
    let dir = tempfile::tempdir().unwrap();
    npz(dir.path(), "x.npz", 1.0);
    let own = "name = \"3x5\"\nfamily = \"sbn\"\nlatent = [5, 5, 5]\nlearned_prior = true\n";
    let text = include_str!("../../table1.toml");
    let text = text
        .replace("name = \"linear\"\n", own)
        .replace("\"linear\"", "\"3x5\"");
    fs::write(dir.path().join("mine.toml"), text).unwrap();
    let text = out(&reproduce(
        dir.path(),
        &["mine.toml", "--dataset", "x.npz", "--net", "3x5"],
    ));
    assert!(text.contains("RLOO"), "{text}");
    let data = only(&dir.path().join("runs/table1/quick-1-epochs"));
    let config = fs::read_to_string(data.join("3x5/rloo/seed-1/config.json")).unwrap();
    let config: serde_json::Value = serde_json::from_str(&config).unwrap();
    let net = serde_json::json!({"family": "sbn", "latent": [5, 5, 5], "learned_prior": true});
    assert_eq!(config["content"]["own_net"], net);
}
