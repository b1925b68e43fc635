//! What takes a second process to show: a lock held elsewhere, `kill -9`, a full disk.
//!
//! The child is this very test binary, started again for one test, with [`ROLE`] set.
#![cfg(unix)]

use std::env;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread;
use std::time::Duration;

use helmholtz_runs::{OpenMode, RunError, RunFolder, Status, read_metrics};
use serde_json::{Value, json};

const ROLE: &str = "HELMHOLTZ_RUNS_TEST_ROLE";
const FOLDER: &str = "HELMHOLTZ_RUNS_TEST_FOLDER";

fn config() -> Value {
    json!({"net": "linear", "seed": 1})
}

fn open(path: &Path) -> Result<RunFolder, RunError> {
    RunFolder::open(path, &config(), OpenMode::Resume)
}

/// The entry of a child; in an ordinary test run it does nothing.
#[test]
fn child() {
    let Some(folder) = env::var_os(FOLDER) else {
        return;
    };
    let folder = Path::new(&folder);
    match env::var(ROLE).as_deref() {
        Ok("hold") => hold(folder),
        Ok("train") => train(folder),
        Ok("limited") => under_a_file_size_limit(folder),
        Ok("fill") => on_a_small_disk(folder),
        role => panic!("{role:?}"),
    }
}

/// This binary as the child `role`, behind the shell commands `before` where they are given.
fn command(before: &str, role: &str, folder: &Path) -> Command {
    let mut command = Command::new("sh");
    command
        .args(["-c", &format!("{before} exec \"$0\" \"$@\"")])
        .arg(env::current_exe().unwrap())
        .args(["--exact", "child", "--nocapture", "--test-threads=1"])
        .env(ROLE, role)
        .env(FOLDER, folder);
    command
}

fn spawn(role: &str, folder: &Path) -> (Child, BufReader<ChildStdout>) {
    let mut command = command("", role, folder);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let output = BufReader::new(child.stdout.take().unwrap());
    (child, output)
}

/// Reads the child's lines until `count` of them start with `word`.
fn await_lines(output: &mut BufReader<ChildStdout>, word: &str, count: usize) {
    let mut seen = 0;
    let mut line = String::new();
    while seen < count {
        line.clear();
        assert!(
            output.read_line(&mut line).unwrap() > 0,
            "the child ended early"
        );
        // The test harness writes its own text before the first line, without a line break.
        seen += usize::from(line.contains(word));
    }
}

fn kill(mut child: Child) {
    child.kill().unwrap(); // SIGKILL
    child.wait().unwrap();
}

fn hold(folder: &Path) {
    let _run = open(folder).unwrap();
    println!("held");
    // Until killed, or until the parent is no more.
    std::io::stdin().read_line(&mut String::new()).unwrap();
}

#[test]
fn a_folder_held_by_another_process_is_refused_by_its_pid_until_that_dies() {
    let home = tempfile::tempdir().unwrap();
    let (holder, mut output) = spawn("hold", home.path());
    await_lines(&mut output, "held", 1);
    for mode in [OpenMode::Resume, OpenMode::Fresh] {
        let error = RunFolder::open(home.path(), &config(), mode).unwrap_err();
        assert!(
            error
                .to_string()
                .contains(&format!("process {} since", holder.id())),
            "{error}"
        );
        assert!(matches!(error, RunError::Locked { pid: Some(pid), .. } if pid == holder.id()));
    }
    assert_eq!(
        RunFolder::peek(home.path()).unwrap(),
        Status::Running {
            pid: Some(holder.id())
        }
    );
    kill(holder);
    assert_eq!(
        RunFolder::peek(home.path()).unwrap(),
        Status::Started { state: None }
    );
    open(home.path()).unwrap();
}

