//! The whole experiment: training in its run folder, then the evaluation.

use std::sync::atomic::AtomicBool;

use super::Settings;
use super::evaluation::{Evaluation, evaluate, expected_log_joint};
use super::training::Training;
use crate::backend::OnBackend;
use crate::error::HarnessError;
use crate::runner::failed;
use burn::backend::Autodiff;
use burn::module::AutodiffModule;
use burn::tensor::DType;
use helmholtz_ops::Backend;
use helmholtz_runs::RunFolder;
use helmholtz_training::{Event, StepConfig, TrainError, train_steps};

/// What a run gives.
pub struct Report {
    /// What was measured.
    pub evaluation: Evaluation,
    /// −H(x, z).
    pub expected: f64,
}

/// The experiment, on any backend.
pub struct Run<'a> {
    /// What to run.
    pub settings: &'a Settings,
    /// Gradient steps.
    pub steps: u64,
    /// What the provenance calls the device.
    pub device_name: &'static str,
    /// Where it is kept.
    pub folder: &'a mut RunFolder,
    /// Hears of each step.
    pub observe: &'a dyn Fn(&Event),
    /// Hears what is measured, and may stop it with an error.
    pub going_on: &'a dyn Fn(&str) -> Result<(), HarnessError>,
    /// Set to stop the training at its next step.
    pub stop: &'a AtomicBool,
}

impl OnBackend for Run<'_> {
    type Output = Report;

    fn on<B: Backend>(self) -> Result<Report, HarnessError> {
        let (settings, device) = (self.settings, Default::default());
        let training = &settings.training;
        let model = settings
            .model
            .init::<Autodiff<B>>(settings.seed, DType::F32, &device)
            .map_err(failed)?;
        let config = StepConfig {
            seed: settings.seed,
            steps: self.steps,
            learning_rate: training.learning_rate,
            beta_2: training.beta_2,
            check_every: training.check_every,
            checkpoint_seconds: training.checkpoint_seconds,
            device_name: self.device_name.into(),
        };
        let objective = Training::<Autodiff<B>>::new(settings, settings.seed, &device);
        let (folder, observe) = (self.folder, self.observe);
        let trained = train_steps(
            model, &objective, &config, &device, folder, observe, self.stop,
        );
        let model = trained.map_err(|error| match error {
            TrainError::Interrupted { steps, .. } => HarnessError::Interrupted { epoch: steps },
            error => failed(error),
        })?;
        Ok(Report {
            evaluation: evaluate(settings, &model.valid(), &device, self.going_on)?,
            expected: expected_log_joint::<B>(settings, &device),
        })
    }
}
