//! The program itself, asked for things that it must refuse: the text names the thing and the remedy, and the exit
//! status is not zero.

use std::path::Path;
use std::process::{Command, Output};

fn helmholtz(folder: &Path, args: &[&str]) -> Output {
    command(folder, args).output().unwrap()
}

fn command(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_helmholtz"));
    command
        .args(args)
        .current_dir(folder)
        // No data and no network, wherever the test runs: an empty cache, and a proxy that refuses.
        .env_remove("HELMHOLTZ_DATA")
        .env("XDG_CACHE_HOME", folder.join("cache"))
        .env("HOME", folder)
        .envs(
            [
                "http_proxy",
                "https_proxy",
                "HTTP_PROXY",
                "HTTPS_PROXY",
                "ALL_PROXY",
            ]
            .map(|k| (k, "http://127.0.0.1:1")),
        );
    command
}

/// Runs `reproduce <args>` in an empty folder, which must fail and leave nothing; returns standard error.
fn rejection(args: &[&str]) -> String {
    let dir = tempfile::tempdir().unwrap();
    let output = helmholtz(dir.path(), &[&["reproduce"], args].concat());
    assert!(!output.status.success(), "{args:?}");
    assert!(output.stdout.is_empty(), "{args:?}");
    assert!(!dir.path().join("runs").exists(), "{args:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn unknown_names_list_the_choices_and_the_nearest() {
    let text = rejection(&["table1", "--method", "jsaa"]);
    assert!(
        text.contains("unknown method `jsaa`. Did you mean `jsa`?")
            && text.contains("rws-wake-sleep"),
        "{text}"
    );
    let text = rejection(&["table1", "--net", "two-layer"]);
    assert!(
        text.contains("unknown net `two-layer`. Did you mean `two-layers`?"),
        "{text}"
    );
    let text = rejection(&["table1", "--profile", "papr"]);
    assert!(
        text.contains("unknown profile `papr`. Did you mean `paper`?"),
        "{text}"
    );
    let text = rejection(&["tabel1"]);
    assert!(
        text.contains("unknown experiment `tabel1`. Did you mean `table1`?"),
        "{text}"
    );
    let text = rejection(&["table1", "--dataset", "mnist"]);
    assert!(text.contains("`binarized-mnist`"), "{text}");
    let text = rejection(&["table1", "--device", "gpu"]);
    assert!(text.contains("cpu, wgpu, cuda"), "{text}");
}

#[cfg(not(feature = "wgpu"))]
#[test]
fn a_device_that_was_not_built_in_names_the_feature_that_builds_it() {
    let text = rejection(&["table1", "--device", "wgpu", "--dataset", "glyphs"]);
    assert!(
        text.contains("built without `wgpu`") && text.contains("feature `wgpu`"),
        "{text}"
    );
}

#[cfg(feature = "wgpu")]
#[test]
fn without_a_gpu_wgpu_names_the_device_that_needs_none() {
    let dir = tempfile::tempdir().unwrap();
    let output = command(
        dir.path(),
        &[
            "reproduce",
            "table1",
            "--device",
            "wgpu",
            "--dataset",
            "glyphs",
        ],
    )
    .env("VK_ICD_FILENAMES", dir.path().join("none.json"))
    .env("VK_DRIVER_FILES", dir.path().join("none.json"))
    .output()
    .unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success(), "{text}");
    assert!(text.contains("--device cpu"), "{text}");
    assert!(!text.contains("panicked"), "{text}");
}

#[cfg(feature = "cuda")]
#[test]
fn without_a_driver_cuda_names_it_and_the_other_devices() {
    if Path::new("/dev/nvidiactl").exists() {
        println!("SKIPPED: there is an NVIDIA driver");
        return;
    }
    let text = rejection(&["table1", "--device", "cuda", "--dataset", "glyphs"]);
    assert!(
        text.contains("NVIDIA driver") && text.contains("--device cpu"),
        "{text}"
    );
    assert!(!text.contains("panicked"), "{text}");
}

#[test]
fn an_experiment_file_with_an_unknown_key_names_file_line_and_keys() {
    let dir = tempfile::tempdir().unwrap();
    let text = include_str!("../../table1.toml").replace("particles = 2", "particels = 2");
    std::fs::write(dir.path().join("mine.toml"), &text).unwrap();
    let output = helmholtz(dir.path(), &["reproduce", "mine.toml"]);
    assert!(!output.status.success());
    let error = String::from_utf8(output.stderr).unwrap();
    let line = 1 + text
        .lines()
        .position(|l| l.starts_with("particels"))
        .unwrap();
    assert!(
        error.contains("mine.toml") && error.contains(&format!("line {line}")),
        "{error}"
    );
    assert!(
        error.contains("`particels`") && error.contains("`particles`"),
        "{error}"
    );
}

#[test]
fn particles_for_which_there_is_no_memory_are_refused_before_anything_is_measured() {
    let text = rejection(&["table3", "--dataset", "glyphs", "--particles", "4294967296"]);
    assert!(
        text.contains("not enough memory") && text.contains("fewer `particles`"),
        "{text}"
    );
}

