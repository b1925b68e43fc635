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
    // The name of SVG's elements is no address that is asked for.
    let page = page.replace("http://www.w3.org/2000/svg", "");
    for word in [
        "http:", "https:", "url(", "@import", "<script ", "<link", "<iframe", "fetch(",
    ] {
        assert!(!page.contains(word), "{word}");
    }
    assert_eq!(page.matches("<script").count(), 1);
}

/// The run folders in the last field of a line, none where no run has ended.
fn folders(line: &str) -> Vec<&str> {
    let quoted = line
        .strip_suffix('"')
        .and_then(|line| line.rsplit_once(",\""));
    let field = quoted.or(line.rsplit_once(',')).unwrap().1;
    field.split(", ").filter(|folder| *folder != "-").collect()
}

/// Every likelihood of a recorded result and its error, as it is written.
fn all_numbers(results: &Path) -> BTreeSet<String> {
    let numbers = |of: &Value| {
        let keys = [
            "final_nll",
            "test_nll",
            "valid_nll",
            "bound",
            "released_nll",
            "final_se",
            "test_se",
            "valid_se",
        ];
        let own = keys.map(|key| of[key].as_f64());
        // A training bound is shown with its sign turned, and so are test bounds of each number of samples.
        let training = of["training_elbo"].as_f64().map(|elbo| -elbo);
        let finals = of["finals"].as_array().into_iter().flatten();
        let finals = finals.map(|of_samples| of_samples["nll"].as_f64());
        let all = own.into_iter().chain([training]).chain(finals).flatten();
        all.map(|number| number.to_string()).collect::<Vec<_>>()
    };
    let all = all_results(results);
    all.iter().flat_map(numbers).collect()
}

fn words(text: &str) -> BTreeSet<&str> {
    text.split(|letter: char| !letter.is_alphanumeric())
        .collect()
}

#[test]
fn every_recorded_number_is_one_of_a_result_and_the_page_needs_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let results = results();
    let args = ["--results", results.to_str().unwrap()];
    let [page, markdown, latex, _] = written(dir.path(), &args);
    assert_nothing_outside(&page);

    let known = all_numbers(&results);
    let mut checked = 0;
    for file in fs::read_dir(dir.path().join("report/tables")).unwrap() {
        let path = file.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        let heads: Vec<&str> = text.lines().next().unwrap().split(',').collect();
        let name = path.to_string_lossy();
        if let Some(stem) = name.strip_suffix("-results.csv") {
            assert_eq!(heads.last(), Some(&"Run folder"), "{name}");
            let runs = fs::read_to_string(format!("{stem}-runs.csv")).unwrap();
            for line in text.lines().skip(1) {
                for folder in folders(line) {
                    assert!(runs.contains(&format!("\n{folder},")), "{folder} in {name}");
                }
            }
        }
        // The scoreboard's are means over seeds, and differences of them: its own tests hold them.
        if name.contains("/scoreboard") {
            continue;
        }
        let own = |head: &str| head.starts_with("\"Ours") || head.contains("NLL");
        for line in text.lines().skip(1) {
            // A mean over several seeds is no run's own number: the table's own tests hold it.
            if name.ends_with("-results.csv") && folders(line).len() > 1 {
                continue;
            }
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
    let told = [&page, &markdown, &latex].map(|text| words(text));
    for result in all_results(&results) {
        let from = &result["provenance"];
        for key in ["commit", "config_hash"] {
            let whole = from[key].as_str().unwrap();
            let digits = whole.get(..12).unwrap_or(whole);
            assert!(told.iter().all(|words| words.contains(digits)), "{digits}");
        }
    }
    // Published numbers, and where there are none.
    assert!(page.contains("<td class=\"published\" data-value=\"105.5\">105.5 ± 0.1</td>"));
    assert!(latex.contains("\\textit{105.5 $\\pm$ 0.1}"));
    assert!(latex.is_ascii());
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
        // Curves have their points, which are no results.
        let mut parts = text.split(" data-points=\"");
        let first = parts.next().unwrap_or_default();
        let shown = parts.filter_map(|part| Some(part.split_once('"')?.1));
        let shown: String = [first].into_iter().chain(shown).collect();
        assert!(!shown.contains("110.7"), "{shown}");
    }
}

