//! The whole experiment.

use super::evaluation::{Evaluation, evaluate, expected_log_joint};
use super::training::Training;
use super::{Outcome, Settings, figures};
use crate::device::Device;
use crate::error::HarnessError;
use crate::framework::failed;
use crate::population::Reached;
use crate::population::stepwise::{Measuring, Stepwise, bytes};
use crate::source::Kind;
use burn::module::AutodiffModule;
use burn::tensor::DType;
use helmholtz_datasets::Locator;
use helmholtz_gmm::Gmm;
use helmholtz_ops::{AutodiffBackend, Backend};
use helmholtz_report::Block;
use helmholtz_report::figure::Figure;
use helmholtz_training::{Objective, StepConfig};
use serde_json::Value;

impl Stepwise for Settings {
    type Data = ();

    type Model<B: AutodiffBackend> = Gmm<B>;

    type Evaluation = Evaluation;

    const KIND: Kind = Kind::ApgGmm;

    const FILES: &'static [&'static str] =
        &["training.svg", "courses.svg", "budget.svg", "particle.svg"];

    const READS_DATA: bool = false;

    fn problem(&self) -> Option<&'static str> {
        self.problem()
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn title(&self) -> &str {
        &self.title
    }

    fn seed(&mut self) -> &mut u64 {
        &mut self.seed
    }

    fn plan(&self) -> [String; 2] {
        let e = &self.evaluation;
        [
            self.training.plan(),
            format!("{} instances of {} data", e.instances, e.points),
        ]
    }

    /// The scores of all data in all clusters, for all particles.
    fn memory(&self) -> u64 {
        let (t, e) = (&self.training, &self.evaluation);
        let clusters = self.model.clusters as u64;
        let scores = |particles: usize, instances: u64, points: usize| {
            bytes(&[particles as u64, instances, points as u64, clusters])
        };
        let particles = [e.particles, e.prior_particles, e.curve_prior_particles];
        let evaluations = particles.map(|particles| scores(particles, 1, e.points));
        let training = scores(t.particles, t.batch, t.points);
        evaluations.into_iter().fold(training, u64::max)
    }

    fn shorter(&self) -> (Self, f64) {
        let each = self.model.clusters * self.model.hidden.pow(2);
        let (training, times) = self.training.shorter(each);
        let shorter = Self {
            training,
            ..self.clone()
        };
        (shorter, times)
    }

    fn config(&self, steps: u64, device: Device) -> StepConfig {
        self.training.config(self.seed, steps, device)
    }

    fn data(&self, _: &Locator) -> Result<(), HarnessError> {
        Ok(())
    }

    fn model<B: AutodiffBackend>(
        &self,
        (): &(),
        device: &B::Device,
    ) -> Result<Gmm<B>, HarnessError> {
        let model = self.model.init(self.seed, DType::F32, device);
        model.map_err(failed)
    }

    fn objective<'a, B: AutodiffBackend>(
        &'a self,
        (): &'a (),
        threads: usize,
        device: &B::Device,
    ) -> Result<impl Objective<B, Gmm<B>>, HarnessError> {
        Ok(Training::new(self, threads, device))
    }

    fn measure<B: AutodiffBackend>(
        &self,
        (): &(),
        model: &Gmm<B>,
        device: &B::Device,
        measuring: &Measuring<'_>,
    ) -> Result<Evaluation, HarnessError> {
        evaluate(self, &model.valid(), device, measuring)
    }

    fn expected<B: Backend>(&self, device: &B::Device) -> Option<f64> {
        Some(expected_log_joint::<B>(self, device))
    }

    fn blocks(&self, outcome: &Outcome) -> Vec<Block> {
        outcome.blocks(self)
    }

    fn training(checks: &[Value]) -> Figure {
        figures::training(checks)
    }

    fn figures(&self, outcome: &Outcome) -> Vec<(&'static str, Figure)> {
        figures::all(&outcome.evaluation).into()
    }

    fn reached(&self, outcome: &Outcome) -> Reached {
        outcome.reached(self)
    }
}
