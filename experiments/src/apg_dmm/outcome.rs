//! The numbers of a run, and its table.

use super::evaluation::Row;
use super::{Evaluation, Settings};
use crate::apg_table::{Column, Entry};
use helmholtz_runs::Provenance;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A run's result, as its folder keeps it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Gradient steps.
    pub steps: u64,
    /// The first check, at the start, and the last.
    pub checks: [Map<String, Value>; 2],
    /// What was measured.
    pub evaluation: Evaluation,
    /// Where it comes from.
    pub provenance: Provenance,
}

impl Outcome {
    /// What the samplers reached on the largest instances, for the common table.
    pub fn column(&self, settings: &Settings) -> Column {
        let points = settings.evaluation.points.last().copied().unwrap_or(0);
        let rows = self.evaluation.rows.iter();
        let entry = |row: &Row| Entry {
            sampler: match row.sweeps {
                1 => row.label.clone(),
                sweeps => format!("{}, K = {sweeps}", row.label),
            },
            log_joint: row.log_joint,
            instances: settings.evaluation.instances,
        };
        Column {
            experiment: settings.name.clone(),
            title: format!(
                "Deep mixtures, N = {points}, scale {}",
                settings.model.noise
            ),
            steps: self.steps,
            folder: String::new(),
            entries: rows.filter(|row| row.points == points).map(entry).collect(),
            provenance: self.provenance.clone(),
        }
    }

    /// The table in Markdown.
    pub fn markdown(&self, settings: &Settings) -> String {
        [
            format!("# {}\n", settings.title),
            self.training(settings),
            self.rows(settings),
            self.provenance.markdown(),
        ]
        .join("\n")
    }

    fn training(&self, settings: &Settings) -> String {
        let t = &settings.training;
        let mut out = format!(
            "Trained by {} gradient steps: K = {} sweeps, L = {} particles, {} instances of {} data, Adam with {:e}; the likelihood's \
             σ = {}, the data's {}. Measured on {} other instances.\n\n",
            self.steps,
            t.sweeps,
            t.particles,
            t.batch,
            t.points,
            t.learning_rate,
            settings.model.noise,
            settings.data.noise,
            t.check_instances,
        );
        out += "| | at the start | at the end |\n| --- | --- | --- |\n";
        for (label, key) in [
            ("radius R", "radius"),
            ("log joint, one shot", "log_joint_one_shot"),
            ("log joint, last sweep", "log_joint_end"),
            ("accuracy, one shot", "accuracy_one_shot"),
            ("accuracy, last sweep", "accuracy_end"),
            ("ESS / L, one shot", "ess_one-shot"),
            ("ESS / L, block μ", "ess_mu"),
            ("ESS / L, block (c, h)", "ess_c, h"),
        ] {
            let of = |check: &Map<String, Value>| match check.get(key).and_then(Value::as_f64) {
                Some(x) => format!("{x:.3}"),
                None => "—".into(),
            };
            out += &format!(
                "| {label} | {} | {} |\n",
                of(&self.checks[0]),
                of(&self.checks[1])
            );
        }
        out
    }

    fn rows(&self, settings: &Settings) -> String {
        let mut out = format!(
            "{} fresh instances of N data each, mean ± standard error over instances: the weighted log joint log p(x, μ, c, h) in \
             nats, and the share of data that the likeliest particle puts on their own rings; the same, for RWS and APG, over the \
             first {} instances whose rings do not touch. R = {:.3}, the data's {}. Nothing was trained again for another N. RWS is the one-shot \
             proposal of the same nets, BPG proposes the centres from their prior. HMC-RWS moves μ and h from the one-shot proposal, with \
             a step size found by a warm-up, and draws c from its exact conditional; its particles have equal weights, and the \
             likeliest is that with the highest log joint.\n\n",
            settings.evaluation.instances,
            settings.evaluation.separated,
            self.evaluation.radius,
            settings.data.radius,
        );
        out += "| N | sampler | L | K | log joint | accuracy | separated rings |\n| --- | --- | --- | --- | --- | --- | --- |\n";
        for row in &self.evaluation.rows {
            let separated = match row.separated {
                Some(own) => format!("{:.3} ± {:.3}", own.mean, own.standard_error),
                None => "—".into(),
            };
            let label = match row.accepted {
                Some([share, step]) => {
                    format!(
                        "{} ({:.0} % accepted, ε = {step:.1e})",
                        row.label,
                        100.0 * share
                    )
                }
                None => row.label.clone(),
            };
            out += &format!(
                "| {} | {label} | {} | {} | {:.1} ± {:.1} | {:.3} ± {:.3} | {separated} |\n",
                row.points,
                row.particles,
                row.sweeps,
                row.log_joint.mean,
                row.log_joint.standard_error,
                row.accuracy.mean,
                row.accuracy.standard_error,
            );
        }
        out
    }
}
