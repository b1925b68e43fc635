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
    /// −H(x, z): what the mean log joint of exact posterior draws is.
    pub expected: f64,
    /// What was measured.
    pub evaluation: Evaluation,
    /// Where it comes from.
    pub provenance: Provenance,
}

impl Outcome {
    /// The table in Markdown.
    pub fn markdown(&self, settings: &Settings) -> String {
        [
            format!("# {}\n", settings.title),
            self.training(settings),
            self.rows(settings),
            self.divisions(settings),
            self.provenance.markdown(),
        ]
        .join("\n")
    }

    /// What the samplers reached, for the common table.
    pub fn column(&self, settings: &Settings) -> Column {
        let rows = self.evaluation.rows.iter();
        let entry = |row: &Row| Entry {
            sampler: match row.label.as_str() {
                "RWS" => "RWS".into(),
                label => format!("{label}, K = {}", row.sweeps),
            },
            log_joint: row.log_joint,
            instances: settings.evaluation.instances,
        };
        Column {
            experiment: settings.name.clone(),
            title: format!("Gaussian mixtures, N = {}", settings.evaluation.points),
            steps: self.steps,
            folder: String::new(),
            entries: rows.map(entry).collect(),
            provenance: self.provenance.clone(),
        }
    }

    fn training(&self, settings: &Settings) -> String {
        let t = &settings.training;
        let mut out = format!(
            "Trained by {} gradient steps: K = {} sweeps, L = {} particles, {} instances of {} data, Adam with {:e}. Measured on \
             {} other instances. KL(p‖q) is inclusive, by cluster for (μ, τ) and by instance for c, in nats, given the true other \
             block; ESS / L after the last sweep.\n\n",
            self.steps,
            t.sweeps,
            t.particles,
            t.batch,
            t.points,
            t.learning_rate,
            t.check_instances,
        );
        out += "| | at the start | at the end |\n| --- | --- | --- |\n";
        for (label, key) in [
            ("KL, (μ, τ) given c", "kl"),
            ("KL, c given (μ, τ)", "assignment_kl"),
            ("ESS / L, one shot", "ess_one-shot"),
            ("ESS / L, block (μ, τ)", "ess_eta"),
            ("ESS / L, block c", "ess_c"),
            ("log Ẑ", "log_evidence"),
        ] {
            let of = |check: &Map<String, Value>| match check.get(key).and_then(Value::as_f64) {
                Some(x) if x.abs() < 0.1 => format!("{x:.2e}"),
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
        let e = &settings.evaluation;
        let published = settings.published.as_ref();
        let published = published.filter(|published| published.points == e.points);
        let published = published.map_or(String::new(), |published| {
            format!(
                " The published value for {}, of its own instances, is {}.",
                published.sampler, published.log_joint
            )
        });
        let mut out = format!(
            "Log joint density log p(x, μ, τ, c), weighted, mean ± standard error over {} fresh instances of {} data, in nats. Exact \
             draws from the posterior have {:.2} over all instances. All start from the one-shot proposal, which K counts as the first \
             sweep, and which alone, by the same nets, is RWS; the difference is from Gibbs with K = {}, instance by instance.{published}\n\n",
            e.instances, e.points, self.expected, e.sweeps,
        );
        out += "| sampler | L | K | log joint | without weights | over Gibbs |\n| --- | --- | --- | --- | --- | --- |\n";
        for row in &self.evaluation.rows {
            out += &format!(
                "| {} | {} | {} | {:.2} ± {:.2} | {:.2} | {:+.2} ± {:.2} |\n",
                row.label,
                row.particles,
                row.sweeps,
                row.log_joint.mean,
                row.log_joint.standard_error,
                row.plain,
                row.over_gibbs.mean,
                row.over_gibbs.standard_error,
            );
        }
        out
    }

    fn divisions(&self, settings: &Settings) -> String {
        let e = &settings.evaluation;
        let mut out = format!(
            "Sweeps against particles, K L = {}, on one instance of {} data, mean over {} runs:\n\n\
             | blocks | K | L | log joint | ESS / L |\n| --- | --- | --- | --- | --- |\n",
            e.budget, e.points, e.curve_runs,
        );
        for d in &self.evaluation.divisions {
            let line = format!(
                "| {} | {} | {} | {:.2} | {:.3} |\n",
                d.label, d.sweeps, d.particles, d.log_joint, d.ess
            );
            out += &line;
        }
        out
    }
}
