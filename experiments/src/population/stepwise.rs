//! Experiments that are counted in gradient steps, on data that never end.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use super::{Outcome, Reached};
use crate::blocks::provenance;
use crate::device::Device;
use crate::error::HarnessError;
use crate::profiles::profile;
use crate::source::{Kind, Source};
use burn::module::AutodiffModule;
use helmholtz_datasets::Locator;
use helmholtz_ops::{AutodiffBackend, Backend};
use helmholtz_report::figure::{Axis, Figure, Panel, Series};
use helmholtz_report::{Block, Document};
use helmholtz_runs::{Pieces, RunFolder};
use helmholtz_training::{Event, Objective, StepConfig};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// An experiment: one model trained by gradient steps in a run folder, then measured.
pub trait Stepwise: Clone + Serialize + DeserializeOwned + Sync {
    /// Data that are read before the first step.
    type Data;

    /// Model that is trained.
    type Model<B: AutodiffBackend>: AutodiffModule<B>;

    /// Measurements of the trained model.
    type Evaluation: Serialize + DeserializeOwned;

    /// Kind that its configurations name.
    const KIND: Kind;

    /// Files that it writes beside `table.md`.
    const FILES: &'static [&'static str];

    /// Whether it reads a data set.
    const READS_DATA: bool;

    /// The experiment in a file by one of its profiles, and the profile's gradient steps.
    ///
    /// # Errors
    /// A file that makes no sense; an unknown profile, with the choices.
    fn parse(source: &Source, name: &str) -> Result<(Self, u64), HarnessError> {
        let (experiment, steps) = profile::<Self>(&source.file, source.parse()?, name)?;
        match experiment.problem() {
            Some(problem) => Err(source.reject(problem)),
            None => Ok((experiment, steps)),
        }
    }

    /// Returns what is wrong with the settings together, if anything: each number is in its range.
    fn problem(&self) -> Option<&'static str>;

    /// Names the run folder.
    fn name(&self) -> &str;

    /// Heads the table.
    fn title(&self) -> &str;

    /// Seed that names the random streams.
    fn seed(&mut self) -> &mut u64;

    /// Describes a step, and what is measured at the end.
    fn plan(&self) -> [String; 2];

    /// The least memory that it needs, in bytes.
    fn memory(&self) -> u64;

    /// The fingerprint of its data, which are read for it before anything starts; none where it reads none.
    ///
    /// # Errors
    /// Data that cannot be had.
    fn fingerprint(&self, _: &Locator) -> Result<Option<String>, HarnessError> {
        Ok(None)
    }

    /// The same with a shorter step, where one would take more than seconds, and times how much that takes the whole one's time.
    fn shorter(&self) -> (Self, f64);

    /// Configuration of the training.
    fn config(&self, steps: u64, device: Device) -> StepConfig;

    /// Reads its data.
    ///
    /// # Errors
    /// Data that cannot be had.
    fn data(&self, locator: &Locator) -> Result<Self::Data, HarnessError>;

    /// The model before its first step.
    ///
    /// # Errors
    /// Settings that make none.
    fn model<B: AutodiffBackend>(
        &self,
        data: &Self::Data,
        device: &B::Device,
    ) -> Result<Self::Model<B>, HarnessError>;

    /// What gives the gradients of a step, on so many threads.
    ///
    /// # Errors
    /// Instances that cannot be made.
    fn objective<'a, B: AutodiffBackend>(
        &'a self,
        data: &'a Self::Data,
        threads: usize,
        device: &B::Device,
    ) -> Result<impl Objective<B, Self::Model<B>>, HarnessError>;

    /// Measures the trained model, and writes the files that are no figures.
    ///
    /// # Errors
    /// Weights that are none, a file that cannot be written, and those of `on_progress`.
    fn measure<B: AutodiffBackend>(
        &self,
        data: &Self::Data,
        model: &Self::Model<B>,
        device: &B::Device,
        measuring: &Measuring<'_>,
    ) -> Result<Self::Evaluation, HarnessError>;

    /// −H(x, z), in nats, where it is known: [`Outcome::expected`].
    fn expected<B: Backend>(&self, _: &B::Device) -> Option<f64> {
        None
    }

    /// Texts and tables of the outcome.
    fn blocks(&self, outcome: &Outcome<Self::Evaluation>) -> Vec<Block>;

    /// The outcome as a document, with where its numbers come from.
    fn document(&self, outcome: &Outcome<Self::Evaluation>) -> Document {
        let mut blocks = self.blocks(outcome);
        blocks.push(provenance(&outcome.provenance));
        Document::of_blocks(self.title(), blocks)
    }

    /// The figure `training`: what the checks watched.
    fn training(checks: &[Value]) -> Figure;

    /// Figures of what was measured at the end, by the names of their files.
    fn figures(&self, outcome: &Outcome<Self::Evaluation>) -> Vec<(&'static str, Figure)>;

    /// Returns the model and the size of its instances, and what the samplers reached on these.
    fn reached(&self, outcome: &Outcome<Self::Evaluation>) -> Reached;
}

/// The bytes of a tensor of f32 with these sizes.
pub fn bytes(sizes: &[u64]) -> u64 {
    sizes
        .iter()
        .fold(4, |bytes, &size| bytes.saturating_mul(size))
}

/// Hears what is measured, from any thread, and may stop it with an error.
pub type OnProgress<'a> = &'a (dyn Fn(&str) -> Result<(), HarnessError> + Sync);

/// Request for a run.
pub struct Request<'a> {
    /// Gradient steps.
    pub steps: u64,
    /// Device that computes.
    pub device: Device,
    /// Threads of the run.
    pub threads: usize,
    /// Locator of the data.
    pub locator: &'a Locator,
    /// Run folder that keeps it.
    pub folder: &'a mut RunFolder,
    /// Hears of each step.
    pub observe: &'a dyn Fn(&Event),
    /// Hears what is measured, and may stop it with an error.
    pub on_progress: OnProgress<'a>,
    /// Set to stop the training at its next step.
    pub stop: &'a AtomicBool,
}

/// How the trained model is measured.
pub struct Measuring<'a> {
    /// Threads of the run.
    pub threads: usize,
    /// Hears what is measured, and may stop it with an error.
    pub on_progress: OnProgress<'a>,
    /// What is kept of the measurements so far.
    pub pieces: &'a Pieces,
    /// The run's folder.
    pub folder: &'a Path,
}

/// Returns the values that checks have under a key, by gradient steps, to be drawn.
pub fn points(checks: &[Value], key: &str) -> Vec<[f64; 2]> {
    let point = |row: &Value| Some([row["step"].as_f64()?, row.get(key)?.as_f64()?]);
    checks.iter().filter_map(point).collect()
}

/// Panel of what checks have under keys, by gradient steps: a line for each label and key.
pub fn panel(checks: &[Value], title: &str, y: Axis, lines: &[(&str, &str)]) -> Panel {
    let line = |(&(label, key), style)| Series::line(label, style, points(checks, key));
    Panel {
        title: title.into(),
        x: Axis::linear("gradient steps"),
        y,
        series: lines.iter().zip(1..).map(line).collect(),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// What is said of the paper's profile in a bundled file with one part replaced.
    pub(crate) fn rejection<E: Stepwise>(file: &str, from: &str, to: &str) -> String {
        let mut source = Source::find(file).unwrap();
        assert!(source.text.contains(from), "{from}");
        source.text = source.text.replacen(from, to, 1);
        let parsed = E::parse(&source, "paper");
        parsed
            .err()
            .expect("settings that make no sense")
            .to_string()
    }
}
