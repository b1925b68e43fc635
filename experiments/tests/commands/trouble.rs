//! What goes wrong while the program trains. The error names the thing and the remedy, the exit status is not zero,
//! nothing is lost, and the same command ends where an undisturbed run ends.

use crate::support::{metrics, text};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Epochs of runs that something happens to while they train, and of the others.
const LONG: u32 = 8;
const SHORT: u32 = 3;

/// One small cell, with a check and a checkpoint an epoch; `name`, `learning_rate` and `epochs` as given.
fn experiment(folder: &Path, name: &str, learning_rate: &str, epochs: u32) -> PathBuf {
    let text = include_str!("../../table1.toml")
        .replace("name = \"table1\"", &format!("name = \"{name}\""))
        .replace(
            "learning_rate = 3e-4",
            &format!("learning_rate = {learning_rate}"),
        )
        .replace("epochs = 10\n", &format!("epochs = {epochs}\n"))
        .replace("valid_images = 1000", "valid_images = 20")
        .replace("test_images = 1000", "test_images = 20");
    let path = folder.join(format!("{name}-{learning_rate}.toml"));
    fs::write(&path, text).unwrap();
    path
}

/// `sh -c "<before> exec helmholtz reproduce <toml> ..."` with a few epochs of Linear, JSA, on the generated images.
fn command(before: &str, folder: &Path, toml: &Path) -> Command {
    let program = env!("CARGO_BIN_EXE_helmholtz");
    let request = "--profile quick --net linear --method jsa --dataset glyphs --out runs";
    let mut command = Command::new("sh");
    command
        .args([
            "-c",
            &format!("{before} exec \"$0\" reproduce \"$1\" {request}"),
        ])
        .args([program.as_ref(), toml.as_os_str()])
        .current_dir(folder);
    command
}

fn run(before: &str, folder: &Path, toml: &Path) -> Output {
    command(before, folder, toml).output().unwrap()
}

fn rejected(output: &Output, parts: &[&str]) {
    let text = text(output);
    assert!(!output.status.success(), "{text}");
    for part in parts {
        assert!(text.contains(part), "no `{part}` in: {text}");
    }
}

fn cell(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("runs/{name}/quick/glyphs/linear/jsa/seed-1"))
}

/// The metrics of a run that nothing disturbed.
fn undisturbed(folder: &Path, epochs: u32) -> Vec<serde_json::Value> {
    let toml = experiment(folder, "undisturbed", "3e-4", epochs);
    let output = run("", folder, &toml);
    assert!(output.status.success(), "{}", text(&output));
    metrics(&cell(folder, "undisturbed"))
}

#[cfg(unix)]
#[test]
fn a_full_disk_is_named_and_the_same_command_ends_as_if_there_had_been_room() {
    let dir = tempfile::tempdir().unwrap();
    let toml = experiment(dir.path(), "full", "3e-4", SHORT);
    // No file may grow beyond 1 MB, in units of 512 bytes: a checkpoint takes four.
    let output = run("trap '' XFSZ; ulimit -f 2048;", dir.path(), &toml);
    rejected(&output, &["free some space", "seed-1"]);

    let output = run("", dir.path(), &toml);
    assert!(output.status.success(), "{}", text(&output));
    assert_eq!(
        metrics(&cell(dir.path(), "full")),
        undisturbed(dir.path(), SHORT)
    );
}

#[test]
fn a_loss_that_is_not_a_number_stops_the_run_with_seed_epoch_and_step() {
    let dir = tempfile::tempdir().unwrap();
    let toml = experiment(dir.path(), "diverges", "1e38", SHORT);
    let output = run("", dir.path(), &toml);
    rejected(&output, &["not a number", "seed 1", "epoch", "step"]);
    let note = fs::read_to_string(cell(dir.path(), "diverges").join("failure.json")).unwrap();
    assert!(
        note.contains("not a number") && note.contains("batch"),
        "{note}"
    );
}

#[test]
fn a_folder_of_other_settings_is_refused_and_kept() {
    let dir = tempfile::tempdir().unwrap();
    let output = run(
        "",
        dir.path(),
        &experiment(dir.path(), "other", "3e-4", SHORT),
    );
    assert!(output.status.success(), "{}", text(&output));
    let before = metrics(&cell(dir.path(), "other"));
    let output = run(
        "",
        dir.path(),
        &experiment(dir.path(), "other", "1e-4", SHORT),
    );
    rejected(&output, &["learning_rate", "--fresh", "seed-1"]);
    assert_eq!(metrics(&cell(dir.path(), "other")), before);
}

/// The checkpoints there are, oldest first.
fn checkpoints(cell: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(cell.join("checkpoints")).into_iter().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    // Names in digits: what is being written, and what was set aside, begins with a dot.
    paths.retain(|path| !path.file_name().unwrap().to_string_lossy().starts_with('.'));
    paths.sort();
    paths
}

/// Cuts every file of a checkpoint to half its length.
fn cut(checkpoint: &Path) {
    for file in fs::read_dir(checkpoint).unwrap() {
        let file = file.unwrap().path();
        let bytes = fs::read(&file).unwrap();
        fs::write(&file, &bytes[..bytes.len() / 2]).unwrap();
    }
}

