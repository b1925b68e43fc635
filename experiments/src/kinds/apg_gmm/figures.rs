//! The figures of a run.

use super::evaluation::{Curve, Division, Evaluation, Snapshot};
use crate::population::stepwise;
use helmholtz_report::figure::{Axis, Figure, Mark, Panel, Series};
use serde_json::Value;

/// Points of an ellipse.
const ELLIPSE: u32 = 60;

fn panel(title: &str, x: Axis, y: Axis, series: Vec<Series>) -> Panel {
    Panel {
        title: title.into(),
        x,
        y,
        series,
    }
}

/// Draws what was watched during training: the divergences of the proposals from the exact conditionals, and sample sizes.
pub fn training(checks: &[Value]) -> Figure {
    let of = |title, y, lines: &[(&str, &str)]| stepwise::panel(checks, title, y, lines);
    let divergence = || Axis::log("KL(p‖q), nats");
    let by_cluster = [("given c", "kl"), ("one shot", "one_shot_kl")];
    let sizes = [
        ("one shot", "ess_one-shot"),
        ("block (μ, τ)", "ess_eta"),
        ("block c", "ess_c"),
    ];
    let (size, evidence) = ("ESS / L", "log Ẑ of an instance, nats");
    Figure {
        title: "Proposals during training, on instances with known assignments".into(),
        columns: 2,
        panels: vec![
            of("(μ, τ), by cluster", divergence(), &by_cluster),
            of(
                "c given (μ, τ), by instance",
                divergence(),
                &[("APG", "assignment_kl")],
            ),
            of("effective sample size", Axis::linear(size), &sizes),
            of(
                "evidence",
                Axis::linear(evidence),
                &[("APG", "log_evidence")],
            ),
        ],
    }
}

/// Figure 2: the log joint of one instance against moves.
pub fn curves(curves: &[Curve]) -> Figure {
    let series = curves.iter().zip(1..).map(|(curve, style)| {
        let points = curve.log_joint.iter().zip(0..);
        let points = points.map(|(&y, x)| [f64::from(x), y]).collect();
        Series::line(
            format!("{}, L = {}", curve.label, curve.particles),
            style,
            points,
        )
    });
    Figure {
        title: "One instance: the log joint after each move".into(),
        columns: 1,
        panels: vec![panel(
            "mean over runs",
            Axis::linear("moves after the one-shot proposal"),
            Axis::linear("Σ W log p(x, z), nats"),
            series.collect(),
        )],
    }
}

/// Figure 3: sweeps against particles.
pub fn divisions(divisions: &[Division]) -> Figure {
    let mut labels: Vec<&str> = divisions.iter().map(|d| d.label.as_str()).collect();
    labels.dedup();
    let series = |value: fn(&Division) -> f64| -> Vec<Series> {
        let own = |(label, style): (&&str, usize)| {
            let own = divisions.iter().filter(|d| d.label == **label);
            Series::line(
                *label,
                style,
                own.map(|d| [d.sweeps as f64, value(d)]).collect(),
            )
        };
        labels.iter().zip(1..).map(own).collect()
    };
    let sweeps = || Axis::linear("K, the one-shot proposal counted");
    Figure {
        title: "One instance: sweeps K against particles L, K L fixed".into(),
        columns: 2,
        panels: vec![
            panel(
                "log joint",
                sweeps(),
                Axis::linear("Σ W log p(x, z), nats"),
                series(|d| d.log_joint),
            ),
            panel(
                "effective sample size",
                sweeps(),
                Axis::linear("ESS / L"),
                series(|d| d.ess),
            ),
        ],
    }
}

/// Figure 1: one particle, with two standard deviations of each cluster.
pub fn snapshots(snapshots: &[Snapshot]) -> Figure {
    let of = |snapshot: &Snapshot| {
        let mut series = vec![];
        for (cluster, [mean, sd]) in snapshot.clusters.iter().enumerate() {
            let own = snapshot
                .data
                .iter()
                .filter(|(_, chosen)| *chosen == cluster);
            series.push(Series {
                label: format!("cluster {}", cluster + 1),
                mark: Mark::Points,
                style: cluster + 1,
                points: own.map(|(x, _)| *x).collect(),
            });
            let at = |i: u32| {
                let angle = f64::from(i) * std::f64::consts::TAU / f64::from(ELLIPSE);
                [
                    mean[0] + 2.0 * sd[0] * angle.cos(),
                    mean[1] + 2.0 * sd[1] * angle.sin(),
                ]
            };
            series.push(Series::line(
                "two standard deviations",
                cluster + 1,
                (0..=ELLIPSE).map(at).collect(),
            ));
        }
        let title = match snapshot.moves {
            0 => "one shot".to_string(),
            moves => format!("{moves} moves"),
        };
        panel(&title, Axis::linear("x1"), Axis::linear("x2"), series)
    };
    Figure {
        title: "A single particle".into(),
        columns: 3,
        panels: snapshots.iter().map(of).collect(),
    }
}

/// Figures of the evaluation, by the names of their files.
pub fn all(evaluation: &Evaluation) -> [(&'static str, Figure); 3] {
    [
        ("courses", curves(&evaluation.curves)),
        ("budget", divisions(&evaluation.divisions)),
        ("particle", snapshots(&evaluation.snapshots)),
    ]
}
