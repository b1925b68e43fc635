//! Experiments that are counted in gradient steps, on data that never end.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use super::Column;
use crate::device::Device;
use crate::error::HarnessError;
use crate::framework::failed;
use crate::profiles::profile;
use crate::source::{Kind, Source};
use burn::module::AutodiffModule;
use helmholtz_datasets::Locator;
use helmholtz_harness::cancel::check_cancelled;
use helmholtz_ops::AutodiffBackend;
use helmholtz_report::Document;
use helmholtz_report::figure::Figure;
use helmholtz_runs::{Pieces, RunFolder};
use helmholtz_training::{Event, Objective, StepConfig, TrainError, train_steps};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// An experiment: one model trained by gradient steps in a run folder, then measured.
pub trait Stepwise: Clone + Serialize + DeserializeOwned + Sync {
    /// Result that its folder keeps.
    type Outcome: Serialize + DeserializeOwned;

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
        let (experiment, steps) = profile::<Self>(source, name)?;
        match experiment.problem() {
            Some(problem) => Err(HarnessError::Spec {
                file: source.file.clone(),
                problem: problem.into(),
            }),
            None => Ok((experiment, steps)),
        }
    }

    /// Returns what is wrong with the settings, if anything.
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

    /// Measures the seconds of a gradient step on the device with so many threads, by making two.
    ///
    /// # Errors
    /// Data or a device that are not there, a step that cannot be made, a stop.
    fn seconds_of_step(
        &self,
        place: (Device, usize),
        locator: &Locator,
        stop: &AtomicBool,
    ) -> Result<f64, HarnessError>;

    /// Trains and measures, and writes the figures.
    ///
    /// # Errors
    /// [`HarnessError::Interrupted`] for a stop, and what keeps the run from going on.
    fn compute(&self, request: Request<'_>) -> Result<Self::Outcome, HarnessError>;

    /// The outcome as a document.
    fn document(&self, outcome: &Self::Outcome) -> Document;

    /// The figure `training`: what the checks watched.
    fn training(checks: &[Value]) -> Figure;

    /// Figures of what was measured at the end, by the names of their files.
    fn figures(&self, outcome: &Self::Outcome) -> Vec<(&'static str, Figure)>;

    /// Writes all figures.
    ///
    /// # Errors
    /// A file that cannot be written.
    fn write_figures(
        &self,
        checks: &[Value],
        outcome: &Self::Outcome,
        folder: &Path,
    ) -> Result<(), HarnessError> {
        Self::training(checks).write(folder, "training")?;
        for (name, figure) in self.figures(outcome) {
            figure.write(folder, name)?;
        }
        Ok(())
    }

    /// Returns what the samplers reached, as a column of a table of several models; the caller names the folder.
    fn column(&self, outcome: &Self::Outcome) -> Column;
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

impl Request<'_> {
    /// Returns what is kept of an evaluation of the trained model, by these settings.
    ///
    /// # Errors
    /// A checkpoint that cannot be read.
    pub fn pieces(&self, evaluation: &impl Serialize) -> Result<Pieces, HarnessError> {
        let evaluation = serde_json::to_value(evaluation).expect("settings are plain data");
        Ok(self.folder.pieces(&evaluation)?)
    }

    /// Returns the configuration of the training, with Adam's learning rate, which is held, and β₂.
    pub fn config(
        &self,
        seed: u64,
        [learning_rate, beta_2]: [f64; 2],
        check_every: u64,
        checkpoint_seconds: f64,
    ) -> StepConfig {
        StepConfig {
            seed,
            steps: self.steps,
            learning_rate,
            decay: 0.0,
            beta_2,
            check_every,
            checkpoint_seconds,
            device_name: self.device.as_str().into(),
        }
    }
}

/// The model, trained in the request's folder.
///
/// # Errors
/// [`HarnessError::Interrupted`] for a stop; whatever else ends the training.
pub fn trained<B, M, O>(
    model: M,
    objective: &mut O,
    config: &StepConfig,
    device: &B::Device,
    request: &mut Request<'_>,
) -> Result<M, HarnessError>
where
    B: AutodiffBackend,
    M: AutodiffModule<B>,
    O: Objective<B, M>,
{
    let (folder, observe) = (&mut *request.folder, request.observe);
    let trained = train_steps(
        model,
        objective,
        config,
        device,
        folder,
        observe,
        request.stop,
    );
    trained.map_err(|error| match error {
        TrainError::Interrupted { steps, .. } => HarnessError::Interrupted { epoch: steps },
        error => failed(error),
    })
}

/// The seconds of the second of two gradient steps, which change nothing.
///
/// # Errors
/// A step that cannot be made; [`HarnessError::Interrupted`] for a stop before, between or after them.
pub fn seconds_of_step<B, M, O>(
    model: &M,
    objective: &mut O,
    stop: &AtomicBool,
) -> Result<f64, HarnessError>
where
    B: AutodiffBackend,
    M: AutodiffModule<B>,
    O: Objective<B, M>,
{
    let mut step = |number| {
        let gradients = objective.gradients(model, number);
        gradients.map_err(HarnessError::Cell)?;
        check_cancelled(stop)
    };
    check_cancelled(stop)?;
    step(0)?;
    let start = Instant::now();
    step(1)?;
    Ok(start.elapsed().as_secs_f64())
}

/// Returns the values that checks have under a key, by gradient steps, to be drawn.
pub fn points(checks: &[Value], key: &str) -> Vec<[f64; 2]> {
    let point = |row: &Value| Some([row["step"].as_f64()?, row.get(key)?.as_f64()?]);
    checks.iter().filter_map(point).collect()
}

/// A mean with its standard error over instances of the data.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// The mean.
    pub mean: f64,
    /// Its standard error.
    pub standard_error: f64,
}

impl Measured {
    /// Computes mean and standard error of these values, at least two.
    pub fn of(values: &[f64]) -> Self {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|x| (x - mean).powi(2)).sum();
        Self {
            mean,
            standard_error: (squares / (count - 1.0) / count).sqrt(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_standard_error_is_that_of_the_mean() {
        let expected = Measured {
            mean: 2.0,
            standard_error: 1.0,
        };
        assert_eq!(Measured::of(&[1.0, 3.0]), expected);
    }
}
