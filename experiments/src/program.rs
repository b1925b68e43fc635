//! The program: every command, with what it knows by name and what is added to that.

use crate::backend::{OnDevices, added, added_for_all};
use crate::backtraces;
use crate::cli::{self, Cli, Command};
#[cfg(feature = "cpu")]
use crate::commands::certify::certify;
use crate::commands::evaluate::evaluate;
use crate::commands::report::report;
use crate::commands::reproduce::reproduce;
use crate::commands::scoreboard::scoreboard;
use crate::commands::shell;
use crate::commands::status::status;
use crate::commands::variance::variance;
use crate::error::HarnessError;
use crate::framework;
use crate::kinds::likelihood::runner;
use crate::nets::NetConfig;
use crate::registry::Registry;
use crate::request::NewRunner;
use crate::started;
use clap::FromArgMatches;
use helmholtz_datasets::{Error, Locator, Splits};
use helmholtz_distributions::{Bits, Counts, Mixed};
use helmholtz_harness::engine::signals::Signals;
use helmholtz_harness::loading::Planning;
use helmholtz_harness::reproduce::End;
use helmholtz_harness::streams::Streams;
use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::process::{ExitCode, exit};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The program, with everything built in and what is added.
///
/// ```no_run
/// # use helmholtz_estimators::{Coefficient, Outcome, Weighting};
/// # use helmholtz_random::Chance;
/// #[derive(Clone)]
/// struct Mine;
///
/// impl Weighting for Mine {
///     // A description with its name, and its weights.
/// #   fn weigh(&self, _: &[f64], _: bool, _: &mut dyn Chance, _: &mut [Coefficient]) -> Outcome { Outcome::default() }
/// }
///
/// fn main() -> std::process::ExitCode {
///     helmholtz_experiments::Program::new().estimator(Mine).run()
/// }
/// ```
///
/// What is added has all that is built in has: `reproduce table1 --method mine --net my-net --dataset my-data` trains, is stopped and
/// resumed, and stands in the table; `variance`, `certify`, `evaluate`, `report` and `--help` know it.
#[derive(Debug)]
pub struct Program {
    registry: Result<Registry, HarnessError>,
}

impl Default for Program {
    fn default() -> Self {
        Self::new()
    }
}

impl Program {
    /// Everything built in.
    pub fn new() -> Self {
        Self {
            registry: Ok(Registry::default()),
        }
    }

    /// With an estimator for bits and classes, under the name in its [`Description`](helmholtz_estimators::Description).
    ///
    /// It is any [`Estimator`](helmholtz_estimators::Estimator): a [`Weighting`](helmholtz_estimators::Weighting) is one; one of
    /// another family implements [`Declaration`](helmholtz_estimators::Declaration) and `Estimator`, which calls the routine of
    /// that family, such as [`estimate_logits`](helmholtz_estimators::estimate_logits).
    pub fn estimator(self, estimator: impl OnDevices<Mixed>) -> Self {
        self.with(|registry| registry.with_method(added(estimator)))
    }

    /// The same of an estimator that is defined for bits alone: it asks its models for `Layered<B, Variables = Bits>`.
    pub fn estimator_of_bits(self, estimator: impl OnDevices<Bits>) -> Self {
        self.with(|registry| registry.with_method(added(estimator)))
    }

    /// The same of one that is defined for counts too: a [`Weighting`](helmholtz_estimators::Weighting) is.
    pub fn estimator_of_all(self, estimator: impl OnDevices<Mixed> + OnDevices<Counts>) -> Self {
        self.with(|registry| registry.with_method(added_for_all(estimator)))
    }

    /// The same of one that is defined for counts alone.
    pub fn estimator_of_counts(self, estimator: impl OnDevices<Counts>) -> Self {
        self.with(|registry| registry.with_method(added(estimator)))
    }

    /// With a net.
    pub fn net(self, name: &str, net: impl NetConfig) -> Self {
        self.with(|registry| registry.with_net(name, net))
    }

    /// With a data set, which is loaded where it is asked for.
    pub fn data(
        self,
        name: &str,
        load: impl Fn() -> Result<Splits, Error> + Send + Sync + 'static,
    ) -> Self {
        self.with(|registry| registry.with_data(name, Arc::new(load)))
    }

    fn with(self, add: impl FnOnce(Registry) -> Result<Registry, HarnessError>) -> Self {
        Self {
            registry: self.registry.and_then(add),
        }
    }

    /// Does what the command line asks for.
    pub fn run(self) -> ExitCode {
        self.run_with(std::env::args_os())
    }

    /// Does what these arguments ask for, of which the first names the program.
    pub fn run_with(self, args: impl IntoIterator<Item = impl Into<OsString> + Clone>) -> ExitCode {
        backtraces::where_memory_allows();
        framework::configure();
        if let Some(commit) = started::BUILT_FROM {
            helmholtz_runs::built_from(commit);
        }
        let registry = match self.registry {
            Ok(registry) => registry,
            Err(error) => return failed(&error),
        };
        let matches = cli::command(&registry).try_get_matches_from(args);
        match matches.and_then(|matches| Cli::from_arg_matches(&matches)) {
            Ok(cli) => carry_out(&cli.command, &registry),
            Err(error) => {
                // A terminal that was closed is no reason to end otherwise.
                let _ = error.print();
                ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(1))
            }
        }
    }
}

