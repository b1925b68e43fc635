//! A gradient step of the nets, and a check of them.

use std::error::Error;
use std::ops::Range;

use burn::module::Module;
use burn::optim::GradientsParams;
use burn::tensor::Tensor;
use helmholtz_apg::{Sampler, Streams};
use helmholtz_ops::AutodiffBackend;
use helmholtz_random::Stream;
use helmholtz_samplers::resampling::Systematic;
use helmholtz_tracker::{Bounce, Identities, Scheme, Sequence, Tracker, TrackerState, Video};
use helmholtz_training::Objective;
use serde_json::{Map, Value};

use super::digits::video;
use super::hamiltonian::moved;
use super::watched::{Watched, borrowed, watch};
use super::{Digits, Settings};
use crate::population::CHECK;
use crate::population::hamiltonian::TrainingMoves;
use crate::population::parts::{Part, Step, gradients, parts};
use crate::population::populations::{mean, sampler};

/// Groups of a step's particles, which threads share: a batch has too few sequences to divide evenly. Smaller groups cost more than a
/// third thread gains (`results/benchmarks.md`).
fn groups(particles: usize) -> usize {
    (particles / 10).clamp(2, 8)
}

/// Sequences of a number of digits, and the images that they show.
struct Corpus {
    bounce: Bounce,
    identities: Identities,
}

/// Objective of the nets: the losses of all blocks on fresh sequences.
pub struct Training<'a, B: AutodiffBackend> {
    settings: &'a Settings,
    digits: &'a Digits,
    /// Those of a step, by the number of digits; steps have them in turn.
    corpora: Vec<Corpus>,
    sampler: Sampler<Systematic>,
    device: B::Device,
    check: Vec<Sequence>,
    check_bounce: Bounce,
    threads: usize,
}

impl<'a, B: AutodiffBackend> Training<'a, B> {
    /// Makes the objective of these settings, on sequences of these digits and so many threads.
    ///
    /// # Errors
    /// Sequences that cannot be made.
    pub fn new(
        settings: &'a Settings,
        digits: &'a Digits,
        threads: usize,
        device: &B::Device,
    ) -> Result<Self, helmholtz_tracker::BounceError> {
        let training = &settings.training;
        let bounce = settings.bounce(training.frames, training.digits);
        let own = digits.identities(&bounce, CHECK)?;
        let numbers = 0..training.check_sequences;
        let check = numbers.map(|number| digits.sequence(&bounce, CHECK, number, &own));
        let corpus = |count| {
            let bounce = settings.bounce(training.frames, count);
            let identities = digits.identities(&bounce, settings.seed)?;
            Ok(Corpus { bounce, identities })
        };
        Ok(Self {
            corpora: training.digits().map(corpus).collect::<Result<_, _>>()?,
            check: check.collect(),
            sampler: sampler(training.particles, training.sweeps),
            device: device.clone(),
            settings,
            digits,
            check_bounce: bounce,
            threads,
        })
    }

    fn sequences(&self, step: u64, numbers: Range<u64>) -> Video<B> {
        let Corpus { bounce, identities } = &self.corpora[step as usize % self.corpora.len()];
        let own = |number| {
            let seed = self.settings.seed;
            self.digits.sequence(bounce, seed, number, identities)
        };
        let sequences: Vec<Sequence> = numbers.map(own).collect();
        video(bounce, &sequences, &self.device)
    }
}

/// The particles of HMC-RWS where it learns from them. The density that moves them is the model's own, by which they were weighed: where
/// pixels are the nearest the likelihood pulls at no position.
fn moved_where<B: AutodiffBackend>(
    model: &Tracker<B>,
    hmc: &TrainingMoves,
    x: &Video<B>,
    state: TrackerState<B>,
    stream: &mut Stream,
) -> Result<TrackerState<B>, Box<dyn Error + Send + Sync>> {
    let (frozen, held) = (model.clone().no_grad(), hmc.held());
    let how = (&held, hmc.leapfrog, hmc.moves);
    let start = TrackerState {
        position: state.position.inner(),
        appearance: state.appearance.inner(),
    };
    let sampling = model.canvas().sampling;
    let (state, _) = moved(&frozen, (how, sampling), x, start, stream)?;
    Ok(TrackerState {
        position: Tensor::from_inner(state.position),
        appearance: Tensor::from_inner(state.appearance),
    })
}