#[test]
fn a_folder_in_use_is_refused_and_after_a_kill_a_checkpoint_cut_short_is_passed_over() {
    let dir = tempfile::tempdir().unwrap();
    let toml = experiment(dir.path(), "held", "3e-4", LONG);
    let held = cell(dir.path(), "held");
    let mut first = command("", dir.path(), &toml);
    let mut first = first
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let begin = Instant::now();
    while checkpoints(&held).len() < 2 {
        assert!(begin.elapsed() < Duration::from_secs(300), "no checkpoint");
        std::thread::sleep(Duration::from_millis(2));
    }
    let second = run("", dir.path(), &toml);
    rejected(&second, &["is in use", &first.id().to_string()]);
    first.kill().unwrap();
    first.wait().unwrap();

    let whole = checkpoints(&held);
    cut(whole.last().unwrap());
    let output = run("", dir.path(), &toml);
    assert!(output.status.success(), "{}", text(&output));
    assert!(
        text(&output).contains("going on from checkpoint"),
        "{}",
        text(&output)
    );
    assert_eq!(metrics(&held), undisturbed(dir.path(), LONG));
}

#[cfg(target_os = "linux")]
#[test]
fn a_terminal_that_closes_stops_the_run_unless_it_was_started_not_to_mind() {
    for (before, ends) in [("", false), ("trap '' HUP;", true)] {
        let dir = tempfile::tempdir().unwrap();
        let toml = experiment(dir.path(), "alone", "3e-4", LONG);
        let command = command(before, dir.path(), &toml);
        // The tests themselves may have been started by `nohup`.
        let mut child = Command::new("env")
            .arg("--default-signal=HUP")
            .arg(command.get_program())
            .args(command.get_args())
            .current_dir(dir.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let begin = Instant::now();
        while checkpoints(&cell(dir.path(), "alone")).is_empty() {
            assert!(begin.elapsed() < Duration::from_secs(300), "no checkpoint");
            std::thread::sleep(Duration::from_millis(2));
        }
        let hung_up = Command::new("kill")
            .args(["-HUP", &child.id().to_string()])
            .status();
        assert!(hung_up.unwrap().success());
        let code = child.wait().unwrap().code();
        assert_eq!(code, Some(if ends { 0 } else { 130 }), "{before}");
        let result = cell(dir.path(), "alone").join("result.json");
        assert_eq!(result.exists(), ends);
    }
}

/// What is left of a limit on addresses is the memory that a plan may need. A run that meets such a limit while it is at work loses
/// nothing.
#[cfg(target_os = "linux")]
#[test]
fn a_limit_on_memory_is_known_to_the_plan_and_costs_no_finished_work() {
    let dir = tempfile::tempdir().unwrap();
    let large = experiment(dir.path(), "large", "3e-4", SHORT);
    let text_of = fs::read_to_string(&large).unwrap();
    // A step of 50 images with so many particles needs 5.5 GiB.
    let text_of = text_of.replace("particles = 2\n", "particles = 30000\n");
    assert!(text_of.contains("particles = 30000"));
    fs::write(&large, text_of).unwrap();
    let limited = run("ulimit -v 4000000;", dir.path(), &large);
    rejected(&limited, &["not enough memory", "particles"]);
    assert!(!dir.path().join("runs").exists());

    let toml = experiment(dir.path(), "limited", "3e-4", SHORT);
    let (mut ended, mut stopped) = (0, 0);
    for mebibytes in [1, 40, 80, 120, 160, 200, 300, 500, 1200, 4000] {
        let limit = format!("ulimit -v {};", 1024 * mebibytes);
        match run(&limit, dir.path(), &toml).status.success() {
            true => ended += 1,
            false => stopped += 1,
        }
    }
    println!("{ended} ended, {stopped} stopped by the limit");
    assert!(stopped > 0);
    let output = run("", dir.path(), &toml);
    assert!(output.status.success(), "{}", text(&output));
    let limited = metrics(&cell(dir.path(), "limited"));
    assert_eq!(limited, undisturbed(dir.path(), SHORT));
}

/// While steps are measured a request to stop ends the program at once.
#[cfg(target_os = "linux")]
#[test]
fn a_stop_while_a_plan_is_made_ends_the_program_with_nothing_begun() {
    for signal in ["-INT", "-TERM", "-HUP"] {
        let dir = tempfile::tempdir().unwrap();
        // As many cells as make a plan of seconds.
        let toml = experiment(dir.path(), "planned", "3e-4", LONG);
        let mut child = Command::new("env")
            .arg("--default-signal=HUP,INT,TERM")
            .arg(env!("CARGO_BIN_EXE_helmholtz"))
            .arg("reproduce")
            .arg(&toml)
            .args(["--dataset", "glyphs", "--out", "runs", "--method"])
            .arg("jsa,rws,rloo,reinforce,nvil,concrete,rebar,arm")
            .current_dir(dir.path())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // The thread that waits for signals is there.
        let tasks = format!("/proc/{}/task", child.id());
        let listens = || {
            let tasks = fs::read_dir(&tasks).into_iter().flatten();
            let mut names =
                tasks.filter_map(|task| fs::read_to_string(task.ok()?.path().join("comm")).ok());
            names.any(|name| name.starts_with("ctrl-c"))
        };
        let begin = Instant::now();
        while !listens() {
            assert!(begin.elapsed() < Duration::from_secs(60), "no handler");
            std::thread::sleep(Duration::from_millis(5));
        }
        std::thread::sleep(Duration::from_millis(300));
        let begin = Instant::now();
        let sent = Command::new("kill")
            .args([signal, &child.id().to_string()])
            .status();
        assert!(sent.unwrap().success());
        let code = child.wait().unwrap().code();
        assert_eq!(code, Some(130), "{signal}");
        assert!(begin.elapsed() < Duration::from_secs(30));
        assert!(!dir.path().join("runs").exists(), "{signal}");
    }
}