#[test]
fn a_run_of_another_kind_without_result_is_listed_as_such() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("runs/apg-bmnist/paper/seed-1");
    forge(&run, |config| *config = json!({"title": "Digits"}), false);
    let [_, markdown, ..] = written(dir.path(), &["--out", "runs"]);
    let row = "| runs/apg-bmnist/paper/seed-1 | 1 | 0 | no result |";
    assert!(markdown.contains(row), "{markdown}");
    assert!(markdown.contains("CUT SHORT: no result."), "{markdown}");
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
    let rejection = |args: &[&str]| {
        let output = report(dir.path(), args);
        assert!(!output.status.success() && output.stdout.is_empty());
        assert!(!dir.path().join("report").exists());
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(rejection(&[]).contains("no folder experiments/results"));
    assert!(rejection(&["--out", "nowhere"]).contains("no folder nowhere"));
    fs::create_dir(dir.path().join("empty")).unwrap();
    let text = rejection(&["--out", "empty"]);
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

/// The names of the files in a folder, sorted.
fn names(folder: &Path) -> Vec<String> {
    let files = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = files
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn two_folders_of_the_same_layout_have_files_of_their_own() {
    let dir = tempfile::tempdir().unwrap();
    let run = "table1/paper/binarized-mnist/linear/jsa/seed-1";
    let checks = |root: &str| dir.path().join(root).join(run).join("metrics.jsonl");
    // What the two folders are called in a file's name is the same.
    for root in ["one two", "one-two"] {
        forge(&dir.path().join(root).join(run), |_| {}, true);
    }
    // The second run has half as many checks.
    let text = fs::read_to_string(checks("one-two")).unwrap();
    let half: Vec<&str> = text.lines().take(text.lines().count() / 2).collect();
    fs::write(checks("one-two"), half.join("\n") + "\n").unwrap();

    let args = [
        "--out",
        "one two",
        "--out",
        "one-two",
        "--out",
        "./one-two/",
    ];
    let [page, markdown, ..] = written(dir.path(), &args);
    let ids = [
        "one-two-table1-paper-binarized-mnist",
        "one-two-table1-paper-binarized-mnist-2",
    ];
    let report = dir.path().join("report");
    let figures = names(&report.join("figures"));
    let expected: Vec<String> = ids
        .iter()
        .flat_map(|id| [format!("{id}-nll-1.csv"), format!("{id}-nll-1.svg")])
        .collect();
    let sorted = |mut names: Vec<String>| {
        names.sort();
        names
    };
    assert_eq!(figures, sorted(expected));
    let points = |id: &str| {
        let path = report.join("figures").join(format!("{id}-nll-1.csv"));
        fs::read_to_string(path).unwrap().lines().count()
    };
    assert!(points(ids[0]) > points(ids[1]));
    for id in ids {
        assert!(
            markdown.contains(&format!("](figures/{id}-nll-1.svg)")),
            "{markdown}"
        );
        let linked = format!("href=\"#{id}\"");
        assert_eq!(page.matches(&linked).count(), 1, "{id}");
        assert!(report.join(format!("tables/{id}-results.csv")).is_file());
    }
    // The folder that was named twice is there once.
    assert_eq!(of_runs(&report).len(), 1 + 2 * 2);
}

/// The tables of a report, but for its scoreboard's.
fn of_runs(report: &Path) -> Vec<String> {
    let mut names = names(&report.join("tables"));
    names.retain(|name| !name.starts_with("scoreboard"));
    names
}

#[test]
fn a_report_in_place_of_another_leaves_no_files_of_that_and_all_others() {
    let dir = tempfile::tempdir().unwrap();
    for root in ["a", "b"] {
        let run = dir.path().join(root).join("x/linear/jsa/seed-1");
        forge(&run, |_| {}, true);
    }
    let report = dir.path().join("report");
    fs::create_dir_all(report.join("figures")).unwrap();
    for name in ["notes.txt", "own.svg"] {
        fs::write(report.join("figures").join(name), "mine").unwrap();
    }
    written(dir.path(), &["--out", "a", "--out", "b"]);
    let both = names(&report.join("figures"));
    // Where there is no report yet, nothing is removed.
    assert!(
        both.contains(&"own.svg".into()) && both.len() == 2 + 2 * 2,
        "{both:?}"
    );

    written(dir.path(), &["--out", "b"]);
    let figures = names(&report.join("figures"));
    assert_eq!(figures, ["b-x-nll-1.csv", "b-x-nll-1.svg", "notes.txt"]);
    let tables = of_runs(&report);
    assert_eq!(tables, ["b-x-results.csv", "b-x-runs.csv", "overview.csv"]);
}

#[test]
fn a_run_without_its_configuration_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let at = |seed: u64| dir.path().join(format!("runs/x/linear/jsa/seed-{seed}"));
    for seed in [1, 2, 3] {
        forge(&at(seed), |config| config["seed"] = seed.into(), seed != 3);
    }
    fs::create_dir(at(3).join("checkpoints")).unwrap();
    for seed in [2, 3] {
        fs::remove_file(at(seed).join("config.json")).unwrap();
    }
    let output = report(dir.path(), &["--out", "runs"]);
    let err = String::from_utf8(output.stderr).unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{err}");
    assert!(out.contains("1 run, 1 finished."), "{out}");
    for seed in [2, 3] {
        let line =
            format!("warning: runs/x/linear/jsa/seed-{seed}: a run whose config.json is gone");
        assert!(err.contains(&line), "{err}");
    }
}
