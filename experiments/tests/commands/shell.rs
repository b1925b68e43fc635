//! What a shell and a reader of manuals get of the program, and the page that follows a run.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn helmholtz(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_helmholtz"));
    command.args(args).current_dir(folder);
    command.env("HELMHOLTZ_COMMIT", "0123456789abcdef");
    command.env("XDG_CACHE_HOME", folder.join("cache"));
    command.output().unwrap()
}

fn printed(folder: &Path, args: &[&str]) -> String {
    let output = helmholtz(folder, args);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{args:?}: {error}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_version_names_commit_and_features() {
    let text = printed(Path::new("."), &["--version"]);
    let own = env!("CARGO_PKG_VERSION");
    assert!(
        text.starts_with(&format!(
            "helmholtz {own} (commit 0123456789abcdef, features cpu"
        )),
        "{text}"
    );
}

#[test]
fn every_shell_has_completions_of_commands_and_flags() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = printed(Path::new("."), &["completions", shell]);
        for word in ["reproduce", "scoreboard", "particles", "watch"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
    let rejected = helmholtz(Path::new("."), &["completions", "cmd"]);
    assert!(String::from_utf8_lossy(&rejected.stderr).contains("possible values: bash"));
}

#[test]
fn bash_takes_the_completions() {
    let dir = tempfile::tempdir().unwrap();
    let script = printed(dir.path(), &["completions", "bash"]);
    fs::write(dir.path().join("helmholtz.bash"), script).unwrap();
    let asked = "source ./helmholtz.bash; COMP_WORDS=(helmholtz rep); COMP_CWORD=1; \
                 _helmholtz helmholtz rep helmholtz; echo \"${COMPREPLY[@]}\"";
    let Ok(output) = Command::new("bash")
        .args(["-c", asked])
        .current_dir(dir.path())
        .output()
    else {
        eprintln!("SKIPPED: no bash");
        return;
    };
    let offered = String::from_utf8_lossy(&output.stdout);
    let mut offered: Vec<&str> = offered.split_whitespace().collect();
    offered.sort_unstable();
    assert_eq!(offered, ["report", "reproduce"]);
}

#[test]
fn each_command_has_a_manual_page() {
    let dir = tempfile::tempdir().unwrap();
    printed(dir.path(), &["man", "--to", "man1"]);
    let page = |name: &str| fs::read_to_string(dir.path().join("man1").join(name)).unwrap();
    assert!(page("helmholtz.1").contains(".TH helmholtz 1"));
    let reproduce = page("helmholtz-reproduce.1");
    assert!(reproduce.contains("SYNOPSIS") && reproduce.contains("particles"));
    // Examples and methods are there too.
    assert!(reproduce.contains("vimco"));
    for command in [
        "status",
        "evaluate",
        "variance",
        "report",
        "scoreboard",
        "completions",
        "man",
    ] {
        assert!(page(&format!("helmholtz-{command}.1")).contains("SYNOPSIS"));
    }
    assert_eq!(
        printed(dir.path(), &["man"]).trim(),
        page("helmholtz.1").trim()
    );
}

/// A run of the toy's length of one net, made by the program itself.
fn make_a_run(folder: &Path) -> String {
    let asked = [
        "reproduce",
        "table1",
        "--dataset",
        "glyphs",
        "--net",
        "linear",
        "--method",
        "rloo",
        "--epochs",
        "1",
    ];
    printed(folder, &asked);
    "runs/table1/quick-1-epochs/glyphs/linear/rloo/seed-1".into()
}

#[test]
fn a_run_has_a_page_of_its_own_and_the_watch_ends_with_the_run() {
    let dir = tempfile::tempdir().unwrap();
    let run = make_a_run(dir.path());
    let text = printed(
        dir.path(),
        &["report", "--run", &run, "--watch", "1", "--to", "page"],
    );
    assert!(text.starts_with("1 run, 1 finished."), "{text}");
    let page = fs::read_to_string(dir.path().join("page/report.html")).unwrap();
    assert!(page.contains("RLOO") && !page.contains("Scoreboard"));
    assert!(!page.contains("http-equiv=\"refresh\""), "it is finished");

    // Without its result the run goes on: the page is to be loaded again.
    let result = dir.path().join(&run).join("result.json");
    let aside = dir.path().join("result.json");
    fs::rename(&result, &aside).unwrap();
    let mut watch = Command::new(env!("CARGO_BIN_EXE_helmholtz"))
        .args(["report", "--run", &run, "--watch", "1", "--to", "watched"])
        .current_dir(dir.path())
        .spawn()
        .unwrap();
    let page = dir.path().join("watched/report.html");
    let content = || fs::read_to_string(&page).unwrap_or_default();
    wait_until("a first page", || {
        content().contains("http-equiv=\"refresh\" content=\"1\"")
    });
    fs::rename(&aside, &result).unwrap();
    wait_until("the end", || watch.try_wait().unwrap().is_some());
    assert!(watch.wait().unwrap().success());
    assert!(!content().contains("http-equiv=\"refresh\""));
}

/// Waits for two minutes at the most.
fn wait_until(what: &str, mut is: impl FnMut() -> bool) {
    for _ in 0..1200 {
        if is() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    panic!("{what} did not come");
}
