//! The numbers of a run, and its table.

use super::evaluation::Row;
use super::{Evaluation, Settings};
use crate::apg_table::{Column, Entry};
use crate::stepwise::Measured;
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
    /// What the samplers reached in the last setting, for the common table.
    pub fn column(&self, settings: &Settings) -> Column {
        let [frames, digits] = settings
            .evaluation
            .settings
            .last()
            .copied()
            .unwrap_or([0; 2]);
        let rows = self.evaluation.rows.iter();
        let entry = |row: &Row| Entry {
            sampler: name(row),
            log_joint: row.log_joint,
            instances: match row.accepted {
                Some(_) => moved_sequences(settings),
                None => settings.evaluation.sequences,
            },
        };
        let own = rows.filter(|row| [row.frames, row.digits] == [frames, digits]);
        let side = settings.model.canvas.side;
        Column {
            experiment: settings.name.clone(),
            title: format!("Bouncing digits, {side} x {side}, T = {frames}, D = {digits}"),
            steps: self.steps,
            folder: String::new(),
            entries: own.map(entry).collect(),
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
        let (t, canvas) = (&settings.training, &settings.model.canvas);
        let mut out = format!(
            "Trained by {} gradient steps on {side} x {side} pixels and digits of {digit} x {digit}: K = {} sweeps, L = {} particles, {} \
             sequences of T = {} frames and D = {} digits, Adam with {:e}{}. Measured on {} other sequences of training images.\n\n",
            self.steps,
            t.sweeps,
            t.particles,
            t.batch,
            t.frames,
            t.digits,
            t.learning_rate,
            if t.decay > 0.0 {
                format!(", falling to 0 over the last {} % of them", 100.0 * t.decay)
            } else {
                String::new()
            },
            t.check_sequences,
            side = canvas.side,
            digit = canvas.digit,
        );
        out += "| | at the start | at the end |\n| --- | --- | --- |\n";
        for (label, key) in [
            ("squared error a frame, one shot", "mse_one_shot"),
            ("squared error a frame, last sweep", "mse_end"),
            ("log joint, one shot", "log_joint_one_shot"),
            ("log joint, last sweep", "log_joint_end"),
            ("tracking error, one shot, pixels", "error_one_shot"),
            ("tracking error, last sweep, pixels", "error_end"),
            ("ESS / L, one shot", "ess_one_shot"),
            ("ESS / L, positions of a frame", "ess_where"),
            ("ESS / L, appearances", "ess_what"),
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
        let e = &settings.evaluation;
        let mut out = format!(
            "{} sequences of test images for each T and D, mean ± standard error over sequences. MSE: squared error of the \
             posterior mean frame, summed over pixels, mean over frames; HMC-RWS on the first {} of them. K = 1 is the one-shot \
             proposal alone, of the same nets; nothing was trained again for other T and D. Behind: by how much the last row of a \
             setting is better in MSE and in log joint, pairwise on the row's own sequences.\n\n",
            e.sequences,
            moved_sequences(settings),
        );
        let beside = self
            .evaluation
            .rows
            .iter()
            .any(|row| published(settings, row).is_some());
        let [heading, line] = match beside {
            true => [" *published MSE* |", " --- |"],
            false => ["", ""],
        };
        out += &format!(
            "| T | D | sampler | K | L | MSE |{heading} log joint | behind, MSE | behind, nats | tracking error, pixels | accepted, at step \
             size |\n\
             | --- | --- | --- | --- | --- | --- |{line} --- | --- | --- | --- | --- |\n"
        );
        let with_error = |of: &Measured, digits: usize| {
            format!("{:.digits$} ± {:.digits$}", of.mean, of.standard_error)
        };
        for row in &self.evaluation.rows {
            let accepted = match row.accepted {
                Some([share, step_size]) => format!("{share:.2} at {step_size:.1e}"),
                None => String::new(),
            };
            let theirs = published(settings, row).map_or(String::new(), |mse| format!("*{mse}*"));
            let theirs = if beside {
                format!(" {theirs} |")
            } else {
                theirs
            };
            let behind = |which: usize, digits| {
                let measured = row.behind.as_ref().map(|behind| &behind[which]);
                measured.map_or(String::new(), |behind| with_error(behind, digits))
            };
            out += &format!(
                "| {} | {} | {} | {} | {} | {} |{theirs} {} | {} | {} | {} | {accepted} |\n",
                row.frames,
                row.digits,
                row.sampler,
                row.sweeps,
                row.particles,
                with_error(&row.mse, 2),
                with_error(&row.log_joint, 0),
                behind(0, 2),
                behind(1, 0),
                with_error(&row.error, 2),
            );
        }
        out
    }
}

/// How many sequences Hamiltonian Monte Carlo moves on, the first of all.
fn moved_sequences(settings: &Settings) -> u64 {
    let e = &settings.evaluation;
    e.hmc.sequences.min(e.sequences)
}

/// The sampler with its K.
fn name(row: &Row) -> String {
    match (row.sampler.as_str(), row.sweeps) {
        ("APG", 1) => "one-shot, L as APG's".into(),
        (_, 1) => row.sampler.clone(),
        (_, sweeps) => format!("{}, K = {sweeps}", row.sampler),
    }
}

/// The squared error that is published for the row's setting and sampler.
fn published(settings: &Settings, row: &Row) -> Option<f64> {
    let setting = [settings.model.canvas.side, row.frames, row.digits];
    let mut all = settings.published.iter();
    let own = all.find(|own| [own.canvas, own.frames, own.digits] == setting)?;
    own.mse.get(&name(row)).copied()
}
