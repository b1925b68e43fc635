//! Hamiltonian Monte Carlo as an experiment's baseline: its settings, and many chains at once.

use burn::tensor::Tensor;
use helmholtz_ops::AutodiffBackend;
use helmholtz_random::Stream;
use helmholtz_samplers::{BatchedHmc, Info};
use serde::{Deserialize, Serialize};

use crate::error::HarnessError;
use crate::framework::failed;

/// Settings of the chains' moves.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HmcSettings {
    /// Leapfrog steps of each row; none leaves it out.
    pub leapfrog: Vec<usize>,
    /// The step size; where the warm-up starts, if there is one.
    pub step_size: f64,
    /// Moves that find the step size; 0 keeps it.
    pub warm_up: usize,
    /// The acceptance probability that the warm-up aims at.
    pub acceptance: f64,
}

/// Settings of the moves of reweighted wake-sleep's particles before they are learned from: HMC-RWS, trained.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainingMoves {
    /// Moves of each particle.
    pub moves: usize,
    /// Leapfrog steps of a move.
    pub leapfrog: usize,
    /// The step size.
    pub step_size: f64,
}

impl TrainingMoves {
    /// Returns what is wrong with the moves of a training by so many sweeps, if anything.
    pub(crate) fn problem(moves: Option<&Self>, sweeps: usize) -> Option<&'static str> {
        (moves.is_some() && sweeps > 1).then_some(
            "`training.hmc` moves the particles of the one-shot proposal alone: set `training.sweeps` to 1",
        )
    }

    /// Returns the moves as settings of an evaluation's chains, without a warm-up.
    pub(crate) fn held(&self) -> HmcSettings {
        HmcSettings {
            leapfrog: Vec::new(),
            step_size: self.step_size,
            warm_up: 0,
            acceptance: 0.5,
        }
    }
}

/// A population whose continuous latents are rows, one for each chain.
pub struct Chains<S, R, D, N> {
    /// State at which the chains start.
    pub start: S,
    /// Their rows.
    pub rows: R,
    /// ln p of rows, given what else is in the population.
    pub log_density: D,
    /// The population with new rows.
    pub next: N,
}

/// Acceptance and step size of the moves of chains.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Moves {
    /// The share of proposals that were accepted.
    pub accepted: f64,
    /// The step size.
    pub step_size: f64,
}

impl Moves {
    /// The mean over batches.
    pub fn mean(all: &[Self]) -> [f64; 2] {
        let sum = |of: fn(&Self) -> f64| all.iter().map(of).sum::<f64>() / all.len() as f64;
        [sum(|own| own.accepted), sum(|own| own.step_size)]
    }
}

impl<S, R, D, N> Chains<S, R, D, N> {
    /// The population after `moves` moves of `leapfrog` steps.
    ///
    /// The step size is found by a warm-up that starts where the chains do, and stays; the chains then start again, so that moves
    /// count from there.
    ///
    /// # Errors
    /// A step size that cannot be found.
    pub fn run<B, F>(
        self,
        (settings, leapfrog): (&HmcSettings, usize),
        moves: usize,
        stream: &mut Stream,
    ) -> Result<(S, Moves), HarnessError>
    where
        B: AutodiffBackend,
        F: Fn(Tensor<B, 2>) -> Tensor<B, 1>,
        R: Fn(&S) -> Tensor<B::InnerBackend, 2>,
        D: Fn(&S) -> F,
        N: Fn(S, Tensor<B::InnerBackend, 2>, &mut Stream) -> S,
    {
        let kernel = |state: &S, step_size: f64| {
            BatchedHmc::new((self.log_density)(state), step_size, leapfrog).map_err(failed)
        };
        let mut state = self.start;
        let mut step_size = settings.step_size;
        if settings.warm_up > 0 {
            let (acceptance, rows) = (settings.acceptance, (self.rows)(&state));
            let kernel = kernel(&state, step_size)?;
            let warmed = kernel.tune_step_size(acceptance, settings.warm_up, rows, stream);
            step_size = warmed.map_err(failed)?.0.step_size();
        }
        let mut info = Info::default();
        for _ in 0..moves {
            let (rows, own) = kernel(&state, step_size)?.step((self.rows)(&state), stream);
            info += own;
            state = (self.next)(state, rows, stream);
        }
        let accepted = info.accepted as f64 / (info.moves as f64).max(1.0);
        let moves = Moves {
            accepted,
            step_size,
        };
        Ok((state, moves))
    }
}