#[cfg(unix)]
#[test]
fn a_folder_whose_name_is_no_text_can_be_told_in_json() {
    use std::os::unix::ffi::OsStrExt;
    let dir = tempfile::tempdir().unwrap();
    for args in [
        &[
            "table1",
            "--net",
            "linear",
            "--method",
            "jsa",
            "--dataset",
            "glyphs",
        ][..],
        &["fig3", "--method", "rloo", "--dataset", "glyphs"],
        // Counted in steps, whose epochs the data set's size gives.
        &[
            "disarm",
            "--net",
            "linear",
            "--method",
            "rloo",
            "--dataset",
            "glyphs",
        ],
        &["arm-toy"],
        &["apg-gmm"],
    ] {
        let request = [&["reproduce"], args, &["--dry-run", "--json"]].concat();
        let mut command = command(dir.path(), &request);
        let out = std::ffi::OsStr::from_bytes(b"r\xffns");
        let output = command.arg("--out").arg(out).output().unwrap();
        assert!(output.status.success(), "{args:?}");
        let line = String::from_utf8(output.stdout).unwrap();
        assert!(line.contains("r\u{fffd}ns"), "{args:?}: {line}");
    }
}

#[test]
fn paper_without_data_names_the_remedy() {
    let text = rejection(&["table1", "--profile", "paper", "--dry-run"]);
    assert!(
        text.contains("--data-dir") && text.contains("HELMHOLTZ_DATA"),
        "{text}"
    );
}

#[test]
fn a_folder_of_data_that_is_not_there_is_refused_even_where_none_is_needed() {
    let asked = ["table1", "--dataset", "glyphs", "--dry-run", "--data-dir"];
    for folder in ["no/such", "/dev/null"] {
        let text = rejection(&[&asked[..], &[folder]].concat());
        assert!(
            text.contains(&format!("`--data-dir {folder}`: there is no such folder")),
            "{text}"
        );
    }
}

#[test]
fn the_help_has_examples() {
    let dir = tempfile::tempdir().unwrap();
    let output = helmholtz(dir.path(), &["reproduce", "--help"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        output.status.success() && text.contains("cargo xtask reproduce table1 --profile paper"),
        "{text}"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn results_that_cannot_be_written_are_an_error_and_a_reader_that_has_gone_is_none() {
    let dir = tempfile::tempdir().unwrap();
    let dry = ["reproduce", "arm-toy", "--dry-run", "--json"];
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full");
    let output = command(dir.path(), &dry).stdout(full.unwrap()).output();
    let output = output.unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(
        !output.status.success() && text.contains("cannot write standard output: No space left"),
        "{text}"
    );

    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = command(dir.path(), &dry).stdout(writer).output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty());
}

#[test]
fn files_for_the_framework_in_the_present_folder_or_above_it_are_not_obeyed() {
    let dir = tempfile::tempdir().unwrap();
    let below = dir.path().join("below");
    std::fs::create_dir(&below).unwrap();
    for (file, text) in [
        ("burn.toml", "no = [toml"),
        ("Burn.toml", "[fusion]\nlogger = 7"),
        ("cubecl.toml", "no = [toml"),
    ] {
        std::fs::write(dir.path().join(file), text).unwrap();
    }
    let output = helmholtz(&below, &["reproduce", "arm-toy", "--dry-run"]);
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(
        output.status.success() && !text.contains("panicked"),
        "{text}"
    );
    let args = ["reproduce", "table1", "--dataset", "glyphs", "--dry-run"];
    let args = [&args[..], &["--net", "linear", "--method", "rloo"]].concat();
    let output = helmholtz(&below, &args);
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(
        output.status.success() && !text.contains("panicked"),
        "{text}"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_present_folder_that_was_removed_is_no_panic() {
    let dir = tempfile::tempdir().unwrap();
    let (gone, out) = (dir.path().join("gone"), dir.path().join("runs"));
    std::fs::create_dir(&gone).unwrap();
    let args = [
        "reproduce",
        "table1",
        "--dataset",
        "glyphs",
        "--dry-run",
        "--net",
        "linear",
    ];
    let inner = command(dir.path(), &args);
    let mut shell = Command::new("sh");
    let output = shell
        .args(["-c", "rmdir \"$PWD\" && exec \"$0\" \"$@\""])
        .arg(inner.get_program())
        .args(inner.get_args())
        .args(["--method", "rloo", "--out"])
        .arg(out)
        .current_dir(&gone)
        .env("HOME", dir.path())
        .output()
        .unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(!text.contains("panicked"), "{text}");
    assert!(output.status.success(), "{text}");
}

#[test]
fn numbers_beyond_any_machine_are_refused_before_anything_is_measured() {
    for (file, from, to) in [
        (
            include_str!("../../apg-gmm.toml"),
            "hidden = ",
            "hidden = 1000000000 # ",
        ),
        (
            include_str!("../../apg-gmm.toml"),
            "sweeps = ",
            "sweeps = 100000000 # ",
        ),
        (
            include_str!("../../arm-toy.toml"),
            "values = ",
            "values = 100000000 # ",
        ),
        (
            include_str!("../../apg-dmm.toml"),
            "check_instances = ",
            "check_instances = 4294967296 # ",
        ),
    ] {
        let dir = tempfile::tempdir().unwrap();
        assert!(file.contains(from), "{from}");
        std::fs::write(dir.path().join("mine.toml"), file.replacen(from, to, 1)).unwrap();
        let output = helmholtz(dir.path(), &["reproduce", "mine.toml", "--dry-run"]);
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{to}: {text}");
        assert!(
            text.contains("mine.toml") && text.contains("at most"),
            "{to}: {text}"
        );
    }
}
