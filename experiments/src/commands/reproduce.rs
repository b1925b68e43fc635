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
    use crate::cli::tests::parsed;
    use crate::kinds::likelihood::fake::FakeRunner;
    use crate::trial::CellRunner;
    use helmholtz_harness::streams::Captured;
    use std::path::PathBuf;

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

        /// A place in the folder.
        fn path(&self, below: &str) -> PathBuf {
            self.dir.path().join(below)
        }

        fn streams(&self) -> Streams {
            Captured::streams(&self.out, &self.err)
        }

        /// The end, standard output and standard error of `reproduce table1 <args>`.
        fn type_in(&self, args: &[&str]) -> (Result<End, HarnessError>, String, String) {
            let folder = self.dir.path().to_str().unwrap();
            let line = ["table1", "--out", folder, "--jobs", "1"];
            let args = parsed(&[&line, args].concat()).unwrap();
            let new_runner = |_, _, _| -> Result<Box<dyn CellRunner>, HarnessError> {
                Ok(Box::new(FakeRunner::default()))
            };
            let end = reproduce(
                &args,
                &Registry::default(),
                nowhere(),
                &new_runner,
                &Arc::default(),
                &self.streams(),
            );
            (end, self.out.take(), self.err.take())
        }
    }

    #[test]
    fn quick_without_data_runs_on_glyphs_and_nobody_can_miss_it() {
        let session = Session::new();
        let (end, out, err) = session.type_in(&[]);
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
                .path("table1/quick/glyphs/linear/jsa/seed-1")
                .is_dir()
        );
        assert!(session.path("table1/quick/glyphs/table.csv").is_file());
    }

    #[test]
    fn paper_without_data_refuses_and_runs_nothing() {
        let session = Session::new();
        let (end, out, _) = session.type_in(&["--profile", "paper"]);
        assert!(matches!(end, Err(HarnessError::NoSubstitute { .. })));
        assert_eq!(
            (out.as_str(), session.dir.path().read_dir().unwrap().count()),
            ("", 0)
        );
    }

    #[test]
    fn other_epochs_do_not_touch_the_profiles_runs() {
        let session = Session::new();
        let args = ["--dataset", "glyphs", "--method", "jsa", "--net", "linear"];
        session.type_in(&args).0.unwrap();
        let (end, out, _) = session.type_in(&[&args[..], &["--epochs", "7"]].concat());
        assert_eq!(end.unwrap(), End::Complete);
        assert!(out.contains("7 of 7"), "{out}");
        assert!(
            session
                .path("table1/quick-7-epochs/glyphs/linear/jsa/seed-1")
                .is_dir()
        );
    }

    #[test]
    fn a_wrong_request_is_refused_before_anything_is_loaded() {
        let session = Session::new();
        let (end, _, err) = session.type_in(&["--method", "jsb"]);
        assert!(matches!(end, Err(HarnessError::Unknown { .. })));
        assert_eq!(err, "");
        if cfg!(not(feature = "wgpu")) {
            let (end, ..) = session.type_in(&["--device", "wgpu"]);
            assert!(end.unwrap_err().to_string().contains("cargo xtask"));
        }
    }
}
