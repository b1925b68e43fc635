//! A gradient step of the proposals, and a check of them.

use std::error::Error;
use std::ops::Range;

use burn::module::{Module, ModuleMapper, Param};
use burn::optim::GradientsParams;
use burn::tensor::{DType, Tensor};
use helmholtz_apg::{Sampler, Streams};
use helmholtz_gmm::{Gmm, Scheme, Simulated};
use helmholtz_ops::AutodiffBackend;
use helmholtz_samplers::resampling::Systematic;
use helmholtz_training::Objective;
use serde_json::{Map, Value};

use super::Settings;
use super::samplers::{instances, moved};
use crate::population::CHECK;
use crate::population::parts::{Part, Step, gradients, parts};
use crate::population::populations::{mean, numbers, sampler};

/// Parts of a batch. A small one costs its operations rather than its data: measured once, four parts of five instances took 29 % more
/// processor time than one of twenty, two parts 7 %.
const PARTS: u64 = 2;

/// Objective of the proposals: the losses of all blocks on fresh instances.
pub struct Training<'a, B: AutodiffBackend> {
    settings: &'a Settings,
    sampler: Sampler<Systematic>,
    device: B::Device,
    /// The instances of checks, with their true latents, in f64.
    check: Simulated<B::InnerBackend>,
    threads: usize,
}

impl<'a, B: AutodiffBackend> Training<'a, B> {
    /// Makes the objective of these settings, on so many threads.
    pub fn new(settings: &'a Settings, threads: usize, device: &B::Device) -> Self {
        let training = &settings.training;
        let numbers: Vec<u64> = (0..training.check_instances).collect();
        let config = &settings.model;
        Self {
            sampler: sampler(training.particles, training.sweeps),
            check: config.simulate(CHECK, &numbers, training.points, DType::F64, device),
            device: device.clone(),
            settings,
            threads,
        }
    }
}

impl<B: AutodiffBackend> Objective<B, Gmm<B>> for Training<'_, B> {
    /// Instances `step · batch` and on.
    fn gradients(
        &mut self,
        model: &Gmm<B>,
        step: u64,
    ) -> Result<(GradientsParams, f64), Box<dyn Error + Send + Sync>> {
        let (settings, t) = (self.settings, &self.settings.training);
        let of = |model: &Gmm<B>, numbers: Range<u64>, streams: &mut Streams| -> Part {
            let numbers: Vec<u64> = numbers.collect();
            let x = instances(
                &settings.model,
                settings.seed,
                &numbers,
                t.points,
                &self.device,
            );
            if let Some(hmc) = &t.hmc {
                let moves = |state, stream: &mut _| -> Result<_, Box<dyn Error + Send + Sync>> {
                    let of = (model, &settings.model);
                    Ok(moved(of, &x, state, hmc, stream, |_| {})?)
                };
                let found = self.sampler.moved_gradients(model, &x, streams, moves);
                return found.map(|(gradients, moved)| (gradients, moved.log_evidence()));
            }
            let blocks = Scheme::Apg.blocks();
            let (gradients, run) = self.sampler.gradients(model, &x, &blocks, streams)?;
            Ok((gradients, run.population.log_evidence()))
        };
        let place = Step {
            seed: settings.seed,
            number: step,
            threads: self.threads,
        };
        gradients(model, place, &parts(step, t.batch, PARTS), of)
    }

    fn check(
        &self,
        model: &Gmm<B::InnerBackend>,
        steps: u64,
    ) -> Result<Map<String, Value>, Box<dyn Error + Send + Sync>> {
        let Simulated { x, truth } = &self.check;
        let clusters = model.clusters() as f64;
        // Small divergences are differences of large numbers.
        let exact = model.clone().map(&mut ToF64);
        let kl = numbers(exact.kl(x, &truth.assignment));
        let assignment_kl = numbers(exact.assignment_kl(x, truth));
        let one_shot_kl = exact.one_shot_kl(x, &truth.assignment);
        let [one_shot_slope, slope] = model.least_slopes();
        let x = x.clone().cast(DType::F32);
        let name = format!("the check after {steps} steps, seed {}", self.settings.seed);
        let mut streams = Streams::new(CHECK, steps).named(name);
        let blocks = Scheme::Apg.blocks();
        let run = self
            .sampler
            .run(model, &x, &blocks, &mut streams, |_, _, _| {})?;
        let mut row = Map::new();
        row.insert("kl".into(), (mean(&kl) / clusters).into());
        row.insert("assignment_kl".into(), mean(&assignment_kl).into());
        row.insert("one_shot_kl".into(), (mean(&one_shot_kl) / clusters).into());
        row.insert("slope_one-shot".into(), one_shot_slope.into());
        row.insert("slope_eta".into(), slope.into());
        let last = run.records.len().saturating_sub(blocks.len()).max(1);
        for record in run.records[..1].iter().chain(&run.records[last..]) {
            let share = mean(&record.ess) / self.sampler.particles() as f64;
            row.insert(format!("ess_{}", record.block), share.into());
        }
        row.insert(
            "log_evidence".into(),
            mean(&run.population.log_evidence()).into(),
        );
        Ok(row)
    }
}

/// Parameters in f64.
struct ToF64;

impl<B: burn::tensor::backend::Backend> ModuleMapper<B> for ToF64 {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<B, D>>) -> Param<Tensor<B, D>> {
        param.map(|tensor| tensor.cast(DType::F64))
    }
}
