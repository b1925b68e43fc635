//! Tables of documents that are made of recorded runs.
//!
//! A comment says what, with a line for each run; paths are from the document's folder:
//!
//! | opens with | a line of it | table |
//! |---|---|---|
//! | `<!-- runs` | `FOLDER as LABEL` | selected epoch, test NLL, its standard error over images, bound |
//! | `<!-- evaluations` | `FOLDER as LABEL` | NLL by the number of samples S, the last with its standard error, −ELBO |
//! | `<!-- courses at 5, 100` | `QUANTITY of FOLDER as LABEL` | a quantity at these epochs, a column for each line |
//! | `<!-- courses at steps 5, 100` | the same | at these steps |
//!
//! `-->` on a line of its own ends the comment, and `<!-- end -->` the table. Quantities are `valid`, `test`, `bound` and `accepted`, or what a
//! check has under another name; `A to B` has both.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::links;

/// A quantity in a line of metrics, as a course writes it; `None` in a line without it.
///
/// | name | quantity |
/// |---|---|
/// | `valid`, `test` | the NLL of validation or test images at a check |
/// | `bound` | −ELBO of validation images at a check |
/// | `accepted` | the share of proposals that the epoch's chains accepted |
/// | another | what a check has under this name |
fn quantity(name: &str, line: &Value) -> Option<String> {
    let (kind, value) = match name {
        "valid" | "test" => ("check", &line[name]["mean"]),
        "bound" => ("check", &line["valid"]["elbo"]),
        "accepted" => ("epoch", &line["acceptance"]),
        _ => ("check", &line[name]),
    };
    let value = (line["kind"] == kind).then(|| value.as_f64()).flatten()?;
    Some(match name {
        "valid" | "test" => format!("{value:.2}"),
        "bound" => format!("{:.2}", -value),
        "accepted" => format!("{value:.3}"),
        _ => digits(value),
    })
}

/// With three significant digits, from a thousand on with all; below a thousandth a power of ten with two.
fn digits(value: f64) -> String {
    let size = value.abs();
    let text = match size {
        0.0 => "0".into(),
        _ if size < 1e-3 => format!("{size:.1e}"),
        _ if size >= 1e3 => count(size.round() as u64),
        _ => format!("{size:.*}", (2.0 - size.log10().floor()).max(0.0) as usize),
    };
    let sign = if value < 0.0 { "−" } else { "" };
    format!("{sign}{text}")
}

/// What a line of a document opens, if it opens such a table.
pub fn opening(line: &str) -> Option<&str> {
    let head = line.strip_prefix("<!-- ")?;
    let known = matches!(head, "runs" | "evaluations") || head.starts_with("courses at ");
    known.then_some(head)
}

/// The table that `head` opens, of these lines; `folder` is the document's.
///
/// # Errors
///
/// A line that is none of its kind, and a record that is missing or does not hold what is asked of it.
pub fn table(head: &str, lines: &[&str], folder: &Path) -> Result<String, String> {
    if lines.is_empty() {
        return Err(format!("{head}: of which runs?"));
    }
    match head {
        "runs" => runs(lines, folder),
        "evaluations" => evaluations(lines, folder),
        _ => courses(
            head.strip_prefix("courses at ").unwrap_or(head),
            lines,
            folder,
        ),
    }
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))
}

fn json(text: &str, path: &Path) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|e| format!("{}: {e}", path.display()))
}

/// A line's folder and label.
fn labelled(line: &str) -> Result<(&str, &str), String> {
    let parts = line.split_once(" as ");
    parts.ok_or_else(|| format!("`{line}` is no `FOLDER as LABEL`"))
}

/// A row of these cells.
fn row(cells: impl IntoIterator<Item = String>) -> String {
    let mut row = String::from("|");
    for cell in cells {
        match cell.is_empty() {
            true => row.push_str(" |"),
            false => row.push_str(&format!(" {cell} |")),
        }
    }
    row + "\n"
}

/// A heading and the line below it.
fn heading(cells: &[&str]) -> String {
    row(cells.iter().map(|cell| cell.to_string())) + "|" + &"---|".repeat(cells.len()) + "\n"
}

