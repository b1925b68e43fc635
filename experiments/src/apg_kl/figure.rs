//! The runs' checks, drawn, and at their end.

use super::Division;
use crate::plot::{Axis, Figure, Mark, Panel, Series};
use crate::stepwise::points;
use helmholtz_runs::Provenance;
use serde_json::Value;

/// A finished run.
#[derive(Debug, Clone)]
pub struct Trained {
    /// Its sweeps and particles.
    pub division: Division,
    /// Clusters of the mixture.
    pub clusters: usize,
    /// Gradient steps.
    pub steps: u64,
    /// The run folder.
    pub folder: std::path::PathBuf,
    /// Its checks.
    pub metrics: Vec<Value>,
    /// Where it comes from.
    pub provenance: Provenance,
}

impl Trained {
    fn label(&self) -> String {
        let Division {
            sweeps, particles, ..
        } = self.division;
        format!("K = {sweeps}, L = {particles}")
    }

    fn points(&self, key: &str) -> Vec<[f64; 2]> {
        points(&self.metrics, key)
    }

    fn last(&self, key: &str) -> Option<f64> {
        self.points(key).last().map(|[_, value]| *value)
    }
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
                label: run.label(),
                mark: Mark::Line,
                style,
                points: run.points(key),
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

/// Where the runs end, in Markdown.
pub fn table(title: &str, runs: &[Trained]) -> String {
    let mut out = format!(
        "# {title}\n\nAt the end of training, on instances with known assignments: KL(p‖q) of (μ, τ) given c, by cluster, and of c given (μ, τ), by \
         instance, in nats; ESS / L of both blocks after the last sweep. *Published*: stored logs of the released code, about 200,000 \
         steps.\n\n| K | L | steps | KL, (μ, τ) | published | KL, c | ESS / L, (μ, τ) | ESS / L, c |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- |\n"
    );
    let number = |value: Option<f64>| match value {
        Some(x) if x.abs() < 0.1 => format!("{x:.2e}"),
        Some(x) => format!("{x:.3}"),
        None => "—".into(),
    };
    for run in runs {
        let clusters = run.clusters as f64;
        let published = match run.division.published {
            Some([low, high]) => format!("*{:.1e} to {:.1e}*", low / clusters, high / clusters),
            None => "—".into(),
        };
        out += &format!(
            "| {} | {} | {} | {} | {published} | {} | {} | {} |\n",
            run.division.sweeps,
            run.division.particles,
            run.steps,
            number(run.last("kl")),
            number(run.last("assignment_kl")),
            number(run.last("ess_eta")),
            number(run.last("ess_c")),
        );
    }
    out += "\n";
    for run in runs {
        let Provenance { commit, device, .. } = &run.provenance;
        out += &format!(
            "- {}: `{}`; commit {commit}, {device}.\n",
            run.label(),
            run.folder.display()
        );
    }
    out
}
