//! A run on its device: training in its folder, then the measurements.

use super::Outcome;
use super::stepwise::{Measuring, Request, Stepwise};
use crate::backend::{OnBackend, on_device};
use crate::device::Device;
use crate::error::HarnessError;
use crate::framework::failed;
use burn::backend::Autodiff;
use burn::module::Module;
use helmholtz_datasets::Locator;
use helmholtz_harness::cancel::check_cancelled;
use helmholtz_ops::Backend;
use helmholtz_runs::read_metrics;
use helmholtz_training::{Objective, TrainError, train_steps};
use serde_json::{Value, to_value};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// Trains and measures, and writes the figures.
///
/// # Errors
/// [`HarnessError::Interrupted`] for a stop, and what keeps the run from going on.
pub fn compute<E: Stepwise>(
    experiment: &E,
    request: Request<'_>,
) -> Result<Outcome<E::Evaluation>, HarnessError> {
    if E::READS_DATA {
        (request.on_progress)("reading its data")?;
    }
    let run = Run {
        experiment,
        data: experiment.data(request.locator)?,
        request,
    };
    on_device(run.request.device, run)
}

/// Cost of a run.
pub struct Measurement {
    /// Seconds of a gradient step.
    pub step: f64,
    /// Numbers that are learned.
    pub parameters: u64,
}

/// Measures a gradient step on the device with so many threads: the second of two, which change nothing.
///
/// # Errors
/// Data or a device that are not there, a step that cannot be made; [`HarnessError::Interrupted`] for a stop before, between or after
/// them.
pub fn measure<E: Stepwise>(
    experiment: &E,
    (device, threads): (Device, usize),
    locator: &Locator,
    stop: &AtomicBool,
) -> Result<Measurement, HarnessError> {
    let time = Time {
        experiment,
        data: experiment.data(locator)?,
        threads,
        stop,
    };
    on_device(device, time)
}

struct Time<'a, E: Stepwise> {
    experiment: &'a E,
    data: E::Data,
    threads: usize,
    stop: &'a AtomicBool,
}

impl<E: Stepwise> OnBackend for Time<'_, E> {
    type Output = Measurement;

    fn on<B: Backend>(self) -> Result<Measurement, HarnessError> {
        let (data, device) = (&self.data, Default::default());
        let model = self.experiment.model::<Autodiff<B>>(data, &device)?;
        let mut objective = self.experiment.objective(data, self.threads, &device)?;
        let mut step = |number| {
            let gradients = objective.gradients(&model, number);
            gradients.map_err(HarnessError::Cell)?;
            check_cancelled(self.stop)
        };
        check_cancelled(self.stop)?;
        step(0)?;
        let start = Instant::now();
        step(1)?;
        Ok(Measurement {
            step: start.elapsed().as_secs_f64(),
            parameters: model.num_params() as u64,
        })
    }
}

struct Run<'a, E: Stepwise> {
    experiment: &'a E,
    data: E::Data,
    request: Request<'a>,
}

impl<E: Stepwise> OnBackend for Run<'_, E> {
    type Output = Outcome<E::Evaluation>;

    fn on<B: Backend>(self) -> Result<Self::Output, HarnessError> {
        let (experiment, data, device) = (self.experiment, &self.data, Default::default());
        let Request { folder, .. } = self.request;
        let name = self.request.device.as_str();
        let config = experiment.config(self.request.steps, self.request.device);
        let trained = train_steps(
            experiment.model::<Autodiff<B>>(data, &device)?,
            &mut experiment.objective(data, self.request.threads, &device)?,
            &config,
            &device,
            folder,
            self.request.observe,
            self.request.stop,
        );
        let model = trained.map_err(|error| match error {
            TrainError::Interrupted { steps, .. } => HarnessError::Interrupted { epoch: steps },
            error => failed(error),
        })?;
        let settings = to_value(experiment).expect("settings are plain data");
        let measuring = Measuring {
            threads: self.request.threads,
            on_progress: self.request.on_progress,
            pieces: &folder.pieces(&settings["evaluation"])?,
            folder: folder.path(),
        };
        let evaluation = experiment.measure(data, &model, &device, &measuring);
        let evaluation = evaluation.map_err(|error| match error {
            HarnessError::Interrupted { .. } => HarnessError::Interrupted {
                epoch: config.steps,
            },
            error => error,
        })?;
        let checks = read_metrics(folder.path())?;
        let check = |row: Option<&Value>| row.and_then(Value::as_object).cloned();
        let outcome = Outcome {
            steps: config.steps,
            checks: [checks.first(), checks.last()].map(|row| check(row).unwrap_or_default()),
            expected: experiment.expected::<B>(&device),
            evaluation,
            provenance: folder.provenance(config.seed, name),
        };
        E::training(&checks).write(folder.path(), "training")?;
        for (name, figure) in experiment.figures(&outcome) {
            figure.write(folder.path(), name)?;
        }
        Ok(outcome)
    }
}