/// What a run reports. One whose checks have fewer samples or images reports its selected epoch once more, at the last.
fn number(result: &Value, last: &str, check: &str) -> Option<f64> {
    result[last].as_f64().or(result[check].as_f64())
}

fn runs(lines: &[&str], folder: &Path) -> Result<String, String> {
    let columns = [
        "run",
        "selected epoch",
        "test NLL",
        "error over images",
        "bound",
    ];
    let mut table = heading(&columns);
    for line in lines {
        let (run, label) = labelled(line)?;
        let path = folder.join(run).join("result.json");
        let result = json(&read(&path)?, &path)?["content"].take();
        let number = |last: &str, check: &str| number(&result, last, check);
        let epoch = |key: &str| result[key].as_u64();
        let (Some(nll), Some(error), Some(selected), Some(planned)) = (
            number("final_nll", "test_nll"),
            number("final_se", "test_se"),
            epoch("selected_epoch"),
            epoch("epochs_planned"),
        ) else {
            return Err(format!("{}: no test NLL", path.display()));
        };
        let bound = result["bound"].as_f64();
        table += &row([
            format!("[{label}]({run}/result.json)"),
            format!("{selected} of {planned}"),
            format!("{nll:.2}"),
            format!("{error:.2}"),
            bound.map_or(String::new(), |bound| format!("{bound:.2}")),
        ]);
    }
    Ok(table)
}

/// S, the NLL, its standard error and −ELBO of each row of an evaluation.
fn samples(text: &str) -> Vec<(u64, [f64; 3])> {
    let row = |line: &str| {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [samples, numbers @ ..] = &cells[..] else {
            return None;
        };
        let numbers: Vec<f64> = numbers.iter().map_while(|cell| cell.parse().ok()).collect();
        Some((samples.parse().ok()?, numbers.try_into().ok()?))
    };
    text.lines().filter_map(row).collect()
}

/// With a comma at thousands.
fn count(n: u64) -> String {
    match n {
        0..1000 => n.to_string(),
        _ => format!("{},{:03}", count(n / 1000), n % 1000),
    }
}

fn evaluations(lines: &[&str], folder: &Path) -> Result<String, String> {
    let mut table = String::new();
    let mut columns: Vec<u64> = Vec::new();
    for line in lines {
        let (run, label) = labelled(line)?;
        let path = folder.join(run).join("evaluation.md");
        let rows = samples(&read(&path)?);
        let of: Vec<u64> = rows.iter().map(|(samples, _)| *samples).collect();
        if columns.is_empty() {
            let names = of.iter().map(|&samples| format!("S = {}", count(samples)));
            let names: Vec<String> = names.collect();
            let names = names.iter().map(String::as_str);
            let all: Vec<&str> = ["run"].into_iter().chain(names).chain(["−ELBO"]).collect();
            (table, columns) = (heading(&all), of.clone());
        }
        let [before @ .., (_, [last, error, bound])] = &rows[..] else {
            return Err(format!("{}: no numbers of samples", path.display()));
        };
        if of != columns {
            return Err(format!("{}: other numbers of samples", path.display()));
        }
        let before = before.iter().map(|(_, [nll, ..])| format!("{nll:.2}"));
        let first = [format!("[{label}]({run}/evaluation.md)")].into_iter();
        let last = [format!("{last:.2} ± {error:.2}"), format!("{bound:.2}")];
        table += &row(first.chain(before).chain(last));
    }
    Ok(table)
}

