//! The whole experiment: training in its run folder, then the evaluation.

use super::evaluation::evaluate;
use super::training::Training;
use super::{Outcome, Settings, figures};
use crate::backend::{OnBackend, on_device};
use crate::device::Device;
use crate::error::HarnessError;
use crate::framework::failed;
use crate::population::Column;
use crate::population::stepwise::{Request, Stepwise, bytes, seconds_of_step, trained};
use crate::source::Kind;
use burn::backend::Autodiff;
use burn::tensor::DType;
use helmholtz_datasets::Locator;
use helmholtz_dmm::Dmm;
use helmholtz_harness::work::shortened;
use helmholtz_ops::Backend;
use helmholtz_report::Document;
use helmholtz_report::figure::Figure;
use helmholtz_runs::read_metrics;
use serde_json::Value;
use std::sync::atomic::AtomicBool;

impl Stepwise for Settings {
    type Outcome = Outcome;

    const KIND: Kind = Kind::ApgDmm;

    const FILES: &'static [&'static str] = &["training.svg", "sweeps.svg", "rings.svg"];

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
        let (t, e) = (&self.training, &self.evaluation);
        [
            format!(
                "K = {}, L = {}, {} instances of {} data a step",
                t.sweeps, t.particles, t.batch, t.points
            ),
            format!(
                "{} instances in {} sizes, K = {}, L = {}",
                e.instances,
                e.points.len(),
                e.sweeps,
                e.particles
            ),
        ]
    }

    /// The scores of all data in all clusters, for all particles.
    fn memory(&self) -> u64 {
        let (t, e) = (&self.training, &self.evaluation);
        let clusters = self.model.clusters as u64;
        let scores = |particles: usize, instances: u64, points: usize| {
            bytes(&[particles as u64, instances, points as u64, clusters])
        };
        let particles = e.particles.max(e.prior_particles);
        let evaluations = e
            .points
            .iter()
            .map(|&points| scores(particles, e.batch, points));
        evaluations.fold(scores(t.particles, t.batch, t.points), u64::max)
    }

    fn shorter(&self) -> (Self, f64) {
        let t = &self.training;
        let each = self.model.clusters * self.model.hidden.pow(2);
        let sizes = [
            (t.batch, 1),
            (t.sweeps as u64, 2),
            (t.particles as u64, 2),
            (t.points as u64, 8),
        ];
        let ([batch, sweeps, particles, points], times) = shortened(each as u64, sizes);
        let mut shorter = self.clone();
        let t = &mut shorter.training;
        t.batch = batch;
        [t.sweeps, t.particles, t.points] = [sweeps, particles, points].map(|n| n as usize);
        (shorter, times)
    }

    fn seconds_of_step(
        &self,
        (device, threads): (Device, usize),
        _: &Locator,
        stop: &AtomicBool,
    ) -> Result<f64, HarnessError> {
        on_device(device, Time(self, threads, stop))
    }

    fn compute(&self, request: Request<'_>) -> Result<Outcome, HarnessError> {
        let device = request.device;
        let run = Run {
            settings: self,
            request,
        };
        on_device(device, run)
    }

    fn document(&self, outcome: &Outcome) -> Document {
        outcome.document(self)
    }

    fn training(checks: &[Value]) -> Figure {
        figures::training(checks)
    }

    fn figures(&self, outcome: &Outcome) -> Vec<(&'static str, Figure)> {
        figures::all(self, &outcome.evaluation).into()
    }

    fn column(&self, outcome: &Outcome) -> Column {
        outcome.column(self)
    }
}

struct Time<'a>(&'a Settings, usize, &'a AtomicBool);

impl OnBackend for Time<'_> {
    type Output = f64;

    fn on<B: Backend>(self) -> Result<f64, HarnessError> {
        let (Self(settings, threads, stop), device) = (self, Default::default());
        let mut objective = Training::<Autodiff<B>>::new(settings, threads, &device);
        seconds_of_step(&start::<B>(settings, &device)?, &mut objective, stop)
    }
}

/// The model before its first step.
fn start<B: Backend>(
    settings: &Settings,
    device: &B::Device,
) -> Result<Dmm<Autodiff<B>>, HarnessError> {
    let model = settings.model.init(settings.seed, DType::F32, device);
    model.map_err(failed)
}

struct Run<'a> {
    settings: &'a Settings,
    request: Request<'a>,
}

impl OnBackend for Run<'_> {
    type Output = Outcome;

    fn on<B: Backend>(self) -> Result<Outcome, HarnessError> {
        let (settings, device) = (self.settings, Default::default());
        let t = &settings.training;
        let model = start::<B>(settings, &device)?;
        let mut request = self.request;
        let threads = request.threads;
        let mut objective = Training::<Autodiff<B>>::new(settings, threads, &device);
        let config = request.config(
            settings.seed,
            [t.learning_rate, t.beta_2],
            t.check_every,
            t.checkpoint_seconds,
        );
        let model = trained(model, &mut objective, &config, &device, &mut request)?;
        let pieces = request.pieces(&settings.evaluation)?;
        let on_progress = (request.on_progress, threads);
        let evaluation = evaluate(settings, &model, &device, on_progress, &pieces)?;
        let folder = request.folder;
        let metrics = read_metrics(folder.path())?;
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