impl<B: AutodiffBackend> Objective<B, Tracker<B>> for Training<'_, B> {
    /// Sequences `step · batch` and on.
    fn gradients(
        &mut self,
        model: &Tracker<B>,
        step: u64,
    ) -> Result<(GradientsParams, f64), Box<dyn Error + Send + Sync>> {
        let (seed, batch) = (self.settings.seed, self.settings.training.batch);
        if let Some(hmc) = &self.settings.training.hmc {
            let of = |model: &Tracker<B>, numbers: Range<u64>, streams: &mut Streams| -> Part {
                let x = self.sequences(step, numbers);
                let moves = |state, stream: &mut _| moved_where(model, hmc, &x, state, stream);
                let found = self.sampler.moved_gradients(model, &x, streams, moves);
                found.map(|(gradients, moved)| (gradients, moved.log_evidence()))
            };
            let place = Step {
                seed,
                number: step,
                threads: self.threads,
            };
            return gradients(model, place, &parts(step, batch, batch), of);
        }
        let x = self.sequences(step, step * batch..(step + 1) * batch);
        let blocks = Scheme::Apg.blocks(self.settings.training.frames);
        let groups = 0..groups(self.sampler.particles());
        let streams = groups.map(|group| Streams::new(seed, step).part(group));
        let (gradients, run) = self.sampler.gradients_in_groups(
            model,
            &x,
            &borrowed(&blocks),
            streams.collect(),
            self.threads,
        )?;
        Ok((gradients, -mean(&run.population.log_evidence())))
    }

    fn check(
        &self,
        model: &Tracker<B::InnerBackend>,
        steps: u64,
    ) -> Result<Map<String, Value>, Box<dyn Error + Send + Sync>> {
        let name = format!("the check after {steps} steps, seed {}", self.settings.seed);
        let streams = &mut Streams::new(CHECK, steps).named(name);
        let watched = watch(
            model,
            Scheme::Apg,
            &self.sampler,
            &self.check_bounce,
            &self.check,
            streams,
            &self.device,
        )?;
        let mut row = Map::new();
        for (when, watched) in [("one_shot", watched.first()), ("end", watched.last())] {
            let Some(Watched {
                mse,
                log_joint,
                log_evidence,
                error,
                ..
            }) = watched
            else {
                continue;
            };
            let measured = [
                ("mse", mse),
                ("log_joint", log_joint),
                ("log_evidence", log_evidence),
                ("error", error),
            ];
            for (what, values) in measured {
                row.insert(format!("{what}_{when}"), mean(values).into());
            }
        }
        if let Some(last) = watched.last() {
            for (block, share) in &last.ess {
                row.insert(format!("ess_{block}"), (*share).into());
            }
        }
        Ok(row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::population::stepwise::Stepwise;
    use crate::source::Source;
    use burn::backend::Autodiff;
    use burn_flex::Flex;

    #[test]
    fn steps_have_their_numbers_of_digits_in_turn() {
        let source = Source::find("apg-bmnist").unwrap();
        let digits = Digits::grey(4, 14);
        for (profile, expected) in [("mixed", [1, 2, 3, 4, 5, 1, 2]), ("quick", [2; 7])] {
            let (settings, _) = Settings::parse(&source, profile).unwrap();
            let device = Default::default();
            let training = Training::<Autodiff<Flex>>::new(&settings, &digits, 1, &device);
            let training = training.unwrap();
            let counts = (0..7).map(|step| training.sequences(step, 0..1).digits);
            assert_eq!(counts.collect::<Vec<_>>(), expected, "{profile}");
        }
    }

    #[test]
    fn groups_have_ten_particles_or_so() {
        assert_eq!([10, 20, 50, 100, 200].map(groups), [2, 2, 5, 8, 8]);
    }
}
