//! `status`: how far an experiment is, from its run folders.

use crate::cli::Reproduce;
use crate::cli::cluster;
use crate::kinds;
use crate::registry::Registry;
use crate::request::{NewRunner, Request};
use crate::source::Source;
use helmholtz_datasets::Locator;
use helmholtz_harness::error::HarnessError;
use helmholtz_harness::overview::overview;
use helmholtz_harness::reproduce::End;
use helmholtz_harness::streams::Streams;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Shows which runs are done, running, waiting and failed. Nothing is computed, so that no device is needed.
///
/// # Errors
/// Those of opening the experiment.
pub fn status(
    args: &Reproduce,
    registry: &Registry,
    locator: Locator,
    new_runner: &NewRunner,
    stop: &Arc<AtomicBool>,
    streams: &Streams,
) -> Result<End, HarnessError> {
    let flags = [
        ("--fresh", args.fresh),
        ("--dry-run", args.dry_run),
        ("--jobs", args.jobs.is_some()),
        ("--threads", args.threads.is_some()),
        ("--on", args.cluster.on.is_some()),
    ];
    args.reject(
        "status",
        &flags,
        "it shows the runs that the other options select",
    )?;
    let args = &cluster::planned(args)?;
    let request = Request {
        args,
        source: &Source::find(&args.experiment)?,
        registry,
        locator: &locator,
        new_runner,
        stop,
        streams,
    };
    overview(&*kinds::open(&request)?, args.json, streams)
}
