//! The figures of a run.

use super::{Evaluation, Settings};
use crate::population::stepwise::points;
use helmholtz_report::figure::{Axis, Figure, Mark, Panel, Series};
use serde_json::Value;

pub fn training(metrics: &[Value]) -> Figure {
    let of = |key: &str| points(metrics, key);
    let panel = |title: &str, y: &str, series: &[(&str, &str)]| Panel {
        title: title.into(),
        x: Axis::linear("gradient steps"),
        y: Axis::linear(y),
        series: (series.iter().zip(1..))
            .map(|((label, key), style)| Series::line(*label, style, of(key)))
            .collect(),
    };
    let both = |what: &str| [format!("{what}_one_shot"), format!("{what}_end")];
    let (joint, accuracy) = (both("log_joint"), both("accuracy"));
    let ends = |keys: &[String; 2]| -> [(&'static str, String); 2] {
        [
            ("one shot", keys[0].clone()),
            ("after the last sweep", keys[1].clone()),
        ]
    };
    let with = |title, y, keys: &[String; 2]| {
        let ends = ends(keys);
        let series: Vec<(&str, &str)> = ends.iter().map(|(l, k)| (*l, k.as_str())).collect();
        panel(title, y, &series)
    };
    Figure {
        title: "Checks during training".into(),
        columns: 2,
        panels: vec![
            with("Log joint", "nats an instance", &joint),
            with("Clustering", "share of data on their rings", &accuracy),
            panel("Radius", "R", &[("learned", "radius")]),
            panel(
                "Effective sample size",
                "ESS / L",
                &[
                    ("one shot", "ess_one-shot"),
                    ("block μ", "ess_mu"),
                    ("block (c, h)", "ess_c, h"),
                ],
            ),
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
