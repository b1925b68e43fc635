//! The report of the program itself, over what is recorded and over runs that were tampered with.

use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn results() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("results")
}

fn report(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_helmholtz"));
    command.arg("report").args(args).current_dir(folder);
    command
        .env_remove("HELMHOLTZ_DATA")
        .env("XDG_CACHE_HOME", folder.join("cache"));
    command.output().unwrap()
}

/// A report that must come about: its page, Markdown, LaTeX, and all its CSV tables.
fn written(folder: &Path, args: &[&str]) -> [String; 4] {
    let output = report(folder, args);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let read = |name: &str| fs::read_to_string(folder.join("report").join(name)).unwrap();
    let tables = fs::read_dir(folder.join("report/tables")).unwrap();
    let tables = tables.map(|file| fs::read_to_string(file.unwrap().path()).unwrap());
    [
        read("report.html"),
        read("report.md"),
        read("report.tex"),
        tables.collect(),
    ]
}

/// The result.json of every run below a folder.
fn all_results(folder: &Path) -> Vec<Value> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(all_results(&path));
        } else if path.ends_with("result.json") {
            let text = fs::read_to_string(path).unwrap();
            found.push(serde_json::from_str::<Value>(&text).unwrap()["content"].take());
        }
    }
    found
}

fn assert_nothing_outside(page: &str) {
    for (attribute, allowed) in [("src=\"", "data:image/"), ("href=\"", "#")] {
        for value in page.split(attribute).skip(1) {
            assert!(value.starts_with(allowed), "{attribute}{value:.60}");
        }
    }
    for word in [
        "http:", "https:", "url(", "@import", "<script", "<link", "<iframe",
    ] {
        assert!(!page.contains(word), "{word}");
    }
}

#[test]
fn every_recorded_number_is_one_of_a_result_and_the_page_needs_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let results = results();
    let args = ["--results", results.to_str().unwrap()];
    let [page, markdown, latex, _] = written(dir.path(), &args);
    assert_nothing_outside(&page);

    let numbers = |of: &Value| {
        let keys = ["final_nll", "test_nll", "valid_nll", "bound"];
        keys.map(|key| of[key].as_f64().map(|number| number.to_string()))
    };
    let known: BTreeSet<String> = all_results(&results)
        .iter()
        .flat_map(numbers)
        .flatten()
        .collect();
    let mut checked = 0;
    for file in fs::read_dir(dir.path().join("report/tables")).unwrap() {
        let path = file.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        let heads: Vec<&str> = text.lines().next().unwrap().split(',').collect();
        let own = |head: &str| head.starts_with("\"Ours") || head.contains("NLL");
        for line in text.lines().skip(1) {
            // Each seed stands for itself in what is recorded, so that a mean is a run's own number.
            for number in line
                .split(',')
                .filter(|field| field.len() > 12 && field.parse::<f64>().is_ok())
            {
                if heads.iter().any(|head| own(head)) && !path.to_string_lossy().contains("arm-toy")
                {
                    // Or it is a run's own number less a published one, which has at most two decimals.
                    let value: f64 = number.parse().unwrap();
                    let difference = known.iter().any(|own| {
                        let published = (own.parse::<f64>().unwrap() - value) * 100.0;
                        published > 0.0 && (published - published.round()).abs() < 1e-9
                    });
                    assert!(
                        known.contains(number) || difference,
                        "{number} in {}",
                        path.display()
                    );
                    checked += 1;
                }
            }
        }
    }
    assert!(checked > 130, "{checked}");

    // Each is traced to its run.
    for result in all_results(&results) {
        let from = &result["provenance"];
        for key in ["commit", "config_hash"] {
            let digits = &from[key].as_str().unwrap()[..12];
            assert!(
                page.contains(digits) && markdown.contains(digits) && latex.contains(digits),
                "{digits}"
            );
        }
    }
    // Published numbers, and where there are none.
    assert!(page.contains("<td class=\"published\">105.5 ± 0.1</td>"));
    assert!(latex.contains("\\textit{105.5 $\\pm$ 0.1}"));
    assert!(page.contains("NOT CONVERGED NUMBERS: 100 of the paper&#39;s 1000 epochs."));
}

