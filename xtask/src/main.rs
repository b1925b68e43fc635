//! `cargo xtask`: builds what a command needs and starts it. Without dependencies, so that it compiles in a second.

mod bench;
mod book;
mod cargo;
mod certify;
mod documents;
mod mutants;
mod program;

use std::ffi::OsString;
use std::process::ExitCode;

const HELP: &str = "\
Usage: cargo xtask <command> [arguments]

Commands:
  reproduce <experiment>   Reproduce a published table or figure: builds the runner for the device, starts it
  status <experiment>      Show which runs are done, running, waiting and failed, from their folders alone
  evaluate <run folder>    Evaluate a run's parameters again: its test NLL with any number of samples
  variance                 Measure how noisy the methods' gradients are, for what they cost
  report                   Put every recorded result into one report: tables, figures, a page
  scoreboard               Every published number beside ours: seeds, epochs, difference, and one word
  certify                  Hold every gradient estimator against enumeration, beside faulty twins; prints a table
  mutants                  Change the program in many small ways, one at a time, and see that a test fails; hours
  book                     Write the parts of the book that are made, and build its pages with mdBook
  documents                Check links, copied parts and sentences of every document; run the book's tutorials
  bench [filter]           Run the benchmarks
  help                     Show this text

Examples:
  cargo xtask reproduce table1                         the quick profile, in minutes
  cargo xtask reproduce table1 --profile paper --dry-run
                                                       what the paper's protocol would take here
  cargo xtask reproduce table1 --profile paper --net linear --method jsa --seeds 1-5
  cargo xtask reproduce table1 --device cuda           on an NVIDIA GPU (the first build takes minutes)
  cargo xtask reproduce arm-toy                        the toy experiment of ARM, in a minute
  cargo xtask reproduce apg-gmm --steps 25000          amortized population Gibbs on Gaussian mixtures
  cargo xtask reproduce apg-dmm --steps 30000          the same on deep mixtures of rings
  cargo xtask reproduce apg-bmnist --steps 20000       the same on bouncing digits
  cargo xtask reproduce apg-table1 --profile cpu       what every sampler reaches on the three
  cargo xtask reproduce --help                         every flag
  cargo xtask variance --method jsa,rws,rloo           at fresh parameters; `--run FOLDER`: at those of a run
  cargo xtask report --out runs                        what is recorded, and one's own runs
  cargo xtask report --run FOLDER --watch              the page of a run, written again while it trains

Ctrl-C is safe; the same command resumes.";

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    let command = args.next();
    let rest: Vec<OsString> = args.collect();
    let command = command.as_ref().map(|command| command.to_string_lossy());
    let outcome = match command.as_deref() {
        Some(
            name @ ("reproduce" | "status" | "evaluate" | "variance" | "report" | "scoreboard"),
        ) => program::run(name, &rest),
        Some("certify") => certify::run(&rest),
        Some("book") => book::run(&rest),
        Some("documents") => documents::run(&rest),
        Some("mutants") => mutants::run(&rest),
        Some("bench") => bench::run(&rest),
        Some("help" | "--help" | "-h") => {
            println!("{HELP}");
            return ExitCode::SUCCESS;
        }
        Some(other) => Err(format!(
            "unknown command `{other}`; the commands are: reproduce, status, evaluate, variance, report, scoreboard, certify, book, documents, mutants, bench, help"
        )),
        None => {
            eprintln!("{HELP}");
            return ExitCode::from(2);
        }
    };
    match outcome {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
