//! Measures of a deep mixture: density and clustering, after each sweep.

use burn::module::{AutodiffModule, Module};
use helmholtz_dmm::Dmm;
use helmholtz_ops::AutodiffBackend;
use serde::{Deserialize, Serialize};

use super::Settings;
use super::of_size::OfSize;
use super::rows::{Row, Snapshot};
use crate::error::HarnessError;
use crate::population::populations::mean;
use crate::population::stepwise::Measuring;

/// Measurements at the end.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// R.
    pub radius: f64,
    /// Each setting: samplers side by side.
    pub rows: Vec<Row>,
    /// The mean log joint of amortized population Gibbs after each sweep, over that of the one-shot proposal, by setting.
    pub curves: Vec<Vec<f64>>,
    /// The first instance of the last setting.
    pub snapshots: Vec<Snapshot>,
}

/// Measures the trained model.
///
/// # Errors
/// Weights that are none, and what `on_progress` says.
pub fn evaluate<B: AutodiffBackend>(
    settings: &Settings,
    model: &Dmm<B>,
    device: &B::Device,
    measuring: &Measuring<'_>,
) -> Result<Evaluation, HarnessError> {
    let (taped, model) = (&model.clone().no_grad(), &model.valid());
    let mut evaluation = Evaluation {
        radius: model.radius(),
        ..Evaluation::default()
    };
    for &points in &settings.evaluation.points {
        let of_size = OfSize {
            settings,
            taped,
            model,
            device,
            points,
            measuring,
        };
        let watched = of_size.rows(&mut evaluation.rows)?;
        let start = mean(&watched[0].log_joint);
        let curve = watched.iter().map(|w| mean(&w.log_joint) - start);
        evaluation.curves.push(curve.collect());
        evaluation.snapshots = of_size.snapshots(&watched);
    }
    Ok(evaluation)
}
