//! The runs' checks, drawn, and at their end.

use super::Division;
use crate::blocks::{NONE, or_none, small_or_fixed};
use crate::population::stepwise::points;
use helmholtz_report::figure::{Axis, Figure, Mark, Panel, Series};
use helmholtz_report::{Block, Cell, Document, Kind, Note, Table};
use helmholtz_runs::Provenance;
use serde_json::{Value, json};

/// A finished run.
#[derive(Debug, Clone)]
pub struct Trained {
    /// Its sweeps and particles.
    pub division: Division,
    /// From where to where the published KL, summed over clusters and dimensions, ends.
    pub published: Option<[f64; 2]>,
    /// Clusters of the mixture.
    pub clusters: usize,
    /// Gradient steps.
    pub steps: u64,
    /// The run folder.
    pub folder: std::path::PathBuf,
    /// Its checks.
    pub metrics: Vec<Value>,
    /// Provenance of the run.
    pub provenance: Provenance,
}

impl Trained {
    fn label(&self) -> String {
        let Division { sweeps, particles } = self.division;
        format!("K = {sweeps}, L = {particles}")
    }

    /// Where it ends.
    pub fn json(&self) -> Value {
        json!({
            "sweeps": self.division.sweeps,
            "particles": self.division.particles,
            "steps": self.steps,
            "folder": self.folder,
            "kl": self.last("kl"),
            "assignment_kl": self.last("assignment_kl"),
            "one_shot_kl": self.last("one_shot_kl"),
            "published": self.published,
        })
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

/// Document of where the runs end.
pub fn document(title: &str, runs: &[Trained]) -> Document {
    let text = "At the end of training, on instances with known assignments: KL(p‖q) of (μ, τ) given c, by cluster, and of c given \
                (μ, τ), by instance, in nats. The same of the one-shot proposal from (μ, τ) given c, by cluster; ESS / L of both \
                blocks after the last sweep. Published: the range of stored logs of the released code, about 200,000 steps.";
    let heads = [
        "K",
        "L",
        "Steps",
        "KL, (μ, τ)",
        "Published KL, (μ, τ)",
        "KL, c",
        "KL, one shot",
        "ESS / L, (μ, τ)",
        "ESS / L, c",
    ];
    let mut table = Table::new("ends", "", heads);
    for run in runs {
        let clusters = run.clusters as f64;
        let published = match run.published {
            Some([low, high]) => format!("{:.1e} to {:.1e}", low / clusters, high / clusters),
            None => NONE.into(),
        };
        let last = |key| or_none(run.last(key), small_or_fixed);
        table.push([
            Cell::count(run.division.sweeps),
            Cell::count(run.division.particles),
            Cell::count(run.steps),
            last("kl"),
            Cell::of(Kind::Published, published),
            last("assignment_kl"),
            last("one_shot_kl"),
            last("ess_eta"),
            last("ess_c"),
        ]);
    }
    let note = |run: &Trained| {
        let Provenance { commit, device, .. } = &run.provenance;
        let (label, folder) = (run.label(), run.folder.display());
        Note::remark(format!("{label}: {folder}; commit {commit}, {device}."))
    };
    let notes = runs.iter().map(note).collect();
    let blocks = vec![
        Block::Text(text.into()),
        Block::Table(table),
        Block::Notes(notes),
    ];
    Document::of_blocks(title, blocks)
}