/// The exit status of a program that was stopped from the keyboard.
const INTERRUPTED: u8 = 130;

/// The exit status of a cluster's task that is to be started again: EX_TEMPFAIL of `sysexits.h`.
const REQUEUED: u8 = 75;

/// Carries out a command line.
fn carry_out(command: &Command, registry: &Registry) -> ExitCode {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    let is_quiet = is_quiet(command);
    let handler = move || {
        // While data are loaded and steps measured there is nothing to be kept but what downloads keep anyway. The second
        // time nothing is waited for: a run folder survives that, too.
        let planning = Planning::is_active();
        if planning {
            print_line("Stopped before anything ran.");
        }
        let again = flag.swap(true, Ordering::SeqCst);
        if is_quiet && !again && !planning {
            print_line("Stopping: what is in work ends first. Ctrl-C again exits at once.");
        }
        if (again && !Signals::is_task()) || planning {
            exit(INTERRUPTED.into());
        }
    };
    if let Err(error) = set_handler(handler) {
        print_line(&format!(
            "warning: Ctrl-C will not wait for a checkpoint ({error})"
        ));
    }
    let streams = Streams::standard();
    let new_runner: &NewRunner = &runner::new;
    let locator = match locator(command.data_dir(), &stop) {
        Ok(locator) => locator,
        Err(error) => return failed(&error),
    };
    let end = match command {
        Command::Reproduce(args) => reproduce(args, registry, locator, new_runner, &stop, &streams),
        Command::Status(args) => status(args, registry, locator, new_runner, &stop, &streams),
        Command::Evaluate(args) => evaluate(args, registry, &locator, &stop, &streams),
        Command::Variance(args) => variance(args, registry, &locator, &stop, &streams),
        #[cfg(feature = "cpu")]
        Command::Certify(args) => certify(args, registry, &stop, &streams),
        Command::Scoreboard(args) => scoreboard(args, &streams),
        Command::Completions(args) => {
            Ok(shell::completions(args, cli::command(registry), &streams))
        }
        Command::Man(args) => shell::man(args, cli::command(registry), &streams),
        Command::Report(args) => report(args, registry, &locator, &stop, &streams),
    };
    match end.and_then(|end| streams.check().map(|()| end)) {
        Ok(End::Complete) => ExitCode::SUCCESS,
        Ok(End::Failed) => ExitCode::FAILURE,
        Ok(End::Interrupted) => ExitCode::from(INTERRUPTED),
        Ok(End::Requeued) => ExitCode::from(REQUEUED),
        Err(HarnessError::Interrupted { .. } | HarnessError::Data(Error::Stopped { .. })) => {
            print_line("Stopped before anything ran.");
            ExitCode::from(INTERRUPTED)
        }
        Err(error) => failed(&error),
    }
}

/// Where data are looked for: in this folder first.
fn locator(folder: Option<&Path>, stop: &Arc<AtomicBool>) -> Result<Locator, HarnessError> {
    match folder.filter(|folder| !folder.is_dir()) {
        Some(folder) => Err(HarnessError::Unusable(format!(
            "`--data-dir {}`: there is no such folder",
            folder.display()
        ))),
        None => Ok(Locator::new(folder.map(Path::to_path_buf)).stopped_by(Arc::clone(stop))),
    }
}

/// Whether it has no board, which would say that a stop was heard.
fn is_quiet(command: &Command) -> bool {
    match command {
        Command::Evaluate(_) | Command::Variance(_) => true,
        #[cfg(feature = "cpu")]
        Command::Certify(_) => true,
        _ => false,
    }
}

/// Tells an error.
fn failed(error: &HarnessError) -> ExitCode {
    let title = console::style("error:").red().bold().for_stderr();
    let error = error.to_string();
    print_line(&format!("{title} {}", started::as_started(&error)));
    ExitCode::FAILURE
}

/// Writes a line to standard error, if anybody reads it: a terminal that was closed is no reason to end otherwise.
fn print_line(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Handles SIGINT, SIGTERM and SIGHUP; leaves SIGHUP ignored if it already was (`nohup`).
fn set_handler(handler: impl FnMut() + Send + 'static) -> Result<(), ctrlc::Error> {
    #[cfg(unix)]
    let ignored = hangup_is_ignored();
    ctrlc::set_handler(handler)?;
    #[cfg(unix)]
    if ignored {
        // SAFETY: the arguments are a signal that may be ignored and the constant that ignores it; no code of ours runs, now
        // or at the signal, and no other thread sets this signal.
        unsafe { libc::signal(libc::SIGHUP, libc::SIG_IGN) };
    }
    Ok(())
}

/// Whether nothing happens when the terminal closes.
#[cfg(unix)]
fn hangup_is_ignored() -> bool {
    // SAFETY: `sigaction` is plain data, for which zeros are a value. Without an action to set, the call only writes the present
    // one through the pointer, which is to a live local; its union is read as the handler that SIG_IGN is one of.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        libc::sigaction(libc::SIGHUP, std::ptr::null(), &mut action) == 0
            && action.sa_sigaction == libc::SIG_IGN
    }
}
