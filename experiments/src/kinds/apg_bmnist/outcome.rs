//! The numbers of a run, and its table.

use super::evaluation::Row;
use super::{Evaluation, Settings};
use crate::blocks::checks;
use crate::population::{Entry, Reached};
use helmholtz_report::{Block, Cell, Kind, Table};

/// A run's result.
pub type Outcome = crate::population::Outcome<Evaluation>;

impl Outcome {
    /// Texts and tables of the numbers.
    pub fn blocks(&self, settings: &Settings) -> Vec<Block> {
        [self.training(settings), self.rows(settings)].concat()
    }

    /// Returns what the samplers reached in the last setting, for the common table.
    pub fn reached(&self, settings: &Settings) -> Reached {
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
        let setting = [("side", side), ("T", frames), ("D", digits)];
        Reached {
            title: format!("Bouncing digits, {side} x {side}, T = {frames}, D = {digits}"),
            setting: setting
                .map(|(name, size)| (name.into(), size as f64))
                .into(),
            entries: own.map(entry).collect(),
        }
    }

    fn training(&self, settings: &Settings) -> [Block; 2] {
        let (t, canvas) = (&settings.training, &settings.model.canvas);
        let text = format!(
            "Trained by {} gradient steps on {side} x {side} pixels and digits of {digit} x {digit}: K = {} sweeps, L = {} particles, {} \
             sequences of T = {} frames and D = {} digits, Adam with {:e}{}. Measured on {} other sequences of training images.",
            self.steps,
            t.sweeps,
            t.particles,
            t.batch,
            t.frames,
            t.digits_in_words(),
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
        let keys = [
            ("squared error a frame, one shot", "mse_one_shot"),
            ("squared error a frame, last sweep", "mse_end"),
            ("log joint, one shot", "log_joint_one_shot"),
            ("log joint, last sweep", "log_joint_end"),
            ("log Ẑ, one shot", "log_evidence_one_shot"),
            ("log Ẑ, last sweep", "log_evidence_end"),
            ("tracking error, one shot, pixels", "error_one_shot"),
            ("tracking error, last sweep, pixels", "error_end"),
            ("ESS / L, one shot", "ess_one_shot"),
            ("ESS / L, positions of a frame", "ess_where"),
            ("ESS / L, appearances", "ess_what"),
        ];
        let table = checks("training-checks", &keys, &self.checks, |x| {
            Cell::fixed(x, 3)
        });
        [Block::Text(text), Block::Table(table)]
    }

    /// Describes the rows of Hamiltonian Monte Carlo, if there are any.
    fn about_moved(&self, settings: &Settings) -> String {
        let moved = self
            .evaluation
            .rows
            .iter()
            .any(|row| row.accepted.is_some());
        let sequences = moved_sequences(settings);
        match moved {
            true => format!("; HMC-RWS on the first {sequences} of them"),
            false => String::new(),
        }
    }

    fn rows(&self, settings: &Settings) -> [Block; 2] {
        let e = &settings.evaluation;
        let text = format!(
            "{} sequences of test images for each T and D, mean ± standard error over sequences. MSE: squared error of the \
             posterior mean frame, summed over pixels, mean over frames{}. K = 1 is the one-shot \
             proposal alone, of the same nets; nothing was trained again for other T and D. Behind: by how much the last row of a \
             setting is better in MSE and in log joint, pairwise on the row's own sequences.",
            e.sequences,
            self.about_moved(settings),
        );
        let beside = self
            .evaluation
            .rows
            .iter()
            .any(|row| published(settings, row).is_some());
        let heads = ["T", "D", "Sampler", "K", "L", "MSE"].into_iter();
        let heads = heads.chain(beside.then_some("Published MSE")).chain([
            "Log joint",
            "Behind, MSE",
            "Behind, nats",
            "Tracking error, pixels",
            "Accepted, at step size",
        ]);
        let mut table = Table::new("samplers", "", heads);
        for row in &self.evaluation.rows {
            let accepted = row
                .accepted
                .map(|[share, step]| format!("{share:.2} at {step:.1e}"));
            let theirs = match published(settings, row) {
                Some(mse) => Cell::number(Kind::Published, mse.to_string(), mse),
                None => Cell::of(Kind::Published, ""),
            };
            let behind = |which: usize, digits| match &row.behind {
                Some(behind) => behind[which].cell(digits),
                None => Cell::of(Kind::Ours, ""),
            };
            let first = [
                Cell::count(row.frames),
                Cell::count(row.digits),
                row.sampler.as_str().into(),
                Cell::count(row.sweeps),
                Cell::count(row.particles),
                row.mse.cell(2),
            ];
            let last = [
                row.log_joint.cell(0),
                behind(0, 2),
                behind(1, 0),
                row.error.cell(2),
                accepted.unwrap_or_default().into(),
            ];
            table.push(
                first
                    .into_iter()
                    .chain(beside.then_some(theirs))
                    .chain(last),
            );
        }
        [Block::Text(text), Block::Table(table)]
    }
}

/// Number of sequences that Hamiltonian Monte Carlo moves on, the first of all.
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

/// The canvas' side, T and D.
fn setting(settings: &Settings, row: &Row) -> [usize; 3] {
    [settings.model.canvas.side, row.frames, row.digits]
}

/// The squared error that is published for the row's setting and sampler.
fn published(settings: &Settings, row: &Row) -> Option<f64> {
    let mut all = settings.published.iter();
    let own = all.find(|own| own.setting() == setting(settings, row))?;
    own.mse.get(&name(row)).copied()
}

/// Squared errors of a finished run, by setting and sampler.
pub fn squared_errors(settings: &Settings, outcome: &Outcome) -> Vec<([usize; 3], String, f64)> {
    let rows = outcome.evaluation.rows.iter();
    let error = |row: &Row| (setting(settings, row), name(row), row.mse.mean);
    rows.map(error).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::population::Measured;
    use crate::population::stepwise::Stepwise;
    use crate::source::Source;

    #[test]
    fn a_squared_error_is_published_of_its_setting_and_sampler_alone() {
        let source = Source::find("apg-bmnist").unwrap();
        let (settings, _) = <Settings as Stepwise>::parse(&source, "paper").unwrap();
        let none = Measured {
            mean: 0.0,
            standard_error: 0.0,
        };
        let row = |frames, digits, sweeps| Row {
            sampler: "APG".into(),
            frames,
            digits,
            sweeps,
            particles: 10,
            mse: none,
            log_joint: none,
            error: none,
            behind: None,
            accepted: None,
        };
        assert_eq!(published(&settings, &row(100, 3, 20)), Some(55.7));
        assert_eq!(published(&settings, &row(20, 5, 10)), Some(117.7));
        assert_eq!(published(&settings, &row(20, 2, 20)), None);
        assert_eq!(published(&settings, &row(20, 5, 5)), None);
        let (smaller, _) = <Settings as Stepwise>::parse(&source, "quick").unwrap();
        assert_eq!(published(&smaller, &row(100, 3, 20)), None);
    }
}
