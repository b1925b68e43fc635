//! The table, with an explanation of each survivor.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use serde::Deserialize;

use crate::checkout::Checkout;
use crate::mutant::{self, Mutant, Origin};
use crate::read;
use crate::results::{Results, Verdict};

/// The report.
pub struct Report {
    /// As Markdown.
    pub text: String,
    /// Survivors that `tests/survivors.toml` does not explain.
    pub unexplained: usize,
}

/// Why some mutants of one line survive.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Explanation {
    /// The file, from the workspace's root.
    file: String,
    /// The line, without the space around it.
    line: String,
    /// What is changed in it, as the report says it.
    mutants: Vec<String>,
    /// Why no test fails.
    why: String,
}

#[derive(Default, Deserialize)]
struct Explanations {
    #[serde(default)]
    survivor: Vec<Explanation>,
}

impl Explanation {
    fn explains(&self, mutant: &Mutant) -> bool {
        let changes = &self.mutants;
        self.file == mutant.file && self.line == mutant.line && changes.contains(&mutant.about)
    }
}

#[derive(Clone, Copy, Default)]
struct Count {
    unviable: usize,
    killed: usize,
    late: usize,
    survived: usize,
}

impl Count {
    /// What was not tried counts as surviving.
    fn add(&mut self, verdict: Option<&Verdict>) {
        *match verdict {
            Some(Verdict::Unviable) => &mut self.unviable,
            Some(Verdict::Killed { .. }) => &mut self.killed,
            Some(Verdict::Late { .. }) => &mut self.late,
            Some(Verdict::Survived { .. }) | None => &mut self.survived,
        } += 1;
    }

    fn row(&self, name: &str) -> String {
        let Self {
            unviable,
            killed,
            late,
            survived,
        } = self;
        let viable = killed + late + survived;
        let score = 100.0 * (killed + late) as f64 / viable.max(1) as f64;
        let all = unviable + viable;
        format!("| {name} | {all} | {unviable} | {killed} | {late} | {survived} | {score:.1} % |\n")
    }
}

/// What a scope leaves out, if anything.
fn without(not: &[&str]) -> String {
    match not {
        [] => String::new(),
        files => format!(", without `{}`", files.join("`, `")),
    }
}

pub fn markdown(
    root: &Path,
    checkout: &Checkout,
    mutants: &[&Mutant],
    results: &Results,
) -> Result<Report, String> {
    let explanations = read(&root.join("tests/survivors.toml"))?;
    let Explanations { survivor: known } =
        toml::from_str(&explanations).map_err(|error| format!("tests/survivors.toml: {error}"))?;
    let (mut all, mut tool, mut hand) = (Count::default(), Count::default(), Count::default());
    let mut files: BTreeMap<&str, Count> = BTreeMap::new();
    for mutant in mutants {
        let verdict = results.verdict(mutant);
        all.add(verdict);
        files.entry(&mutant.file).or_default().add(verdict);
        match mutant.origin {
            Origin::Hand => hand.add(verdict),
            _ => tool.add(verdict),
        }
    }
    let mut text = format!(
        "# The mutation run\n\n\
         Made by `cargo xtask mutants --scope {}`, at commit {}, with {}; {:.0} minutes of tests. All mutants are compiled into one program \
         behind a switch; each is given the tests that reach it, quickest first, until one fails. Tests: those of {}, \
         in the dev profile. A test that takes more than five times its usual time and 20 s counts as late, by itself. Verdicts stand while the \
         sources stay; what survived is tried anew at each commit, since tests may have changed. \
         The score is the share of mutants that compile that a test notices.\n\n\
         Mutated: `{}`{}.\n\n",
        checkout.scope.name,
        &checkout.commit[..7],
        mutant::version(checkout),
        results.seconds() / 60.0,
        checkout.scope.packages.join(", "),
        checkout.scope.files.join("`, `"),
        without(checkout.scope.not),
    );
    let untried = |mutant: &&&Mutant| results.verdict(mutant).is_none();
    let open = mutants.iter().filter(untried).count();
    if open > 0 {
        text += &format!("Not tried, and counted as survivors: {open}.\n\n");
    }
    const HEAD: &str = "| mutants | do not compile | killed | late | survive | score |\n|---|---|---|---|---|---|---|\n";
    text += &format!("| | {}", &HEAD[2..]);
    text += &tool.row("cargo-mutants");
    text += &hand.row("by hand");
    text += &all.row("all");

    let (listed, mut unexplained) = survivors(mutants, results, &known);
    text += &listed;

    text += &format!("\n## Files\n\n| file | {}", &HEAD[2..]);
    for (file, count) in files {
        text += &count.row(&format!("`{file}`"));
    }

    // A fault by hand that does not compile tells nothing.
    unexplained += hand.unviable;
    text += &by_hand(mutants, results);
    Ok(Report { text, unexplained })
}

