//! What the trainings on mixtures share: their settings.

use super::hamiltonian::TrainingMoves;
use crate::device::Device;
use helmholtz_harness::work::shortened;
use helmholtz_training::StepConfig;
use serde::{Deserialize, Serialize};
use std::time::Duration;

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
    /// Returns what is wrong with the settings, if anything.
    pub fn problem(&self) -> Option<&'static str> {
        let counts = [self.sweeps, self.particles, self.points];
        let numbers = [self.batch, self.check_every, self.check_instances];
        let positive = |x: f64| x > 0.0 && x.is_finite();
        let checks = [
            (
                counts.contains(&0) || numbers.contains(&0),
                "`training`: every number of sweeps, particles, points, instances and steps must be at least 1",
            ),
            (
                !positive(self.learning_rate)
                    || !(0.0..1.0).contains(&self.beta_2)
                    || !positive(self.checkpoint_seconds),
                "`training` needs a positive learning_rate and checkpoint_seconds, and a beta_2 from 0 to below 1",
            ),
            (
                Duration::try_from_secs_f64(self.checkpoint_seconds).is_err(),
                "`training.checkpoint_seconds` is more than a clock can count",
            ),
        ];
        let problem = checks.iter().find(|(wrong, _)| *wrong);
        let moves = || self.hmc.as_ref()?.problem(self.sweeps);
        problem.map(|(_, text)| *text).or_else(moves)
    }

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

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> TrainingSettings {
        TrainingSettings {
            sweeps: 1,
            particles: 10,
            batch: 20,
            points: 60,
            hmc: None,
            learning_rate: 2.5e-4,
            beta_2: 0.99,
            check_every: 250,
            check_instances: 100,
            checkpoint_seconds: 60.0,
        }
    }

    #[test]
    fn settings_that_make_no_sense_say_why() {
        assert_eq!(settings().problem(), None);
        let of = |change: fn(&mut TrainingSettings)| {
            let mut settings = settings();
            change(&mut settings);
            settings.problem().unwrap()
        };
        assert!(of(|t| t.points = 0).contains("at least 1"));
        assert!(of(|t| t.check_instances = 0).contains("at least 1"));
        assert!(of(|t| t.learning_rate = -1.0).contains("learning_rate"));
        assert!(of(|t| t.beta_2 = 1.0).contains("beta_2"));
        assert!(of(|t| t.checkpoint_seconds = 1e30).contains("more than a clock"));
    }

    #[test]
    fn the_moves_of_hmc_rws_are_of_the_one_shot_proposal_alone() {
        let of = |sweeps, moves| {
            let hmc = TrainingMoves {
                moves,
                leapfrog: 5,
                step_size: 0.05,
            };
            let settings = TrainingSettings {
                sweeps,
                hmc: Some(hmc),
                ..settings()
            };
            settings.problem()
        };
        assert_eq!(of(1, 9), None);
        assert!(of(2, 9).unwrap().contains("`training.sweeps` to 1"));
        assert!(of(1, 0).unwrap().contains("at least one move"));
        let text = serde_json::to_string(&settings()).unwrap();
        assert!(!text.contains("hmc"), "{text}");
    }
}
