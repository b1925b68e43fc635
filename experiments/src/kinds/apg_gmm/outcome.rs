//! The numbers of a run, and its table.

use super::evaluation::Row;
use super::{Evaluation, Settings};
use crate::blocks::{checks, small_or_fixed};
use crate::population::{Entry, Reached};
use crate::published::Setting;
use helmholtz_report::{Block, Cell, Kind, Table};

/// A run's result.
pub type Outcome = crate::population::Outcome<Evaluation>;

impl Outcome {
    /// Texts and tables of the numbers.
    pub fn blocks(&self, settings: &Settings) -> Vec<Block> {
        let mut blocks = [self.training(settings), self.rows(settings)].concat();
        blocks.extend(self.divisions(settings));
        blocks
    }

    /// Returns what the samplers reached, for the common table.
    pub fn reached(&self, settings: &Settings) -> Reached {
        let rows = self.evaluation.rows.iter();
        let entry = |row: &Row| Entry {
            sampler: match row.label.as_str() {
                "RWS" => "RWS".into(),
                label => format!("{label}, K = {}", row.sweeps),
            },
            log_joint: row.log_joint,
            instances: settings.evaluation.instances,
        };
        Reached {
            title: format!("Gaussian mixtures, N = {}", settings.evaluation.points),
            setting: setting(settings),
            entries: rows.map(entry).collect(),
        }
    }

    fn training(&self, settings: &Settings) -> [Block; 2] {
        let t = &settings.training;
        let text = format!(
            "Trained by {} gradient steps: K = {} sweeps, L = {} particles, {} instances of {} data, Adam with {:e}. Measured on \
             {} other instances. KL(p‖q) is inclusive, by cluster for (μ, τ) and by instance for c, in nats, given the true other \
             block. That of the one-shot proposal, by cluster, is from (μ, τ) given the true c, which it does not read. Least slope: of a \
             learned value on its own coordinate; below 0 it is mirrored. ESS / L after the last sweep.",
            self.steps,
            t.sweeps,
            t.particles,
            t.batch,
            t.points,
            t.learning_rate,
            t.check_instances,
        );
        let keys = [
            ("KL, (μ, τ) given c", "kl"),
            ("KL, c given (μ, τ)", "assignment_kl"),
            ("KL, (μ, τ) in one shot", "one_shot_kl"),
            ("least slope, one shot", "slope_one-shot"),
            ("least slope, (μ, τ) given c", "slope_eta"),
            ("ESS / L, one shot", "ess_one-shot"),
            ("ESS / L, block (μ, τ)", "ess_eta"),
            ("ESS / L, block c", "ess_c"),
            ("log Ẑ", "log_evidence"),
        ];
        let table = checks("training-checks", &keys, &self.checks, small_or_fixed);
        [Block::Text(text), Block::Table(table)]
    }

    fn rows(&self, settings: &Settings) -> [Block; 2] {
        let e = &settings.evaluation;
        let mut published = settings.published.iter();
        let published = published.find(|published| published.setting == setting(settings));
        let exact = self.expected.map_or(String::new(), |expected| {
            format!(" Exact draws from the posterior have {expected:.2} over all instances.")
        });
        let text = format!(
            "Log joint density log p(x, μ, τ, c), weighted, mean ± standard error over {} fresh instances of {} data, in \
             nats.{exact} All start from the one-shot proposal, which K counts as the first \
             sweep; alone, by the same nets, it is RWS. The difference is from Gibbs with K = {}, instance by instance. Published \
             numbers are of the paper's own instances.",
            e.instances, e.points, e.sweeps,
        );
        let heads = [
            "Sampler",
            "L",
            "K",
            "Log joint",
            "Without weights",
            "Over Gibbs",
        ];
        let all = heads.into_iter().chain(published.map(|_| "Published"));
        let mut table = Table::new("samplers", "", all);
        let mut found = false;
        for row in &self.evaluation.rows {
            let over = &row.over_gibbs;
            let over_text = format!("{:+.2} ± {:.2}", over.mean, over.standard_error);
            let sampler = format!("{}, K = {}", row.label, row.sweeps);
            let theirs = published.map(|published| match published.sampler == sampler {
                true => published_number(published.log_joint),
                false => Cell::of(Kind::Published, ""),
            });
            found |= published.is_some_and(|published| published.sampler == sampler);
            let own = [
                row.label.as_str().into(),
                Cell::count(row.particles),
                Cell::count(row.sweeps),
                row.log_joint.cell(2),
                Cell::fixed(row.plain, 2),
                Cell::number(Kind::Ours, over_text, over.mean)
                    .with_spread(Some(over.standard_error)),
            ];
            table.push(own.into_iter().chain(theirs));
        }
        if let Some(published) = published.filter(|_| !found) {
            let mut row = vec![Cell::from(published.sampler.as_str())];
            row.resize(heads.len(), Cell::default());
            row.push(published_number(published.log_joint));
            table.push(row);
        }
        [Block::Text(text), Block::Table(table)]
    }

    /// Nothing where nets have no sweeps.
    fn divisions(&self, settings: &Settings) -> Vec<Block> {
        if self.evaluation.divisions.is_empty() {
            return vec![];
        }
        let e = &settings.evaluation;
        let text = format!(
            "Sweeps against particles, K L = {}, on one instance of {} data, mean over {} runs:",
            e.budget, e.points, e.curve_runs,
        );
        let mut table = Table::new("budget", "", ["Blocks", "K", "L", "Log joint", "ESS / L"]);
        for d in &self.evaluation.divisions {
            table.push([
                d.label.as_str().into(),
                Cell::count(d.sweeps),
                Cell::count(d.particles),
                Cell::fixed(d.log_joint, 2),
                Cell::fixed(d.ess, 3),
            ]);
        }
        vec![Block::Text(text), Block::Table(table)]
    }
}

/// The size of the instances that samplers are measured on.
fn setting(settings: &Settings) -> Setting {
    [("N".into(), settings.evaluation.points as f64)].into()
}

fn published_number(value: f64) -> Cell {
    Cell::number(Kind::Published, value.to_string(), value)
}
