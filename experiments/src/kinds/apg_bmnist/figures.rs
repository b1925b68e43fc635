//! The figures of a run.

use super::{Evaluation, Settings};
use crate::population::stepwise::points;
use helmholtz_report::figure::{Axis, Figure, Panel, Series};
use serde_json::Value;

/// The checks during training.
pub fn training(metrics: &[Value]) -> Figure {
    let of = |key: &str| points(metrics, key);
    let panel = |title: &str, y: Axis, what: &str| Panel {
        title: title.into(),
        x: Axis::linear("gradient steps"),
        y,
        series: vec![
            Series::line("one shot", 1, of(&format!("{what}_one_shot"))),
            Series::line("after the last sweep", 2, of(&format!("{what}_end"))),
        ],
    };
    Figure {
        title: "Checks during training".into(),
        columns: 3,
        panels: vec![
            panel(
                "Reconstruction",
                Axis::linear("squared error a frame"),
                "mse",
            ),
            panel("Log joint", Axis::linear("nats a sequence"), "log_joint"),
            panel("Tracking", Axis::linear("error, pixels"), "error"),
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
