//! The whole experiment: training in its run folder, then the evaluation.

use super::evaluation::evaluate;
use super::pictures::{self, MILLISECONDS};
use super::training::Training;
use super::{Digits, Outcome, Settings, figures};
use crate::backend::{OnBackend, on_device};
use crate::device::Device;
use crate::error::HarnessError;
use crate::framework::failed;
use crate::population::Column;
use crate::population::stepwise::{Request, Stepwise, bytes, seconds_of_step, trained};
use crate::source::Kind;
use burn::backend::Autodiff;
use burn::tensor::DType;
use helmholtz_datasets::{Error, GreyMnist, Locator, Missing, load_grey_mnist};
use helmholtz_harness::work::shortened;
use helmholtz_ops::Backend;
use helmholtz_report::Document;
use helmholtz_report::figure::Figure;
use helmholtz_report::picture::write_animation;
use helmholtz_runs::read_metrics;
use helmholtz_tracker::Tracker;
use helmholtz_training::StepConfig;
use serde_json::Value;
use std::sync::atomic::AtomicBool;

impl Stepwise for Settings {
    type Outcome = Outcome;

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
                t.sweeps, t.particles, t.batch, t.frames, t.digits,
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
        (shorter, times)
    }

    fn seconds_of_step(
        &self,
        (device, threads): (Device, usize),
        locator: &Locator,
        stop: &AtomicBool,
    ) -> Result<f64, HarnessError> {
        let [train, _] = self.digits(locator)?;
        let time = Time {
            settings: self,
            train,
            threads,
            stop,
        };
        on_device(device, time)
    }

    fn compute(&self, request: Request<'_>) -> Result<Outcome, HarnessError> {
        (request.on_progress)("reading MNIST")?;
        let digits = self.digits(request.locator)?;
        let device = request.device;
        on_device(
            device,
            Run {
                settings: self,
                digits,
                request,
            },
        )
    }

    fn document(&self, outcome: &Outcome) -> Document {
        outcome.document(self)
    }

    fn training(checks: &[Value]) -> Figure {
        figures::training(checks)
    }

    fn figures(&self, outcome: &Outcome) -> Vec<(&'static str, Figure)> {
        vec![("sweeps", figures::sweeps(self, &outcome.evaluation))]
    }

    fn column(&self, outcome: &Outcome) -> Column {
        outcome.column(self)
    }
}

impl Settings {
    /// Loads the digits of training and test images.
    fn digits(&self, locator: &Locator) -> Result<[Digits; 2], HarnessError> {
        let mnist = mnist(locator)?;
        let side = self.model.canvas.digit;
        Ok([&mnist.train, &mnist.test].map(|images| Digits::new(images, side)))
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

struct Time<'a> {
    settings: &'a Settings,
    train: Digits,
    threads: usize,
    stop: &'a AtomicBool,
}

impl OnBackend for Time<'_> {
    type Output = f64;

    fn on<B: Backend>(self) -> Result<f64, HarnessError> {
        let device = Default::default();
        let threads = self.threads;
        let objective = Training::<Autodiff<B>>::new(self.settings, &self.train, threads, &device);
        let model = start::<B>(self.settings, &self.train, &device)?;
        seconds_of_step(&model, &mut objective.map_err(failed)?, self.stop)
    }
}

/// The model before its first step.
fn start<B: Backend>(
    settings: &Settings,
    train: &Digits,
    device: &B::Device,
) -> Result<Tracker<Autodiff<B>>, HarnessError> {
    let (config, template) = (&settings.model, train.mean());
    let model = config.init(settings.seed, &template, DType::F32, device);
    model.map_err(failed)
}

struct Run<'a> {
    settings: &'a Settings,
    /// Digits of training and test images.
    digits: [Digits; 2],
    request: Request<'a>,
}

impl OnBackend for Run<'_> {
    type Output = Outcome;

    fn on<B: Backend>(self) -> Result<Outcome, HarnessError> {
        let (settings, device) = (self.settings, Default::default());
        let [train, test] = &self.digits;
        let model = start::<B>(settings, train, &device)?;
        let t = &settings.training;
        let mut request = self.request;
        let threads = request.threads;
        let objective = Training::<Autodiff<B>>::new(settings, train, threads, &device);
        let mut objective = objective.map_err(failed)?;
        let config = request.config(
            settings.seed,
            [t.learning_rate, t.beta_2],
            t.check_every,
            t.checkpoint_seconds,
        );
        let config = StepConfig {
            decay: t.decay,
            ..config
        };
        let model = trained(model, &mut objective, &config, &device, &mut request)?;
        let on_progress = (request.on_progress, threads);
        let pieces = request.pieces(&settings.evaluation)?;
        let (evaluation, shown) = evaluate(settings, &model, test, &device, on_progress, &pieces)?;
        let folder = request.folder;
        let metrics = read_metrics(folder.path())?;
        for (shown, number) in shown.iter().zip(1..) {
            let path = |name: &str| folder.path().join(format!("{name}-{number}.png"));
            pictures::sheet(shown).write(&path("sequences"))?;
            write_animation(&pictures::movie(shown), MILLISECONDS, &path("animated"))?;
        }
        let check = |row: Option<&Value>| row.and_then(Value::as_object).cloned();
        let outcome = Outcome {
            steps: request.steps,
            checks: [metrics.first(), metrics.last()].map(|row| check(row).unwrap_or_default()),
            evaluation,
            provenance: folder.provenance(settings.seed, request.device.as_str()),
        };
        settings.write_figures(&metrics, &outcome, folder.path())?;
        Ok(outcome)
    }
}
