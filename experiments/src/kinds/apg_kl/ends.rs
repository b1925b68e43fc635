//! Where the runs end, side by side.

use crate::blocks::{NONE, or_none, small_or_fixed};
use crate::records::{Reader, read};
use helmholtz_report::{Block, Cell, Document, Kind, Note, Table};
use helmholtz_runs::Provenance;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Where the runs of a seed end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ends {
    /// Heads it.
    pub title: String,
    /// Each run's.
    pub ends: Vec<End>,
}

/// Where a run ends: the last of what it watched, nothing where it did not watch it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct End {
    /// K, the one-shot proposal counted.
    pub sweeps: usize,
    /// L.
    pub particles: usize,
    /// From where to where the published KL, summed over clusters and dimensions, ends.
    pub published: Option<[f64; 2]>,
    /// Clusters of the mixture.
    pub clusters: usize,
    /// Gradient steps.
    pub steps: u64,
    /// The run folder.
    pub folder: PathBuf,
    /// KL(p‖q) of (μ, τ) given c, nats a cluster.
    pub kl: Option<f64>,
    /// KL(p‖q) of c given (μ, τ), nats an instance.
    pub assignment_kl: Option<f64>,
    /// The first of the one-shot proposal.
    pub one_shot_kl: Option<f64>,
    /// ESS / L of block (μ, τ).
    pub ess_eta: Option<f64>,
    /// ESS / L of block c.
    pub ess_c: Option<f64>,
    /// Provenance of the run.
    pub provenance: Provenance,
}

/// Reader of the folder that a seed's runs share.
pub const READER: Reader =
    Reader::of_documents(|kept| Some(read::<Ends>(kept.result?.get("table")?)?.document()));

impl End {
    /// How its budget is divided.
    pub fn label(&self) -> String {
        format!("K = {}, L = {}", self.sweeps, self.particles)
    }
}

impl Ends {
    /// A row for each run.
    fn table(&self) -> Table {
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
        for end in &self.ends {
            let clusters = end.clusters as f64;
            let published = match end.published {
                Some([low, high]) => format!("{:.1e} to {:.1e}", low / clusters, high / clusters),
                None => NONE.into(),
            };
            let number = |value| or_none(value, small_or_fixed);
            table.push([
                Cell::count(end.sweeps),
                Cell::count(end.particles),
                Cell::count(end.steps),
                number(end.kl),
                Cell::of(Kind::Published, published),
                number(end.assignment_kl),
                number(end.one_shot_kl),
                number(end.ess_eta),
                number(end.ess_c),
            ]);
        }
        table
    }

    /// The table, with what its numbers are.
    pub fn document(&self) -> Document {
        let text = "At the end of training, on instances with known assignments: KL(p‖q) of (μ, τ) given c, by cluster, and of c given \
                    (μ, τ), by instance, in nats. The same of the one-shot proposal from (μ, τ) given c, by cluster; ESS / L of both \
                    blocks after the last sweep. Published: the range of stored logs of the released code, about 200,000 steps.";
        let note = |end: &End| {
            let Provenance { commit, device, .. } = &end.provenance;
            let (label, folder) = (end.label(), end.folder.display());
            Note::remark(format!("{label}: {folder}; commit {commit}, {device}."))
        };
        let blocks = vec![
            Block::Text(text.into()),
            Block::Table(self.table()),
            Block::Notes(self.ends.iter().map(note).collect()),
        ];
        Document::of_blocks(&self.title, blocks)
    }
}
