//! The program `helmholtz`: reproduces published experiments, measures gradients, and reports. `cargo xtask` builds it for a device and starts it.

use clap::Parser;
use helmholtz_datasets::{Error, Locator};
use helmholtz_experiments::cli::{Cli, Command};
use helmholtz_experiments::commands::evaluate::evaluate;
use helmholtz_experiments::commands::report::report;
use helmholtz_experiments::commands::reproduce::reproduce;
use helmholtz_experiments::commands::scoreboard::scoreboard;
use helmholtz_experiments::commands::status::status;
use helmholtz_experiments::commands::variance::variance;
use helmholtz_experiments::error::HarnessError;
use helmholtz_experiments::framework;
use helmholtz_experiments::likelihood::runner;
use helmholtz_experiments::registry::Registry;
use helmholtz_harness::engine::signals::Signals;
use helmholtz_harness::loading::Planning;
use helmholtz_harness::reproduce::End;
use helmholtz_harness::streams::Streams;
use std::io::Write;
use std::process::{ExitCode, exit};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The exit status of a program that was stopped from the keyboard.
const INTERRUPTED: u8 = 130;

/// The exit status of a cluster's task that is to be started again: EX_TEMPFAIL of `sysexits.h`.
const REQUEUED: u8 = 75;

fn main() -> ExitCode {
    framework::configure();
    let command = Cli::parse().command;
    let registry = Registry::default();
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    let handler = move || {
        // While data are loaded and steps measured there is nothing to be kept but what downloads keep anyway. The second
        // time nothing is waited for: a run folder survives that, too.
        let planning = Planning::is_going_on();
        if planning {
            say("Stopped before anything ran.");
        }
        let again = flag.swap(true, Ordering::SeqCst);
        if (again && !Signals::is_task()) || planning {
            exit(INTERRUPTED.into());
        }
    };
    if let Err(error) = set_handler(handler) {
        say(&format!(
            "warning: Ctrl-C will not wait for a checkpoint ({error})"
        ));
    }
    let streams = Streams::standard();
    let end = match &command {
        Command::Reproduce(args) => {
            let locator = Locator::new(args.data_dir.clone()).stopped_by(Arc::clone(&stop));
            reproduce(args, &registry, locator, &runner::new, &stop, &streams)
        }
        Command::Status(args) => {
            let args = &args.request;
            let locator = Locator::new(args.data_dir.clone()).stopped_by(Arc::clone(&stop));
            status(args, &registry, locator, &runner::new, &stop, &streams)
        }
        Command::Evaluate(args) => {
            let locator = Locator::new(args.data_dir.clone()).stopped_by(Arc::clone(&stop));
            evaluate(args, &registry, &locator, &stop, &streams)
        }
        Command::Variance(args) => {
            let locator = Locator::new(args.data_dir.clone()).stopped_by(Arc::clone(&stop));
            variance(args, &registry, &locator, &stop, &streams)
        }
        Command::Scoreboard(args) => scoreboard(args, &streams),
        Command::Report(args) => {
            let locator = Locator::new(args.data_dir.clone()).stopped_by(Arc::clone(&stop));
            report(args, &registry, &locator, &stop, &streams)
        }
    };
    match end.and_then(|end| streams.check().map(|()| end)) {
        Ok(End::Complete) => ExitCode::SUCCESS,
        Ok(End::Failed) => ExitCode::FAILURE,
        Ok(End::Interrupted) => ExitCode::from(INTERRUPTED),
        Ok(End::Requeued) => ExitCode::from(REQUEUED),
        Err(HarnessError::Interrupted { .. } | HarnessError::Data(Error::Stopped { .. })) => {
            say("Stopped before anything ran.");
            ExitCode::from(INTERRUPTED)
        }
        Err(error) => {
            let title = console::style("error:").red().bold().for_stderr();
            say(&format!("{title} {error}"));
            ExitCode::FAILURE
        }
    }
}

/// Writes a line to standard error, if anybody reads it: a terminal that was closed is no reason to end otherwise.
fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Sets what is done at Ctrl-C, when the program is asked to end, and when its terminal closes: the last not where it was started
/// not to mind that, by `nohup` say.
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
