//! The mutation run: changes the program in many small ways, one at a time, and sees whether a test fails.
//!
//! All mutants are compiled into one program behind a switch (mutant schemata: Untch, Offutt & Harrold 1993), so that a
//! mutant costs the run of a few tests and no build:
//!
//! | file | holds |
//! |---|---|
//! | [`scope`] | which files are mutated, and which tests look at them |
//! | [`mutant`] | a mutant: those of `cargo mutants --list`, and the faults of `tests/faults.toml` |
//! | [`site`] | the expression or function body that a mutant replaces |
//! | [`switch`] | a file with its sites made switches |
//! | [`checkout`] | the scratch checkout that they are planted in |
//! | [`build`] | the build, which tells mutants that do not compile |
//! | [`tests`] | the tests, and the sites that each reaches |
//! | [`process`] | one test run to its end, or to its time limit |
//! | [`trial`] | the tests that reach a mutant, until one fails |
//! | [`results`] | verdicts, kept on disk: a run that was stopped goes on |
//! | [`report`] | the table, with an explanation of each survivor |

mod build;
mod case;
mod checkout;
mod mutant;
mod process;
mod report;
mod results;
mod scope;
mod site;
mod switch;
mod tests;
mod trial;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use checkout::Checkout;
use mutant::Mutant;
use results::{Results, Verdict};
use scope::Scope;

const HELP: &str = "\
Usage: cargo xtask mutants [--scope NAME] [--jobs N] [--only TEXT] [--list | --report] [--out FILE]

Plants every mutant that cargo-mutants makes of the files of a scope, and in the first scope the faults of tests/faults.toml, in a scratch checkout of HEAD below target/mutants: all at once, behind a switch. Then runs for each mutant
the tests that reach it, until one fails. Writes experiments/results/mutants.md, or mutants-NAME.md; survivors are explained in
tests/survivors.toml. Ends with 1 if a mutant survives without an explanation.

Ctrl-C is safe; the same command goes on. The first build there takes as long as a clean one.

  --scope NAME  coefficients (of estimators: the default), operations (of tensors, and their gradients), bits (products of bits and
                one-hot rows), kernels (on discrete sites, and couplings), samplers (all of the crates samplers and random), runs (and
                files, and crashes), harness (and report), training (and evaluation), models, gradients (what certifies
                estimators), or all of a crate: invariance (but for that), distributions, apg, datasets
  --jobs N      tests at a time (default 2)
  --only TEXT   only mutants whose name holds TEXT; the table is printed, not written
  --list        list the mutants, and stop
  --report      write the table of the verdicts there are: what has none counts as surviving
  --out FILE    write the table there";

struct Arguments {
    scope: &'static Scope,
    jobs: usize,
    only: Option<String>,
    list: bool,
    report: bool,
    out: Option<PathBuf>,
}

fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let done = parse(std::env::args().skip(1)).and_then(|arguments| match arguments {
        Some(arguments) => run(&root, &arguments),
        None => {
            println!("{HELP}");
            Ok(true)
        }
    });
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(problem) => {
            eprintln!("error: {problem}");
            ExitCode::from(2)
        }
    }
}

fn parse(mut given: impl Iterator<Item = String>) -> Result<Option<Arguments>, String> {
    let mut arguments = Arguments {
        scope: &scope::SCOPES[0],
        jobs: 2,
        only: None,
        list: false,
        report: false,
        out: None,
    };
    while let Some(flag) = given.next() {
        let mut value = || given.next().ok_or(format!("`{flag}` needs a value"));
        match flag.as_str() {
            "--scope" => arguments.scope = scope::named(&value()?)?,
            "--jobs" => {
                let jobs = value()?;
                let number = jobs.parse().ok().filter(|&jobs| jobs > 0);
                arguments.jobs = number.ok_or(format!("`--jobs {jobs}`: give a number from 1"))?;
            }
            "--only" => arguments.only = Some(value()?),
            "--list" => arguments.list = true,
            "--report" => arguments.report = true,
            "--out" => arguments.out = Some(PathBuf::from(value()?)),
            "--help" | "-h" => return Ok(None),
            other => return Err(format!("there is no flag `{other}`\n\n{HELP}")),
        }
    }
    Ok(Some(arguments))
}

fn run(root: &Path, arguments: &Arguments) -> Result<bool, String> {
    let checkout = Checkout::of_head(root, arguments.scope)?;
    let mut mutants = mutant::of_tool(&checkout)?;
    mutants.extend(mutant::by_hand(&checkout)?);
    if arguments.list {
        for mutant in &mutants {
            println!("{}", mutant.name());
        }
        println!("{} mutants", mutants.len());
        return Ok(true);
    }
    let sites = site::of_mutants(&checkout, mutants)?;
    let mut results = Results::open(&checkout)?;

    let asked = |mutant: &&Mutant| match &arguments.only {
        Some(text) => mutant.name().contains(text.as_str()),
        None => true,
    };
    let all = || sites.iter().flat_map(|site| &site.mutants);
    if !arguments.report && !all().filter(asked).all(|mutant| results.has(mutant)) {
        let program = build::program(&checkout, &sites, None, &mut results)?;
        let tests = tests::traced(&checkout, &program, arguments.jobs)?;
        results.keep(|name| tests.iter().any(|test| test.name == name));
        trial::switched(&sites, &tests, &mut results, arguments.jobs, asked)?;
        trial::constants(&checkout, &sites, &tests, &mut results, asked)?;
    }
    let mutants: Vec<&Mutant> = all().filter(asked).collect();
    let report = report::markdown(root, &checkout, &mutants, &results)?;
    match arguments.only {
        Some(_) => println!("{}", report.text),
        None => {
            let out = match (&arguments.out, arguments.scope.name) {
                (Some(out), _) => out.clone(),
                (None, "coefficients") => root.join("experiments/results/mutants.md"),
                (None, name) => root.join(format!("experiments/results/mutants-{name}.md")),
            };
            fs::write(&out, &report.text)
                .map_err(|error| format!("cannot write {}: {error}", out.display()))?;
        }
    }
    let of = |verdict: fn(&Verdict) -> bool| {
        let count = mutants
            .iter()
            .filter(|m| results.verdict(m).is_some_and(verdict));
        count.count()
    };
    eprintln!(
        "{} mutants: {} do not compile, {} survive, {} of them unexplained",
        mutants.len(),
        of(Verdict::is_unviable),
        of(Verdict::survives),
        report.unexplained,
    );
    Ok(report.unexplained == 0)
}

/// Reads a file.
fn read(file: &Path) -> Result<String, String> {
    fs::read_to_string(file).map_err(|error| format!("cannot read {}: {error}", file.display()))
}
