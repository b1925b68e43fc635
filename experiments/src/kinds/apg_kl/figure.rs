//! The runs' checks, drawn.

use super::ends::End;
use crate::population::stepwise::points;
use helmholtz_report::figure::{Axis, Figure, Mark, Panel, Series};
use serde_json::Value;

/// A finished run.
#[derive(Debug, Clone)]
pub struct Trained {
    /// Where it ends.
    pub end: End,
    /// Its checks.
    pub metrics: Vec<Value>,
}

/// The divergences and effective sample sizes of all runs during training.
pub fn figure(title: &str, runs: &[Trained]) -> Figure {
    let panel = |title: &str, y: Axis, key: &str| Panel {
        title: title.into(),
        x: Axis::linear("gradient steps"),
        y,
        series: runs
            .iter()
            .zip(1..)
            .map(|(run, style)| Series {
                label: run.end.label(),
                mark: Mark::Line,
                style,
                points: points(&run.metrics, key),
            })
            .collect(),
    };
    Figure {
        title: title.into(),
        columns: 2,
        panels: vec![
            panel(
                "(μ, τ) given c, by cluster",
                Axis::log("KL(p‖q), nats"),
                "kl",
            ),
            panel(
                "c given (μ, τ), by instance",
                Axis::log("KL(p‖q), nats"),
                "assignment_kl",
            ),
            panel("block (μ, τ)", Axis::linear("ESS / L"), "ess_eta"),
            panel("block c", Axis::linear("ESS / L"), "ess_c"),
        ],
    }
}