/// Those that no test notices, with why, and the number of those of which nobody says it.
fn survivors(mutants: &[&Mutant], results: &Results, known: &[Explanation]) -> (String, usize) {
    let mut text = String::from("\n## Survivors\n");
    let mut unexplained = 0;
    // Of the files of other scopes nothing is known here.
    let mutated = |known: &&Explanation| mutants.iter().any(|mutant| mutant.file == known.file);
    let mut stale: Vec<&Explanation> = known.iter().filter(mutated).collect();
    let survives = |mutant: &&&Mutant| results.verdict(mutant).is_none_or(Verdict::survives);
    let mut survivors: Vec<&&Mutant> = mutants.iter().filter(survives).collect();
    survivors.sort_by_key(|mutant| (&mutant.file, mutant.place));
    let mut file = "";
    for mutant in survivors {
        if mutant.file != file {
            file = &mutant.file;
            let _ = write!(text, "\n`{file}`\n\n");
        }
        let why = known.iter().find(|known| known.explains(mutant));
        stale.retain(|explanation| !explanation.explains(mutant));
        let why = match (why, results.verdict(mutant)) {
            (Some(known), _) => &known.why,
            (None, None) => "Not tried.",
            (None, Some(_)) => {
                unexplained += 1;
                "**unexplained**"
            }
        };
        let (line, about) = (mutant.place.0, &mutant.about);
        let _ = writeln!(text, "* line {line}, `{}`: {about}. {why}", mutant.line);
    }
    for Explanation { file, line, .. } in stale {
        eprintln!("nothing to explain in {file}, `{line}`");
    }
    (text, unexplained)
}

/// The faults that were written by hand.
fn by_hand(mutants: &[&Mutant], results: &Results) -> String {
    let mut text = String::from(
        "\n## Faults written by hand\n\n| fault | file | noticed by |\n|---|---|---|\n",
    );
    for mutant in mutants.iter().filter(|m| m.origin == Origin::Hand) {
        let by = match results.verdict(mutant) {
            Some(Verdict::Killed { by } | Verdict::Late { by }) => format!("`{by}`"),
            Some(verdict) => format!("**{verdict}**"),
            None => "not tried".into(),
        };
        let about = mutant.about.replace('|', "\\|");
        let _ = writeln!(text, "| {about} | `{}` | {by} |", mutant.file);
    }
    text
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    /// The numbers of a row of a Markdown table, without its first cell.
    fn cells(row: &str) -> Vec<&str> {
        let cells = row.trim_matches('|').split('|').skip(1);
        cells.map(str::trim).collect()
    }

    #[test]
    fn the_readme_has_the_numbers_of_the_records() {
        let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let readme = fs::read_to_string(tests.join("README.md")).unwrap();
        let rows: Vec<_> = readme
            .lines()
            .filter_map(|line| Some((line, line.split_once("[table](")?.1.split_once(')')?.0)))
            .filter(|(_, record)| record.contains("results/mutants"))
            .collect();
        let records = fs::read_dir(tests.join("../experiments/results")).unwrap();
        let records = records.filter(|entry| {
            let name = entry.as_ref().unwrap().file_name();
            name.to_string_lossy().starts_with("mutants")
        });
        assert_eq!(rows.len(), records.count(), "a row for each record");
        for (row, record) in rows {
            let record = fs::read_to_string(tests.join(record)).unwrap();
            let all = record.lines().find(|line| line.starts_with("| all |"));
            let all = cells(all.unwrap());
            let number = |at: usize| -> usize { all[at].parse().unwrap() };
            let compiled = (number(0) - number(1)).to_string();
            assert_eq!(cells(row)[1..3], [compiled.as_str(), all[5]], "{row}");
        }
    }
}