fn courses(at: &str, lines: &[&str], folder: &Path) -> Result<String, String> {
    let (unit, numbers) = match at.strip_prefix("steps ") {
        Some(steps) => ("step", steps),
        None => ("epoch", at),
    };
    let number = |text: &str| {
        let number = text.trim().parse();
        number.map_err(|_| format!("{text}: no {unit}"))
    };
    let numbers: Vec<u64> = numbers.split(',').map(number).collect::<Result<_, _>>()?;
    let mut columns: Vec<Vec<String>> = Vec::new();
    let mut labels = vec![unit];
    for line in lines {
        let (of, label) = labelled(line)?;
        let (name, run) = of
            .split_once(" of ")
            .ok_or_else(|| format!("`{line}` is no `QUANTITY of FOLDER as LABEL`"))?;
        let path = folder.join(run).join("metrics.jsonl");
        let metrics: Vec<Value> = read(&path)?
            .lines()
            .map(|line| json(line, &path))
            .collect::<Result<_, _>>()?;
        let at = |number: &u64| {
            let mut lines = metrics.iter().filter(|line| line[unit] == *number);
            let all = |line| {
                name.split(" to ")
                    .map(|name| quantity(name, line))
                    .collect()
            };
            let cells: Option<Vec<String>> = lines.find_map(all);
            cells
                .map(|cells| cells.join(" to "))
                .ok_or_else(|| format!("{}: no {name} at {unit} {number}", path.display()))
        };
        columns.push(numbers.iter().map(at).collect::<Result<_, _>>()?);
        labels.push(label);
    }
    let mut table = heading(&labels);
    for (n, &number) in numbers.iter().enumerate() {
        let cells = columns.iter().map(|column| column[n].clone());
        table += &row([count(number)].into_iter().chain(cells));
    }
    Ok(table)
}

