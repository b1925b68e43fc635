//! What several runs show together: a folder of its own, which a report finds.

use crate::cli::Reproduce;
use crate::error::HarnessError;
use helmholtz_runs::{OpenMode, RunFolder};
use serde_json::json;
use std::path::Path;

/// The folder `<out>/<name>/<profile>/<seed>`, the seed's as the first run's folder `beside` is called, for what has this title.
///
/// # Errors
/// A folder that cannot be written.
pub fn open(
    args: &Reproduce,
    name: &str,
    title: &str,
    beside: &Path,
) -> Result<RunFolder, HarnessError> {
    let profile = match args.steps {
        Some(steps) => format!("{}-{steps}-steps", args.profile),
        None => args.profile.clone(),
    };
    let seed = beside.file_name().unwrap_or_default();
    let place = args.out.join(name).join(profile).join(seed);
    Ok(RunFolder::open(
        place,
        &json!({"title": title}),
        OpenMode::Resume,
    )?)
}

/// Says that the folder is complete.
///
/// # Errors
/// A folder that cannot be written.
pub fn finish(mut folder: RunFolder, args: &Reproduce) -> Result<(), HarnessError> {
    let seed = args
        .seeds
        .as_deref()
        .and_then(|seeds| seeds.first().copied());
    let provenance = folder.provenance(seed.unwrap_or(1), args.device.as_str());
    Ok(folder.finish(&json!({"provenance": provenance}))?)
}
