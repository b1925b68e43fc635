//! The figures of a run.

use super::{Evaluation, Settings};
use crate::population::stepwise::panel;
use helmholtz_report::figure::{Axis, Figure, Panel, Series};
use serde_json::Value;

/// The checks during training.
pub fn training(checks: &[Value]) -> Figure {
    let of = |title: &str, y: &str, what: &str| {
        let [start, end] = ["one_shot", "end"].map(|when| format!("{what}_{when}"));
        let lines = [("one shot", &*start), ("after the last sweep", &*end)];
        panel(checks, title, Axis::linear(y), &lines)
    };
    Figure {
        title: "Checks during training".into(),
        columns: 3,
        panels: vec![
            of("Reconstruction", "squared error a frame", "mse"),
            of("Log joint", "nats a sequence", "log_joint"),
            of("Tracking", "error, pixels", "error"),
        ],
    }
}

/// The squared error after each sweep, a curve for each setting.
pub fn sweeps(settings: &Settings, evaluation: &Evaluation) -> Figure {
    let pairs = settings.evaluation.settings.iter().zip(&evaluation.curves);
    let series = pairs.zip(1..).map(|((&[t, d], curve), style)| {
        let points = curve.iter().zip(1..).map(|(&mse, k)| [f64::from(k), mse]);
        Series::line(format!("T = {t}, D = {d}"), style, points.collect())
    });
    Figure {
        title: "Sequences of test images".into(),
        columns: 1,
        panels: vec![Panel {
            title: "Reconstruction after each sweep".into(),
            x: Axis::linear("K, the one-shot proposal counted"),
            y: Axis::linear("squared error a frame"),
            series: series.collect(),
        }],
    }
}
