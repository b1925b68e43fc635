//! The numbers of a run, and its table.

use super::rows::Row;
use super::{Evaluation, Settings};
use crate::blocks::{checks, or_none};
use crate::population::{Entry, Reached};
use helmholtz_report::{Block, Cell, Table};

/// A run's result.
pub type Outcome = crate::population::Outcome<Evaluation>;

impl Outcome {
    /// Texts and tables of the numbers.
    pub fn blocks(&self, settings: &Settings) -> Vec<Block> {
        [self.training(settings), self.rows(settings)].concat()
    }

    /// Returns what the samplers reached on the largest instances, for the common table.
    pub fn reached(&self, settings: &Settings) -> Reached {
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
        let (own, scale) = (
            rows.filter(|row| row.points == points),
            settings.model.noise,
        );
        Reached {
            title: format!("Deep mixtures, N = {points}, scale {scale}"),
            setting: [("N".into(), points as f64), ("scale".into(), scale)].into(),
            entries: own.map(entry).collect(),
        }
    }

    fn training(&self, settings: &Settings) -> [Block; 2] {
        let t = &settings.training;
        let text = format!(
            "Trained by {} gradient steps: K = {} sweeps, L = {} particles, {} instances of {} data, Adam with {:e}; the likelihood's \
             σ = {}, the data's {}. Measured on {} other instances.",
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
        let keys = [
            ("radius R", "radius"),
            ("log joint, one shot", "log_joint_one_shot"),
            ("log joint, last sweep", "log_joint_end"),
            ("accuracy, one shot", "accuracy_one_shot"),
            ("accuracy, last sweep", "accuracy_end"),
            ("ESS / L, one shot", "ess_one-shot"),
            ("ESS / L, block μ", "ess_mu"),
            ("ESS / L, block (c, h)", "ess_c, h"),
        ];
        let table = checks("training-checks", &keys, &self.checks, |x| {
            Cell::fixed(x, 3)
        });
        [Block::Text(text), Block::Table(table)]
    }

    fn rows(&self, settings: &Settings) -> [Block; 2] {
        let text = format!(
            "{} fresh instances of N data each, mean ± standard error over instances: the weighted log joint log p(x, μ, c, h) in \
             nats, and the share of data that the likeliest particle puts on their own rings; the same, for RWS and APG, over the \
             first {} instances whose rings do not touch. R = {:.3}, the data's {}. Nothing was trained again for another N. RWS is the one-shot \
             proposal of the same nets, BPG proposes the centres from their prior. HMC-RWS moves μ and h from the one-shot proposal, with \
             a step size found by a warm-up, and draws c from its exact conditional; its particles have equal weights, and the \
             likeliest is that with the highest log joint.",
            settings.evaluation.instances,
            settings.evaluation.separated,
            self.evaluation.radius,
            settings.data.radius,
        );
        let heads = [
            "N",
            "Sampler",
            "L",
            "K",
            "Log joint",
            "Accuracy",
            "Separated rings",
        ];
        let mut table = Table::new("samplers", "", heads);
        for row in &self.evaluation.rows {
            let label = match row.accepted {
                Some([share, step]) => {
                    let share = 100.0 * share;
                    format!("{} ({share:.0} % accepted, ε = {step:.1e})", row.label)
                }
                None => row.label.clone(),
            };
            table.push([
                Cell::count(row.points),
                label.into(),
                Cell::count(row.particles),
                Cell::count(row.sweeps),
                row.log_joint.cell(1),
                row.accuracy.cell(3),
                or_none(row.separated.as_ref(), |own| own.cell(3)),
            ]);
        }
        [Block::Text(text), Block::Table(table)]
    }
}