/// Each row of a table that links to one run's result, or evaluation, and lacks an NLL of it.
///
/// # Errors
///
/// A record that cannot be read.
pub fn unlike(text: &str, folder: &Path) -> Result<Vec<String>, String> {
    let mut unlike = Vec::new();
    for row in text
        .lines()
        .map(str::trim)
        .filter(|line| line.starts_with('|'))
    {
        let targets = links::targets(row);
        let is_record = |to: &&String| to.ends_with("result.json") || to.ends_with("evaluation.md");
        let records: Vec<&String> = targets.iter().filter(is_record).collect();
        let [record] = records[..] else {
            continue;
        };
        let path = folder.join(record);
        let numbers: Vec<f64> = if record.ends_with(".json") {
            let result = json(&read(&path)?, &path)?["content"].take();
            number(&result, "final_nll", "test_nll")
                .into_iter()
                .collect()
        } else {
            let rows = samples(&read(&path)?);
            rows.iter().map(|(_, [nll, ..])| *nll).collect()
        };
        let numbers = numbers.iter().map(|number| format!("{number:.2}"));
        let missing: Vec<String> = numbers.filter(|number| !row.contains(number)).collect();
        if !missing.is_empty() {
            unlike.push(format!("{record} has {}: {row}", missing.join(", ")));
        }
    }
    Ok(unlike)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RESULT: &str = r#"{"content": {"bound": 53.356, "epochs_planned": 200, "final_nll": 45.529, "final_se": 0.171,
        "selected_epoch": 100, "test_nll": 45.475, "test_se": 0.55}}"#;
    const CHECKED: &str = r#"{"content": {"bound": null, "epochs_planned": 2, "final_nll": null, "final_se": null,
        "selected_epoch": 2, "test_nll": 9.0, "test_se": 1.0}}"#;
    const METRICS: &str = r#"{"acceptance":0.9154,"epoch":5,"kind":"epoch"}
{"epoch":5,"kind":"check","valid":{"elbo":-120.444,"mean":67.716}}
{"acceptance":null,"epoch":10,"kind":"epoch"}
{"kind":"check","kl":1.0765e-4,"slope":-0.33,"step":0}
{"kind":"check","kl":226.4,"slope":0.0,"step":5000}
"#;
    const EVALUATION: &str = "# T\n\n| S | NLL | Error over images | -ELBO |\n| --- | --- | --- | --- |\n\
        | 100 | 115.077 | 0.825 | 139.297 |\n| 10000 | 110.113 | 0.778 | 139.270 |\n\n- Words.\n";

    /// A folder with two runs, `a` and `b`.
    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (run, result) in [("a", RESULT), ("b", CHECKED)] {
            let run = folder.path().join(run);
            fs::create_dir(&run).unwrap();
            fs::write(run.join("result.json"), result).unwrap();
            fs::write(run.join("metrics.jsonl"), METRICS).unwrap();
        }
        fs::write(folder.path().join("a/evaluation.md"), EVALUATION).unwrap();
        folder
    }

    fn made(head: &str, lines: &[&str]) -> Result<String, String> {
        table(head, lines, folder().path())
    }

    #[test]
    fn runs_have_what_they_report_and_else_what_the_selected_check_had() {
        assert_eq!(
            made("runs", &["a as JSA, K = 5", "b as RWS"]).unwrap(),
            "| run | selected epoch | test NLL | error over images | bound |\n|---|---|---|---|---|\n\
             | [JSA, K = 5](a/result.json) | 100 of 200 | 45.53 | 0.17 | 53.36 |\n\
             | [RWS](b/result.json) | 2 of 2 | 9.00 | 1.00 | |\n"
        );
    }

    #[test]
    fn courses_have_a_column_for_each_line() {
        let lines = [
            "valid of a as JSA",
            "bound of b as its bound",
            "accepted of a as accepted",
        ];
        assert_eq!(
            made("courses at 5", &lines).unwrap(),
            "| epoch | JSA | its bound | accepted |\n|---|---|---|---|\n| 5 | 67.72 | 120.44 | 0.915 |\n"
        );
    }

    #[test]
    fn courses_by_steps_have_the_digits_that_count() {
        let lines = ["kl of a as KL", "slope to kl of a as both"];
        assert_eq!(
            made("courses at steps 0, 5000", &lines).unwrap(),
            "| step | KL | both |\n|---|---|---|\n| 0 | 1.1e-4 | −0.330 to 1.1e-4 |\n| 5,000 | 226 | 0 to 226 |\n"
        );
        assert_eq!(
            [0.00326, 9.996, -40.09, -38176.4].map(digits),
            ["0.00326", "10.00", "−40.1", "−38,176"]
        );
    }

    #[test]
    fn evaluations_have_a_column_for_each_number_of_samples() {
        assert_eq!(
            made("evaluations", &["a as 200, JSA"]).unwrap(),
            "| run | S = 100 | S = 10,000 | −ELBO |\n|---|---|---|---|\n\
             | [200, JSA](a/evaluation.md) | 115.08 | 110.11 ± 0.78 | 139.27 |\n"
        );
    }

    #[test]
    fn what_no_record_has_is_refused() {
        for (head, line) in [
            ("runs", "c as JSA"),
            ("runs", "a"),
            ("evaluations", "b as RWS"),
            ("courses at 7", "valid of a as JSA"),
            ("courses at 10", "accepted of a as JSA"),
            ("courses at 5", "test of a as JSA"),
            ("courses at 5", "entropy of a as JSA"),
            ("courses at steps 1", "kl of a as JSA"),
            ("courses at last", "valid of a as JSA"),
            ("courses at 5", "a as JSA"),
        ] {
            assert!(made(head, &[line]).is_err(), "{head}, {line}");
        }
        assert!(made("runs", &[]).is_err());
    }

    #[test]
    fn a_row_without_the_number_of_its_record_is_found() {
        let folder = folder();
        let of = |text: &str| unlike(text, folder.path()).unwrap().len();
        assert_eq!(
            of("| [A](a/result.json) | 45.53 |\n  | A ([record](a/result.json)) | 45.53 ± 0.17 |"),
            0
        );
        assert_eq!(of("| [A](a/evaluation.md) | 115.08 | 110.11 |"), 0);
        assert_eq!(
            of("| [A](a/result.json), [B](b/result.json) | 9 |\n[A](a/result.json)"),
            0
        );
        assert_eq!(
            of("| [A](a/result.json) | 45.52 |\n| [A](a/evaluation.md) | 115.08 |"),
            2
        );
        assert!(unlike("| [C](c/result.json) |", folder.path()).is_err());
    }

    #[test]
    fn other_comments_open_no_table() {
        assert_eq!(opening("<!-- courses at 5, 10"), Some("courses at 5, 10"));
        for line in [
            "<!-- end -->",
            "<!-- table 1 -->",
            "<!-- runs of mine -->",
            "runs",
        ] {
            assert_eq!(opening(line), None, "{line}");
        }
    }
}
