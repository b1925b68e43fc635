//! The whole experiment.

use super::evaluation::{Evaluation, evaluate};
use super::pictures::{self, MILLISECONDS};
use super::training::Training;
use super::{Digits, Outcome, Settings, figures};
use crate::device::Device;
use crate::error::HarnessError;
use crate::framework::failed;
use crate::population::Reached;
use crate::population::stepwise::{Measuring, Stepwise, bytes};
use crate::source::Kind;
use burn::tensor::DType;
use helmholtz_datasets::{Error, GreyMnist, Locator, Missing, load_grey_mnist};
use helmholtz_harness::work::shortened;
use helmholtz_ops::AutodiffBackend;
use helmholtz_report::Block;
use helmholtz_report::figure::Figure;
use helmholtz_report::picture::write_animation;
use helmholtz_tracker::Tracker;
use helmholtz_training::{Objective, StepConfig};
use serde_json::Value;

impl Stepwise for Settings {
    type Data = [Digits; 2];

    type Model<B: AutodiffBackend> = Tracker<B>;

    type Evaluation = Evaluation;

    const KIND: Kind = Kind::ApgBmnist;

    const FILES: &'static [&'static str] = &[
        "training.svg",
        "sweeps.svg",
        "sequences-1.png",
        "animated-1.png",
    ];

    const READS_DATA: bool = true;

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
        let (t, e) = (&self.training, &self.evaluation);
        let side = self.model.canvas.side;
        [
            format!(
                "K = {}, L = {}, {} sequences of T = {} frames of {side} x {side} pixels, D = {} digits, a step",
                t.sweeps,
                t.particles,
                t.batch,
                t.frames,
                t.digits_in_words(),
            ),
            format!(
                "{} sequences of test images in {} settings, K = {}, L = {}",
                e.sequences,
                e.settings.len(),
                e.sweeps,
                e.particles,
            ),
        ]
    }

    /// Bytes of the crops that digits are seen as in each frame, for all particles. With them the index of each pixel (as much as
    /// two numbers), or the layer that sees it.
    fn memory(&self) -> u64 {
        let (t, e) = (&self.training, &self.evaluation);
        let pixels = self.model.canvas.digit_area() as u64;
        let width = (3 * pixels).max(pixels + self.model.digit_hidden[0] as u64);
        let crops = |particles: usize, instances: u64, [frames, digits]: [usize; 2]| {
            let [particles, frames, digits] = [particles, frames, digits].map(|n| n as u64);
            bytes(&[particles, instances, frames, digits, width])
        };
        let particles = e.prior_particles.max(e.particles.saturating_mul(e.sweeps));
        let evaluations = e.settings.iter();
        let evaluations = evaluations.map(|&setting| crops(particles, e.batch, setting));
        let training = crops(t.particles, t.batch, [t.frames, t.digits]);
        evaluations.fold(training, u64::max)
    }

    fn fingerprint(&self, locator: &Locator) -> Result<Option<String>, HarnessError> {
        Ok(Some(mnist(locator)?.fingerprint()))
    }

    fn shorter(&self) -> (Self, f64) {
        let (t, canvas) = (&self.training, &self.model.canvas);
        // Most of a step convolves frames with digits.
        let each = (canvas.side * canvas.side * canvas.digit_area()) as u64;
        let sizes = [
            (t.batch, 1),
            (t.sweeps as u64, 2),
            (t.particles as u64, 2),
            (t.frames as u64, 2),
            (t.digits as u64, 1),
        ];
        let ([batch, sweeps, particles, frames, digits], times) = shortened(each, sizes);
        let mut shorter = self.clone();
        let t = &mut shorter.training;
        t.batch = batch;
        [t.sweeps, t.particles, t.frames, t.digits] =
            [sweeps, particles, frames, digits].map(|n| n as usize);
        t.fewest_digits = None;
        (shorter, times)
    }

    fn config(&self, steps: u64, device: Device) -> StepConfig {
        let t = &self.training;
        StepConfig {
            seed: self.seed,
            steps,
            learning_rate: t.learning_rate,
            decay: t.decay,
            beta_2: t.beta_2,
            check_every: t.check_every,
            checkpoint_seconds: t.checkpoint_seconds,
            device_name: device.as_str().into(),
        }
    }

    fn data(&self, locator: &Locator) -> Result<[Digits; 2], HarnessError> {
        let mnist = mnist(locator)?;
        let side = self.model.canvas.digit;
        Ok([&mnist.train, &mnist.test].map(|images| Digits::new(images, side)))
    }

    fn model<B: AutodiffBackend>(
        &self,
        [train, _]: &[Digits; 2],
        device: &B::Device,
    ) -> Result<Tracker<B>, HarnessError> {
        let model = self
            .model
            .init(self.seed, &train.mean(), DType::F32, device);
        model.map_err(failed)
    }

    fn objective<'a, B: AutodiffBackend>(
        &'a self,
        [train, _]: &'a [Digits; 2],
        threads: usize,
        device: &B::Device,
    ) -> Result<impl Objective<B, Tracker<B>>, HarnessError> {
        Training::new(self, train, threads, device).map_err(failed)
    }

    fn measure<B: AutodiffBackend>(
        &self,
        [_, test]: &[Digits; 2],
        model: &Tracker<B>,
        device: &B::Device,
        measuring: &Measuring<'_>,
    ) -> Result<Evaluation, HarnessError> {
        let (evaluation, shown) = evaluate(self, model, test, device, measuring)?;
        for (shown, number) in shown.iter().zip(1..) {
            let path = |name: &str| measuring.folder.join(format!("{name}-{number}.png"));
            pictures::sheet(shown).write(&path("sequences"))?;
            write_animation(&pictures::movie(shown), MILLISECONDS, &path("animated"))?;
        }
        Ok(evaluation)
    }

    fn blocks(&self, outcome: &Outcome) -> Vec<Block> {
        outcome.blocks(self)
    }

    fn training(checks: &[Value]) -> Figure {
        figures::training(checks)
    }

    fn figures(&self, outcome: &Outcome) -> Vec<(&'static str, Figure)> {
        vec![("sweeps", figures::sweeps(self, &outcome.evaluation))]
    }

    fn reached(&self, outcome: &Outcome) -> Reached {
        outcome.reached(self)
    }
}

/// MNIST, in place of which there is nothing.
fn mnist(locator: &Locator) -> Result<GreyMnist, HarnessError> {
    load_grey_mnist(locator, &mut |_| {}).map_err(|error| {
        HarnessError::Data(match error {
            Error::Missing(missing) => Error::Missing(Box::new(Missing {
                instead: "the digits are MNIST's, and no other data set takes their place",
                ..*missing
            })),
            error => error,
        })
    })
}
