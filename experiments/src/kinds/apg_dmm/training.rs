//! A gradient step of the model and its proposals, and a check of them.

use std::error::Error;
use std::ops::Range;

use burn::module::{AutodiffModule, Module};
use burn::optim::GradientsParams;
use burn::tensor::Tensor;
use helmholtz_apg::Streams;
use helmholtz_dmm::{Dmm, DmmState, Scheme, Simulated};
use helmholtz_ops::AutodiffBackend;
use helmholtz_random::Stream;
use helmholtz_training::Objective;
use serde_json::{Map, Value};

use super::Settings;
use super::hamiltonian::moved;
use super::instances::rings;
use super::watched::watch;
use crate::population::CHECK;
use crate::population::hamiltonian::TrainingMoves;
use crate::population::parts::{Part, Step, gradients, parts};
use crate::population::populations::{mean, sampler};

/// Parts of a batch.
const PARTS: u64 = 4;

/// Objective of the nets: the losses of all blocks on fresh instances.
pub struct Training<'a, B: AutodiffBackend> {
    settings: &'a Settings,
    device: B::Device,
    check: Simulated<B::InnerBackend>,
    threads: usize,
}

impl<'a, B: AutodiffBackend> Training<'a, B> {
    /// Makes the objective of these settings, on so many threads.
    pub fn new(settings: &'a Settings, threads: usize, device: &B::Device) -> Self {
        let t = &settings.training;
        let numbers: Vec<u64> = (0..t.check_instances).collect();
        Self {
            check: rings(settings, CHECK, &numbers, t.points, device),
            device: device.clone(),
            settings,
            threads,
        }
    }
}

impl<B: AutodiffBackend> Training<'_, B> {
    /// The particles of HMC-RWS where it learns from them.
    fn moved(
        &self,
        model: &Dmm<B>,
        hmc: &TrainingMoves,
        x: &Tensor<B, 3>,
        state: DmmState<B>,
        stream: &mut Stream,
    ) -> Result<DmmState<B>, Box<dyn Error + Send + Sync>> {
        let models = (&model.clone().no_grad(), &model.valid());
        let (held, seen) = (hmc.held(), x.clone().inner());
        let how = (&held, hmc.leapfrog, hmc.moves);
        let start = DmmState {
            mean: state.mean.inner(),
            assignment: state.assignment.inner(),
            angle: state.angle.inner(),
        };
        let (state, _) = moved(models, how, &seen, start, stream)?;
        Ok(DmmState {
            mean: Tensor::from_inner(state.mean),
            assignment: Tensor::from_inner(state.assignment),
            angle: Tensor::from_inner(state.angle),
        })
    }
}

impl<B: AutodiffBackend> Objective<B, Dmm<B>> for Training<'_, B> {
    /// Instances `step · batch` and on.
    fn gradients(
        &mut self,
        model: &Dmm<B>,
        step: u64,
    ) -> Result<(GradientsParams, f64), Box<dyn Error + Send + Sync>> {
        let (t, seed) = (&self.settings.training, self.settings.seed);
        let sampler = sampler(t.particles, t.sweeps);
        let of = |model: &Dmm<B>, numbers: Range<u64>, streams: &mut Streams| -> Part {
            let numbers: Vec<u64> = numbers.collect();
            let x = rings::<B>(self.settings, seed, &numbers, t.points, &self.device).x;
            if let Some(hmc) = &t.hmc {
                let moves = |state, stream: &mut _| self.moved(model, hmc, &x, state, stream);
                let found = sampler.moved_gradients(model, &x, streams, moves);
                return found.map(|(gradients, moved)| (gradients, moved.log_evidence()));
            }
            let blocks = Scheme::Apg.blocks();
            let (gradients, run) = sampler.gradients(model, &x, &blocks, streams)?;
            Ok((gradients, run.population.log_evidence()))
        };
        let place = Step {
            seed,
            number: step,
            threads: self.threads,
        };
        gradients(model, place, &parts(step, t.batch, PARTS), of)
    }

    fn check(
        &self,
        model: &Dmm<B::InnerBackend>,
        steps: u64,
    ) -> Result<Map<String, Value>, Box<dyn Error + Send + Sync>> {
        let t = &self.settings.training;
        let sampler = sampler(t.particles, t.sweeps);
        let name = format!("the check after {steps} steps, seed {}", self.settings.seed);
        let streams = &mut Streams::new(CHECK, steps).named(name);
        let (watched, ess) = watch(model, &sampler, Scheme::Apg, &self.check, streams)?;
        let mut row = Map::new();
        row.insert("radius".into(), model.radius().into());
        for (when, watched) in [("one_shot", watched.first()), ("end", watched.last())] {
            let watched = watched.expect("a one-shot proposal");
            row.insert(format!("log_joint_{when}"), mean(&watched.log_joint).into());
            row.insert(format!("accuracy_{when}"), mean(&watched.accuracy).into());
        }
        for (block, share) in ess {
            row.insert(format!("ess_{block}"), share.into());
        }
        Ok(row)
    }
}
