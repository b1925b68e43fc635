//! The figures of a run.

use super::{Evaluation, Settings};
use crate::population::stepwise::panel;
use helmholtz_report::figure::{Axis, Figure, Mark, Panel, Series};
use serde_json::Value;

/// The checks during training.
pub fn training(checks: &[Value]) -> Figure {
    let of = |title, y: &str, lines: &[(&str, &str)]| panel(checks, title, Axis::linear(y), lines);
    let joint = [
        ("one shot", "log_joint_one_shot"),
        ("after the last sweep", "log_joint_end"),
    ];
    let accuracy = [
        ("one shot", "accuracy_one_shot"),
        ("after the last sweep", "accuracy_end"),
    ];
    let sizes = [
        ("one shot", "ess_one-shot"),
        ("block μ", "ess_mu"),
        ("block (c, h)", "ess_c, h"),
    ];
    Figure {
        title: "Checks during training".into(),
        columns: 2,
        panels: vec![
            of("Log joint", "nats an instance", &joint),
            of("Clustering", "share of data on their rings", &accuracy),
            of("Radius", "R", &[("learned", "radius")]),
            of("Effective sample size", "ESS / L", &sizes),
        ],
    }
}

fn sweeps(settings: &Settings, evaluation: &Evaluation) -> Figure {
    let pairs = settings.evaluation.points.iter().zip(&evaluation.curves);
    let series = pairs.zip(0..).map(|((n, curve), style)| {
        let points = curve.iter().zip(1..).map(|(&y, k)| [f64::from(k), y]);
        Series::line(format!("N = {n}"), style, points.collect())
    });
    Figure {
        title: "Amortized population Gibbs on fresh instances".into(),
        columns: 1,
        panels: vec![Panel {
            title: "Log joint over that of the one-shot proposal".into(),
            x: Axis::linear("K, the one-shot proposal counted"),
            y: Axis::linear("nats an instance"),
            series: series.collect(),
        }],
    }
}

fn rings(evaluation: &Evaluation) -> Figure {
    let panels = evaluation.snapshots.iter().map(|snapshot| {
        let clusters = snapshot.data.iter().map(|(_, c)| c + 1).max().unwrap_or(0);
        let series = (0..clusters).map(|cluster| Series {
            label: format!("ring {}", cluster + 1),
            mark: Mark::Points,
            style: cluster,
            points: (snapshot.data.iter())
                .filter(|(_, own)| *own == cluster)
                .map(|(x, _)| *x)
                .collect(),
        });
        Panel {
            title: format!("K = {}", snapshot.sweeps),
            x: Axis::linear("x1"),
            y: Axis::linear("x2"),
            series: series.collect(),
        }
    });
    Figure {
        title: "The rings of the likeliest particle".into(),
        columns: 2,
        panels: panels.collect(),
    }
}

/// Figures of the evaluation, by the names of their files.
pub fn all(settings: &Settings, evaluation: &Evaluation) -> [(&'static str, Figure); 2] {
    [
        ("sweeps", sweeps(settings, evaluation)),
        ("rings", rings(evaluation)),
    ]
}
