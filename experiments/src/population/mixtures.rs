//! What the trainings on mixtures share: their settings.

use super::hamiltonian::TrainingMoves;
use crate::device::Device;
use helmholtz_harness::work::shortened;
use helmholtz_training::StepConfig;
use serde::{Deserialize, Serialize};

/// Settings of a training on instances of a mixture.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainingSettings {
    /// K, the one-shot proposal counted.
    pub sweeps: usize,
    /// L.
    pub particles: usize,
    /// Instances of a step.
    pub batch: u64,
    /// Data of an instance.
    pub points: usize,
    /// Moves of the particles before they are learned from, in HMC-RWS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hmc: Option<TrainingMoves>,
    /// Adam's.
    pub learning_rate: f64,
    /// Adam's.
    pub beta_2: f64,
    /// Steps from one check to the next.
    pub check_every: u64,
    /// Instances of a check.
    pub check_instances: u64,
    /// Seconds from one checkpoint to the next.
    pub checkpoint_seconds: f64,
}

impl TrainingSettings {
    /// Describes a step.
    pub fn plan(&self) -> String {
        let Self {
            sweeps,
            particles,
            batch,
            points,
            ..
        } = self;
        format!("K = {sweeps}, L = {particles}, {batch} instances of {points} data a step")
    }

    /// The same with a shorter step, where one would take more than seconds, and times how much that takes the whole one's time; `each`
    /// is what a datum costs.
    pub fn shorter(&self, each: usize) -> (Self, f64) {
        let sizes = [
            (self.batch, 1),
            (self.sweeps as u64, 2),
            (self.particles as u64, 2),
            (self.points as u64, 8),
        ];
        let ([batch, sweeps, particles, points], times) = shortened(each as u64, sizes);
        let [sweeps, particles, points] = [sweeps, particles, points].map(|n| n as usize);
        let shorter = Self {
            sweeps,
            particles,
            batch,
            points,
            ..self.clone()
        };
        (shorter, times)
    }

    /// Configuration of the training.
    pub fn config(&self, seed: u64, steps: u64, device: Device) -> StepConfig {
        StepConfig {
            seed,
            steps,
            learning_rate: self.learning_rate,
            decay: 0.0,
            beta_2: self.beta_2,
            check_every: self.check_every,
            checkpoint_seconds: self.checkpoint_seconds,
            device_name: device.as_str().into(),
        }
    }
}