/// What the checkpoint after `step` holds.
fn parts(step: u64) -> [(&'static str, Vec<u8>); 3] {
    let bytes = |length: u64| (0..length).map(|i| (i * 31 + step * 7) as u8).collect();
    [
        ("theta", bytes(200_000)),
        ("adam", bytes(400_000 + step)),
        ("chain", bytes(17)),
    ]
}

/// Three metrics a checkpoint, for ever.
fn train(folder: &Path) {
    let mut run = open(folder).unwrap();
    let mut step = run
        .latest_checkpoint()
        .unwrap()
        .map_or(0, |last| last.state["step"].as_u64().unwrap());
    println!("open");
    loop {
        for _ in 0..3 {
            step += 1;
            run.append_metrics(&json!({"step": step, "nll": 1.0 / step as f64}))
                .unwrap();
        }
        let parts = parts(step);
        let parts: Vec<(&str, &[u8])> = parts
            .iter()
            .map(|(name, bytes)| (*name, &bytes[..]))
            .collect();
        run.save_checkpoint(&json!({"step": step}), &parts).unwrap();
        println!("saved");
    }
}

#[test]
fn killed_at_any_moment_the_folder_opens_in_a_consistent_state() {
    let home = tempfile::tempdir().unwrap();
    let mut before = 0;
    for (saves, delay) in (0..12_u64).map(|i| (i as usize % 3, Duration::from_micros(i * i * 150)))
    {
        let (child, mut output) = spawn("train", home.path());
        await_lines(&mut output, "open", 1);
        await_lines(&mut output, "saved", saves);
        // Wherever in a save this falls, what follows must hold.
        thread::sleep(delay);
        kill(child);

        let status = RunFolder::peek(home.path()).unwrap();
        let run = open(home.path()).unwrap();
        assert!(
            run.warnings().is_empty(),
            "a kill damages nothing: {:?}",
            run.warnings()
        );
        let checkpoint = run.latest_checkpoint().unwrap();
        assert_eq!(
            status,
            Status::Started {
                state: checkpoint.as_ref().map(|last| last.state.clone())
            }
        );
        let step = checkpoint
            .as_ref()
            .map_or(0, |last| last.state["step"].as_u64().unwrap());
        assert!(
            step >= before + 3 * saves as u64,
            "{step} after {before} and {saves} saves"
        );
        if let Some(last) = checkpoint {
            let expected = parts(step)
                .map(|(name, bytes)| (name.to_string(), bytes))
                .into();
            assert!(last.parts == expected, "other bytes at step {step}");
        }
        let rows: Vec<Value> = (1..=step)
            .map(|step| json!({"step": step, "nll": 1.0 / step as f64}))
            .collect();
        assert_eq!(read_metrics(home.path()).unwrap(), rows);
        before = step;
    }
    assert!(before >= 36);
}

/// No file may grow beyond 64 kB, as on a disk that is full from there on.
fn under_a_file_size_limit(folder: &Path) {
    let mut run = open(folder).unwrap();
    run.append_metrics(&json!("first")).unwrap();
    run.save_checkpoint(&json!(1), &[("theta", &[1; 1000])])
        .unwrap();
    let metrics = fs::read(folder.join("metrics.jsonl")).unwrap();

    // A part that is cut off in the middle, a first part that fits before it, and a state too large for the manifest.
    let large = vec![2; 200_000];
    let too_large = json!("x".repeat(200_000));
    let mut refused = |state: Value, parts: &[(&str, &[u8])]| {
        full(&run.save_checkpoint(&state, parts).unwrap_err(), folder);
        let last = run.latest_checkpoint().unwrap().unwrap();
        assert_eq!(
            (last.state, &last.parts["theta"][..]),
            (json!(1), &[1; 1000][..])
        );
    };
    refused(json!(2), &[("theta", &large)]);
    refused(json!(2), &[("phi", b"fits"), ("theta", &large)]);
    refused(too_large.clone(), &[]);
    full(&run.append_metrics(&too_large).unwrap_err(), folder);
    assert_eq!(
        fs::read(folder.join("metrics.jsonl")).unwrap(),
        metrics,
        "a torn line stayed"
    );
    full(&run.finish(&too_large).unwrap_err(), folder);
    assert_eq!(run.result().unwrap(), None);
    let names = |path: &Path| fs::read_dir(path).unwrap().count();
    assert_eq!(
        (names(folder), names(&folder.join("checkpoints"))),
        (5, 1), // configuration, metrics, checkpoints, and the two files of the lock
        "scratch stayed"
    );

    // With room again, all goes on.
    run.append_metrics(&json!("second")).unwrap();
    run.save_checkpoint(&json!(2), &[("theta", &[2; 1000])])
        .unwrap();
    println!("passed");
}

fn full(error: &RunError, folder: &Path) {
    let text = error.to_string();
    assert!(matches!(error, RunError::DiskFull { .. }), "{error:?}");
    let folder = folder.canonicalize().unwrap();
    assert!(
        text.contains(&format!("run folder {}", folder.display())),
        "{text}"
    );
    assert!(text.contains("free some space"), "{text}");
}

#[test]
fn a_write_cut_off_by_a_limit_keeps_the_checkpoint_before() {
    let home = tempfile::tempdir().unwrap();
    // In units of 512 bytes. With the signal ignored, the write is cut short and the next one gives EFBIG.
    let output = command("trap '' XFSZ; ulimit -f 128;", "limited", home.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("passed"));
    let run = open(home.path()).unwrap();
    assert_eq!(run.latest_checkpoint().unwrap().unwrap().state, json!(2));
    assert_eq!(
        read_metrics(home.path()).unwrap(),
        [json!("first"), json!("second")]
    );
}

/// `folder` is a disk of 256 kB of our own: less and less of it is left free.
fn on_a_small_disk(folder: &Path) {
    let run_folder = folder.join("run");
    let mut run = open(&run_folder).unwrap();
    let (mut saved, mut refused) = (0, 0);
    for step in 1..=40_u64 {
        // Whole where it fits, as much as fits where not.
        let ballast = folder.join("ballast");
        let _ = fs::write(&ballast, vec![0; 4096 * (step as usize % 40)]);
        let part = vec![step as u8; 50_000];
        let result = run.append_metrics(&json!(step)).and_then(|()| {
            run.save_checkpoint(&json!(step), &[("theta", &part), ("phi", &part[..9000])])
        });
        match result {
            Ok(()) => saved = step,
            Err(error) => {
                full(&error, &run_folder);
                refused += 1;
            }
        }
        let last = run.latest_checkpoint().unwrap().unwrap();
        assert_eq!(
            (last.state, &last.parts["theta"]),
            (json!(saved), &vec![saved as u8; 50_000])
        );
        // A new process finds the same, with room and without.
        drop(run);
        match open(&run_folder) {
            Ok(run) => assert_eq!(
                run.latest_checkpoint().unwrap().unwrap().state,
                json!(saved)
            ),
            Err(error) => full(&error, &run_folder),
        }
        fs::remove_file(&ballast).unwrap();
        run = open(&run_folder).unwrap();
        assert!(run.warnings().is_empty(), "{:?}", run.warnings());
        assert_eq!(
            run.latest_checkpoint().unwrap().unwrap().state,
            json!(saved)
        );
    }
    assert!(saved > 0 && refused > 5, "{saved} {refused}");
    println!("passed with {refused} refused");
}

#[test]
fn a_full_disk_keeps_the_checkpoint_before() {
    let home = tempfile::tempdir().unwrap();
    // A mount of the child's own, gone with it; needs no root where user namespaces are allowed.
    let mount = "mount -t tmpfs -o size=256k tmpfs \"$HELMHOLTZ_RUNS_TEST_FOLDER\"";
    let may = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "sh", "-c", mount])
        .env(FOLDER, home.path())
        .output();
    if !may.as_ref().is_ok_and(|output| output.status.success()) {
        println!(
            "skipped: no mount of one's own is allowed here ({may:?}); the limit on file sizes stands in"
        );
        return;
    }
    let inner = command(&format!("{mount} && "), "fill", home.path());
    let output = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount"])
        .arg(inner.get_program())
        .args(inner.get_args())
        .env(ROLE, "fill")
        .env(FOLDER, home.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(
        String::from_utf8_lossy(&output.stdout).contains("passed"),
        "{output:?}"
    );
}
