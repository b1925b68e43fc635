//! What several runs show together: a folder of its own, which a report finds.

use crate::cli::Reproduce;
use crate::error::HarnessError;
use helmholtz_runs::{OpenMode, RunFolder};
use serde_json::json;

/// The folder `<out>/<name>/<profile>/seed-<seed>`, for what has this title.
///
/// # Errors
/// A folder that cannot be written.
pub fn open(
    args: &Reproduce,
    name: &str,
    title: &str,
    seed: u64,
) -> Result<RunFolder, HarnessError> {
    let profile = match args.steps {
        Some(steps) => format!("{}-{steps}-steps", args.profile),
        None => args.profile.clone(),
    };
    let place = args.out.join(name).join(profile);
    let config = json!({"title": title});
    let mode = OpenMode::Resume;
    Ok(RunFolder::open(
        place.join(format!("seed-{seed}")),
        &config,
        mode,
    )?)
}

/// Says that the folder is complete.
///
/// # Errors
/// A folder that cannot be written.
pub fn finish(mut folder: RunFolder, args: &Reproduce, seed: u64) -> Result<(), HarnessError> {
    let provenance = folder.provenance(seed, args.device.as_str());
    Ok(folder.finish(&json!({"provenance": provenance}))?)
}
