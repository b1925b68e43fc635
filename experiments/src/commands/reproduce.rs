//! `reproduce`: plans, runs and resumes an experiment, and shows what has come of it.

use crate::cli::Reproduce;
use crate::cli::cluster;
use crate::kinds;
use crate::registry::Registry;
use crate::request::{NewRunner, Request};
use crate::source::Source;
use helmholtz_datasets::Locator;
use helmholtz_harness::engine::signals::Signals;
use helmholtz_harness::engine::submit::submit;
use helmholtz_harness::engine::task::{self, Job};
use helmholtz_harness::error::HarnessError;
use helmholtz_harness::reproduce::{self as harness, End};
use helmholtz_harness::streams::Streams;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Carries out a request, until it is done or `stop` is set.
///
/// # Errors
/// What keeps the request from starting: unknown names, missing data or device, a stop before anything ran
/// ([`HarnessError::Interrupted`]). Errors of single runs are shown at the end and give [`End::Failed`].
pub fn reproduce(
    args: &Reproduce,
    registry: &Registry,
    locator: Locator,
    new_runner: &NewRunner,
    stop: &Arc<AtomicBool>,
    streams: &Streams,
) -> Result<End, HarnessError> {
    let task = args.cluster.task();
    let signals = task.as_ref().map(|_| Signals::listen(stop)).transpose()?;
    let planned;
    let (asked, mut args) = (args, args);
    if asked.cluster.on.is_some() {
        planned = cluster::planned(asked)?;
        args = &planned;
    }
    let source = Source::find(&args.experiment)?;
    let request = Request {
        args,
        source: &source,
        registry,
        locator: &locator,
        new_runner,
        stop,
        streams,
    };
    let experiment = kinds::open(&request)?;
    let options = request.options();
    if let Some((task, signals)) = task.zip(signals) {
        return task::run(
            &*experiment,
            &task,
            &Job::of_environment(),
            &signals,
            streams,
        );
    }
    match asked.cluster.on {
        None => harness::reproduce(&*experiment, &options, stop, streams),
        Some(on) => {
            let submission = cluster::submission(asked, on, &source)?;
            submit(&*experiment, &options, &submission, stop, streams)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{Cli, Command};
    use crate::kinds::likelihood::fake::FakeRunner;
    use crate::trial::CellRunner;
    use clap::Parser;
    use helmholtz_harness::streams::Captured;
    use std::sync::Mutex;

    /// A user at a pipe, with a folder of his own.
    struct Session {
        dir: tempfile::TempDir,
        out: Captured,
        err: Captured,
    }

    /// No folder with data, no download.
    fn nowhere() -> Locator {
        Locator {
            environment_dir: None,
            cache_dir: None,
            ..Locator::new(None).offline()
        }
    }

    impl Session {
        fn new() -> Self {
            Self {
                dir: tempfile::tempdir().unwrap(),
                out: Captured::default(),
                err: Captured::default(),
            }
        }

        fn streams(&self) -> Streams {
            Captured::streams(&self.out, &self.err)
        }

        /// The end, standard output and standard error of `reproduce table1 <args>`.
        fn type_in(
            &self,
            runner: FakeRunner,
            args: &[&str],
        ) -> (Result<End, HarnessError>, String, String) {
            let folder = self.dir.path().to_str().unwrap();
            let line = [
                "helmholtz",
                "reproduce",
                "table1",
                "--out",
                folder,
                "--jobs",
                "1",
            ];
            let cli = Cli::try_parse_from(line.iter().chain(args)).unwrap();
            let Command::Reproduce(args) = cli.command else {
                unreachable!("the line says reproduce")
            };
            let stop = Arc::clone(&runner.stop);
            let runner = Mutex::new(Some(runner));
            let new_runner = move |_, _, _| -> Result<Box<dyn CellRunner>, HarnessError> {
                Ok(Box::new(runner.lock().unwrap().take().unwrap()))
            };
            let end = reproduce(
                &args,
                &Registry::default(),
                nowhere(),
                &new_runner,
                &stop,
                &self.streams(),
            );
            (end, self.out.take(), self.err.take())
        }
    }

    #[test]
    fn quick_without_data_runs_on_glyphs_and_nobody_can_miss_it() {
        let session = Session::new();
        let (end, out, err) = session.type_in(FakeRunner::default(), &[]);
        assert_eq!(end.unwrap(), End::Complete);
        assert_eq!(
            err.matches("BINARIZED-MNIST IS NOT HERE").count(),
            2,
            "before and after: {err}"
        );
        assert!(err.contains("binarized_mnist_train.amat"), "{err}");
        assert!(
            out.contains("[glyphs]") && !out.contains("Published"),
            "{out}"
        );
        assert!(
            session
                .dir
                .path()
                .join("table1/quick/glyphs/linear/jsa/seed-1")
                .is_dir()
        );
        assert!(
            session
                .dir
                .path()
                .join("table1/quick/glyphs/table.csv")
                .is_file()
        );
    }

    #[test]
    fn paper_without_data_refuses_and_runs_nothing() {
        let session = Session::new();
        let (end, out, _) = session.type_in(FakeRunner::default(), &["--profile", "paper"]);
        assert!(matches!(end, Err(HarnessError::NoSubstitute { .. })));
        assert_eq!(
            (out.as_str(), session.dir.path().read_dir().unwrap().count()),
            ("", 0)
        );
    }

    #[test]
    fn an_interrupted_request_resumes_with_the_same_command_and_is_then_done() {
        let session = Session::new();
        let args = ["--dataset", "glyphs", "--method", "jsa"];
        let stopping = FakeRunner {
            stop_in: Some(("nonlinear", 2)),
            ..FakeRunner::default()
        };
        let (end, out, err) = session.type_in(stopping, &args);
        assert_eq!(end.unwrap(), End::Interrupted);
        assert!(err.contains("The same command resumes."), "{err}");
        assert!(
            out.contains("2 of 10 epochs") && out.contains("not run"),
            "{out}"
        );

        let (end, out, err) = session.type_in(FakeRunner::default(), &args);
        assert_eq!(end.unwrap(), End::Complete);
        assert!(
            out.contains("3 runs (1 done, 1 resume after epoch 2, 1 to do)"),
            "{out}"
        );
        assert!(
            err.contains("nonlinear / jsa / seed 1: resumes after epoch 2/10"),
            "{err}"
        );

        let (end, out, err) = session.type_in(FakeRunner::default(), &args);
        assert_eq!(end.unwrap(), End::Complete);
        assert!(
            out.contains("3 runs, all done.") && !err.contains("started"),
            "{out}{err}"
        );
    }

    #[test]
    fn json_lines_hold_the_plan_the_events_and_the_table_and_nothing_else() {
        let session = Session::new();
        let (end, out, _) = session.type_in(
            FakeRunner::default(),
            &["--dataset", "glyphs", "--net", "linear", "--json"],
        );
        assert_eq!(end.unwrap(), End::Complete);
        let events: Vec<String> = out
            .lines()
            .map(|line| {
                serde_json::from_str::<serde_json::Value>(line).unwrap()["event"]
                    .as_str()
                    .unwrap()
                    .to_string()
            })
            .collect();
        assert_eq!(
            (events[0].as_str(), events.last().unwrap().as_str()),
            ("plan", "table")
        );
        assert_eq!(events.iter().filter(|e| *e == "done").count(), 3);
    }

    #[test]
    fn finished_numbers_in_a_tables_files_are_not_lost_to_a_folder_that_cannot_be_used() {
        let session = Session::new();
        let args = ["--dataset", "glyphs", "--net", "linear"];
        session.type_in(FakeRunner::default(), &args).0.unwrap();
        let base = session.dir.path().join("table1/quick/glyphs");
        let files =
            || ["md", "csv", "json"].map(|e| std::fs::read(base.join(format!("table.{e}"))));
        let before = files().map(Result::unwrap);
        let config = base.join("linear/rws/seed-1/config.json");
        std::fs::write(config, "damaged").unwrap();
        let (end, out, err) = session.type_in(FakeRunner::default(), &args);
        assert_eq!(end.unwrap(), End::Failed);
        assert!(
            out.contains("folder unusable") && !out.contains("Written to"),
            "{out}"
        );
        assert!(err.contains("left as they were"), "{err}");
        assert_eq!(files().map(Result::unwrap), before);
    }

    #[test]
    fn other_epochs_do_not_touch_the_profiles_runs() {
        let session = Session::new();
        let args = ["--dataset", "glyphs", "--method", "jsa", "--net", "linear"];
        session.type_in(FakeRunner::default(), &args).0.unwrap();
        let (end, out, _) = session.type_in(
            FakeRunner::default(),
            &[&args[..], &["--epochs", "7"]].concat(),
        );
        assert_eq!(end.unwrap(), End::Complete);
        assert!(out.contains("7 of 7"), "{out}");
        assert!(
            session
                .dir
                .path()
                .join("table1/quick-7-epochs/glyphs/linear/jsa/seed-1")
                .is_dir()
        );
    }

    #[test]
    fn a_wrong_request_is_refused_before_anything_is_loaded() {
        let session = Session::new();
        let (end, _, err) = session.type_in(FakeRunner::default(), &["--method", "jsb"]);
        assert!(matches!(end, Err(HarnessError::Unknown { .. })));
        assert_eq!(err, "");
        if cfg!(not(feature = "wgpu")) {
            let (end, ..) = session.type_in(FakeRunner::default(), &["--device", "wgpu"]);
            assert!(end.unwrap_err().to_string().contains("cargo xtask"));
        }
    }
}