/// A run folder like a recorded one, with another configuration; with a result or without.
fn forge(folder: &Path, change: impl Fn(&mut Value), finished: bool) {
    let source = results().join("table1/paper-100-epochs/linear/jsa/seed-1");
    fs::create_dir_all(folder).unwrap();
    fs::copy(source.join("metrics.jsonl"), folder.join("metrics.jsonl")).unwrap();
    for name in ["config.json", "result.json"] {
        let text = fs::read_to_string(source.join(name)).unwrap();
        let mut sealed: Value = serde_json::from_str(&text).unwrap();
        let mut content = sealed["content"].take();
        if name == "config.json" {
            change(&mut content);
        } else if !finished {
            continue;
        }
        let hash = helmholtz_runs::config_hash(&content);
        let sealed = json!({"format": 1, "sha256": hash, "content": content});
        fs::write(folder.join(name), sealed.to_string()).unwrap();
    }
}

#[test]
fn a_run_cut_short_says_so_and_has_no_number() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir
        .path()
        .join("runs/table1/paper/binarized-mnist/linear/jsa/seed-1");
    forge(
        &run,
        |config| config["settings"]["epochs"] = 1000.into(),
        false,
    );
    for text in written(dir.path(), &["--out", "runs"]) {
        assert!(text.contains("cut short: 100 of 1000"), "{text}");
        assert!(!text.contains("110.7"), "{text}");
    }
}

#[test]
fn no_name_becomes_markup() {
    let dir = tempfile::tempdir().unwrap();
    let bad = "50%_<script>alert('&')</script>$\\input{x}$|`";
    let run = dir.path().join("runs/x/linear/jsa/seed-1");
    forge(&run, |config| config["experiment"] = bad.into(), true);
    let [page, markdown, latex, _] = written(dir.path(), &["--out", "runs"]);
    assert_nothing_outside(&page);
    assert!(page.contains("50%_&lt;script&gt;alert(&#39;&amp;&#39;)"));
    assert!(!markdown.contains("<script>"));
    assert!(latex.contains("50\\%\\_\\textless{}script\\textgreater{}"));
    assert!(latex.contains("\\$\\textbackslash{}input\\{x\\}\\$\\textbar{}"));
}

#[test]
fn what_cannot_be_reported_is_refused_with_the_remedy() {
    let dir = tempfile::tempdir().unwrap();
    let refusal = |args: &[&str]| {
        let output = report(dir.path(), args);
        assert!(!output.status.success() && output.stdout.is_empty());
        assert!(!dir.path().join("report").exists());
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(refusal(&[]).contains("no folder experiments/results"));
    assert!(refusal(&["--out", "nowhere"]).contains("no folder nowhere"));
    fs::create_dir(dir.path().join("empty")).unwrap();
    let text = refusal(&["--out", "empty"]);
    assert!(
        text.contains("no runs in empty") && text.contains("cargo xtask reproduce table1"),
        "{text}"
    );
}

#[test]
fn a_damaged_run_is_named_and_the_others_are_reported() {
    let dir = tempfile::tempdir().unwrap();
    let at = |seed: u64| {
        dir.path()
            .join(format!("runs/table1/x/linear/jsa/seed-{seed}"))
    };
    for seed in [1, 2] {
        forge(&at(seed), |config| config["seed"] = seed.into(), true);
    }
    fs::write(at(2).join("result.json"), "{}").unwrap();
    let [page, ..] = written(dir.path(), &["--out", "runs"]);
    assert!(page.contains("Folders that cannot be read") && page.contains("seed-2"));
    assert!(page.contains(">110.76</a>"), "{page}");
}
