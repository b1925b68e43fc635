//! Kernels and estimators that are wrong in the ways in which published code was wrong, each with its repaired twin.

mod continuous;
mod discrete;
mod estimators;
mod finite;
mod hmc;
mod lagged;
mod paths;
mod smc;
mod trials;

use helmholtz_invariance::{InvarianceError, Report, Share, Suite};

/// One defect.
pub struct Specimen {
    /// What is wrong.
    pub defect: &'static str,
    /// Which test finds it.
    pub found_by: &'static str,
    pub check: Check,
}

/// How it is found. The first argument says whether the repaired twin is tested instead.
pub enum Check {
    /// By enumeration: the error, which is zero up to rounding for the twin.
    Exact(fn(bool) -> Result<f64, InvarianceError>),
    /// By sampling: the report of a test of this many samples.
    Sampled(fn(bool, usize, Share) -> Result<Report, InvarianceError>),
}

/// What it took.
pub enum Found {
    /// An exact error.
    Error(f64),
    /// The samples of the smallest test that failed, when they were doubled from 250.
    Samples(usize),
}

/// Whether the repaired twin is tested.
pub const REPAIRED: bool = true;

/// The error of a specimen whose kernel could not be made: no twin passes with it.
const NO_KERNEL: f64 = f64::INFINITY;

/// Everything in the gallery.
pub fn all() -> Vec<Specimen> {
    [
        finite::specimens(),
        trials::specimens(),
        discrete::specimens(),
        paths::specimens(),
        continuous::specimens(),
        hmc::specimens(),
        estimators::specimens(),
        smc::specimens(),
        lagged::specimens(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// More samples than this are not tried.
const MOST: usize = 128_000;

/// Looks for the defect; `None` if it is not found. Each test has one millionth of false-alarm rate.
pub fn find(specimen: &Specimen, repaired: bool) -> Result<Option<Found>, InvarianceError> {
    match specimen.check {
        Check::Exact(error) => {
            let error = error(repaired)?;
            Ok((error > helmholtz_invariance::TOLERANCE).then_some(Found::Error(error)))
        }
        Check::Sampled(test) => {
            let mut samples = if repaired { 16_000 } else { 250 };
            while samples <= MOST {
                let share = Suite::new(2024, 1).share(specimen.defect)?;
                match test(repaired, samples, share) {
                    Ok(report) if !report.passed() => return Ok(Some(Found::Samples(samples))),
                    Ok(_) | Err(InvarianceError::TooFewSamples { .. }) => {}
                    Err(error) => return Err(error),
                }
                if repaired {
                    return Ok(None);
                }
                samples *= 2;
            }
            Ok(None)
        }
    }
}

/// The rows of the table in the README.
pub fn table() -> Result<String, InvarianceError> {
    let mut rows = String::from("| defect | found by | with |\n|---|---|---|\n");
    for specimen in all() {
        let with = match find(&specimen, !REPAIRED)? {
            None => "NOT FOUND".to_owned(),
            Some(Found::Error(error)) => format!("exact: {error:.0e}"),
            Some(Found::Samples(samples)) => format!("{samples} samples"),
        };
        let (defect, found_by) = (specimen.defect, specimen.found_by);
        rows += &format!("| {defect} | {found_by} | {with} |\n");
    }
    Ok(rows)
}
