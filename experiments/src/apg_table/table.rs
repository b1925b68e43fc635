//! Columns side by side.

use super::{Published, Settings};
use crate::plot::field;
use crate::stepwise::Measured;
use helmholtz_runs::Provenance;
use serde::Serialize;

/// What a sampler reached.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Entry {
    /// The sampler, with K.
    pub sampler: String,
    /// Nats an instance.
    pub log_joint: Measured,
    /// Over how many instances, the first of those of the column.
    pub instances: u64,
}

/// What the run of a model's experiment reached.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Column {
    /// The experiment.
    pub experiment: String,
    /// The model and the size of its instances.
    pub title: String,
    /// Gradient steps.
    pub steps: u64,
    /// The run folder.
    pub folder: String,
    /// Sampler by sampler.
    pub entries: Vec<Entry>,
    /// Where it comes from.
    pub provenance: Provenance,
}

/// The table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Table {
    /// Heads it.
    pub title: String,
    /// Its columns.
    pub columns: Vec<Column>,
    /// What is published.
    pub published: Vec<Published>,
}

impl Table {
    /// Of these columns.
    pub fn new(settings: &Settings, columns: Vec<Column>) -> Self {
        Self {
            title: settings.title.clone(),
            columns,
            published: settings.published.clone(),
        }
    }

    /// The samplers, in the order of their first appearance.
    fn samplers(&self) -> Vec<&str> {
        let mut samplers: Vec<&str> = Vec::new();
        let entries = self.columns.iter().flat_map(|column| &column.entries);
        for entry in entries {
            if !samplers.contains(&entry.sampler.as_str()) {
                samplers.push(&entry.sampler);
            }
        }
        samplers
    }

    fn published(&self, column: &Column, sampler: &str) -> Option<f64> {
        let own = self.published.iter().find(|own| {
            let of_column = [&own.experiment, &own.setting] == [&column.experiment, &column.title];
            of_column && own.sampler == sampler
        });
        own.map(|own| own.log_joint)
    }

    /// Markdown.
    pub fn markdown(&self) -> String {
        let mut out = format!("# {}\n\n", self.title);
        out += "Mean log joint, nats an instance ± standard error over instances; *published* numbers in italics. RWS is the \
                one-shot proposal of the same nets with as many particles as the others use in all. K counts it as the first \
                sweep. Where n is given, a number is over the first n instances of its column. HMC-RWS moves particles from the same proposal; for bouncing \
                digits by nearest pixels, where the likelihood pulls at no position, and by bilinear ones.\n\n";
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let titles = self.columns.iter().map(|column| column.title.clone());
        out += &line(std::iter::once("sampler".into()).chain(titles).collect());
        out += &line(vec!["---".into(); self.columns.len() + 1]);
        for sampler in self.samplers() {
            let cells = self.columns.iter().map(|column| {
                let own = column.entries.iter().find(|entry| entry.sampler == sampler);
                let own = own.map(|entry| {
                    let Measured {
                        mean,
                        standard_error,
                    } = entry.log_joint;
                    let text = format!("{mean:.1} ± {standard_error:.1}");
                    let all = column.entries.iter().map(|entry| entry.instances).max();
                    match all.is_some_and(|all| entry.instances < all) {
                        true => format!("{text} (n = {})", entry.instances),
                        false => text,
                    }
                });
                let published = self.published(column, sampler);
                let published = published.map(|value| format!("*{value}*"));
                let both: Vec<String> = own.into_iter().chain(published).collect();
                match both.is_empty() {
                    true => "—".into(),
                    false => both.join(" "),
                }
            });
            out += &line(std::iter::once(sampler.to_string()).chain(cells).collect());
        }
        out += "\nThe published numbers are the best of their rows, the only ones that can be read in the paper's text, printed \
                without their scale, which is inferred; the settings behind them are the paper's own.\n\n";
        for column in &self.columns {
            out += &format!(
                "- {}: {} gradient steps, `{}`; commit {}, {}.\n",
                column.title,
                column.steps,
                column.folder,
                column.provenance.commit,
                column.provenance.device,
            );
        }
        out
    }

    /// `experiment,steps,sampler,log_joint,standard_error,instances,published`, a line for each entry.
    pub fn csv(&self) -> String {
        let mut out =
            String::from("experiment,steps,sampler,log_joint,standard_error,instances,published\n");
        for column in &self.columns {
            for entry in &column.entries {
                let Entry {
                    sampler,
                    log_joint,
                    instances,
                } = entry;
                let published = self.published(column, sampler);
                let published = published.map_or(String::new(), |value| value.to_string());
                out += &format!(
                    "{},{},{},{},{},{instances},{published}\n",
                    field(&column.experiment),
                    column.steps,
                    field(sampler),
                    log_joint.mean,
                    log_joint.standard_error,
                );
            }
        }
        out
    }
}
