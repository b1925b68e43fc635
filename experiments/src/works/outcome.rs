//! Outcome of a run with its measurements, and of a run's evaluation.

use super::variance::{Chains, Row};
use crate::cell_runner::KeptFile;
use helmholtz_evaluation::{Nll, Variance};
use helmholtz_runs::Provenance;
use serde::{Deserialize, Serialize};

/// A run's evaluation, as its folder keeps it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// For each S.
    pub rows: Vec<Nll>,
    /// The file beside the result with the estimate of each image.
    pub log_likelihoods: KeptFile,
    /// Provenance of the numbers.
    pub provenance: Provenance,
}

/// A measurement before the updates of an epoch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Point {
    /// Finished epochs.
    pub epoch: u64,
    /// 1, or 2 where the estimate uses the chains.
    pub stage: u8,
    /// Whether the chains move on from replicate to replicate, so that V is over their states too; else they are held.
    pub moving: bool,
    /// Variance of the gradient in θ.
    pub theta: Variance,
    /// Variance of the gradient in φ.
    pub phi: Variance,
    /// R.
    pub replicates: usize,
    /// Median seconds of an estimate.
    pub seconds: f64,
}

impl Point {
    /// Takes a point from a row of a measurement.
    pub fn of(epoch: u64, row: &Row) -> Self {
        let measured = &row.measured;
        Self {
            epoch,
            stage: 1 + u8::from(row.chains != Chains::None),
            moving: row.chains == Chains::Moving,
            theta: measured.theta,
            phi: measured.phi,
            replicates: measured.replicates,
            seconds: measured.seconds,
        }
    }
}

/// A run's result, as its folder keeps it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outcome {
    /// The measurements.
    pub points: Vec<Point>,
    /// Images of the mini-batch.
    pub images: usize,
    /// K.
    pub particles: usize,
    /// Finished epochs of stage I, for a method that keeps chains.
    pub switch: Option<u64>,
    /// Epochs trained.
    pub epochs_done: u64,
    /// Epochs of a whole run; the last is measured before its updates, and not made.
    pub epochs_planned: u64,
    /// The fingerprint of the images; absent in older results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
    /// Whether the images are generated.
    pub synthetic: bool,
    /// Provenance of the numbers.
    pub provenance: Provenance,
}
