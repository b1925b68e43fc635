//! Kernels on paths: conditional SMC.

use helmholtz_invariance::{InvarianceError, Law, TransitionMatrix, step_fn};
use helmholtz_random::{Chance, Enumerator};
use helmholtz_samplers::resampling::{
    ConditionalResampler, MultinomialByChoice, Policy, Resampler,
};
use helmholtz_samplers::smc::{ConditionalSmc, PathModel, ScoredPathModel};
use helmholtz_samplers::{Kernel, SamplerError};

use super::{Check, NO_KERNEL, Specimen};

/// m_0, m_t(x_t | x_{t-1}), and G_t(x_t) of two states.
const FIRST: [f64; 2] = [0.3, 0.7];
const MOVE: [[f64; 2]; 2] = [[0.8, 0.2], [0.35, 0.65]];
const WEIGHT: [[f64; 2]; 3] = [[2.0, 0.7], [0.5, 1.6], [3.0, 0.4]];

pub fn specimens() -> Vec<Specimen> {
    let specimen = |defect, check| Specimen {
        defect,
        found_by: "invariance",
        check: Check::Exact(check),
    };
    vec![
        specimen(
            "conditional SMC: retained slot overwritten after systematic resampling",
            overwritten,
        ),
        specimen(
            "ancestor sampling without the density of the move",
            without_density,
        ),
        specimen(
            "backward sampling by the weights alone",
            backward_without_density,
        ),
        specimen(
            "conditional SMC: weights reset though nothing was resampled",
            weights_reset,
        ),
    ]
}

struct Model {
    times: usize,
    scored: bool,
}

impl<C: Chance> PathModel<usize, C> for Model {
    fn times(&self) -> usize {
        self.times
    }

    fn propose(&self, _: usize, previous: Option<&usize>, chance: &mut C) -> usize {
        let law = previous.map_or(FIRST, |&x| MOVE[x]);
        chance.choose(&law.map(f64::ln)).unwrap_or(0)
    }

    fn log_weight(&self, t: usize, _: Option<&usize>, x: &usize) -> f64 {
        WEIGHT[t][*x].ln()
    }
}

impl<C: Chance> ScoredPathModel<usize, C> for Model {
    fn log_move(&self, _: usize, previous: &usize, x: &usize) -> f64 {
        if self.scored {
            MOVE[*previous][*x].ln()
        } else {
            0.0
        }
    }
}

/// max |πP - π| over all paths.
fn error(
    times: usize,
    kernel: &impl Kernel<Vec<usize>, Enumerator>,
) -> Result<f64, InvarianceError> {
    let paths: Vec<Vec<usize>> = (0..1usize << times)
        .map(|path| (0..times).map(|t| path >> t & 1).collect())
        .collect();
    let law = Law::of(&paths, |path| {
        let weights: f64 = path.iter().zip(WEIGHT).map(|(&x, w)| w[x].ln()).sum();
        let moves: f64 = path
            .windows(2)
            .map(|pair| MOVE[pair[0]][pair[1]].ln())
            .sum();
        FIRST[path[0]].ln() + moves + weights
    })?;
    TransitionMatrix::of(kernel, &paths)?.invariance_error(&law)
}

/// Systematic resampling as one choice among the intervals of its uniform, and the wrong condition.
struct Overwritten;

impl Resampler<Enumerator> for Overwritten {
    fn resample(
        &self,
        log_weights: &[f64],
        chance: &mut Enumerator,
        ancestors: &mut [u32],
    ) -> Result<(), SamplerError> {
        let total: f64 = log_weights.iter().map(|l| l.exp()).sum();
        let slots = ancestors.len() as f64;
        let sums: Vec<f64> = (log_weights.iter())
            .scan(0.0, |sum, l| {
                *sum += slots * l.exp() / total;
                Some(*sum)
            })
            .collect();
        let mut ends: Vec<f64> = sums
            .iter()
            .map(|sum| sum.fract())
            .chain([0.0, 1.0])
            .collect();
        ends.sort_by(f64::total_cmp);
        let lengths: Vec<f64> = ends.windows(2).map(|w| (w[1] - w[0]).ln()).collect();
        let chosen = chance.choose(&lengths).unwrap_or(0);
        let uniform = 0.5 * (ends[chosen] + ends[chosen + 1]);
        for (i, ancestor) in ancestors.iter_mut().enumerate() {
            let position = i as f64 + uniform;
            let reached = sums.iter().position(|&sum| sum > position);
            *ancestor = reached.unwrap_or(sums.len() - 1) as u32;
        }
        Ok(())
    }
}

impl ConditionalResampler<Enumerator> for Overwritten {
    fn resample_given(
        &self,
        slot: usize,
        ancestor: u32,
        log_weights: &[f64],
        chance: &mut Enumerator,
        ancestors: &mut [u32],
    ) -> Result<(), SamplerError> {
        self.resample(log_weights, chance, ancestors)?;
        ancestors[slot] = ancestor;
        Ok(())
    }
}

fn overwritten(repaired: bool) -> Result<f64, InvarianceError> {
    let model = Model {
        times: 2,
        scored: true,
    };
    if repaired {
        return match ConditionalSmc::new(model, MultinomialByChoice, Policy::Always, 3) {
            Ok(kernel) => error(2, &kernel),
            Err(_) => Ok(NO_KERNEL),
        };
    }
    match ConditionalSmc::new(model, Overwritten, Policy::Always, 3) {
        Ok(kernel) => error(2, &kernel),
        Err(_) => Ok(NO_KERNEL),
    }
}

fn without_density(repaired: bool) -> Result<f64, InvarianceError> {
    let model = Model {
        times: 3,
        scored: repaired,
    };
    match ConditionalSmc::new(model, MultinomialByChoice, Policy::Always, 2) {
        Ok(kernel) => error(3, &kernel.with_ancestor_sampling()),
        Err(_) => Ok(NO_KERNEL),
    }
}

fn backward_without_density(repaired: bool) -> Result<f64, InvarianceError> {
    let model = Model {
        times: 3,
        scored: repaired,
    };
    match ConditionalSmc::new(model, MultinomialByChoice, Policy::Always, 2) {
        Ok(kernel) => error(3, &kernel.with_backward_sampling()),
        Err(_) => Ok(NO_KERNEL),
    }
}

/// Two particles, two times, never resampled; the end chosen by the last weights alone.
fn weights_reset(repaired: bool) -> Result<f64, InvarianceError> {
    if repaired {
        let model = Model {
            times: 2,
            scored: true,
        };
        return match ConditionalSmc::new(model, MultinomialByChoice, Policy::Never, 2) {
            Ok(kernel) => error(2, &kernel),
            Err(_) => Ok(NO_KERNEL),
        };
    }
    let kernel = step_fn(|path: &mut Vec<usize>, chance: &mut Enumerator| {
        let first = chance.choose(&FIRST.map(f64::ln)).unwrap_or(0);
        let second = chance.choose(&MOVE[first].map(f64::ln)).unwrap_or(0);
        let particles = [path.clone(), vec![first, second]];
        let log_w = particles
            .each_ref()
            .map(|particle| WEIGHT[1][particle[1]].ln());
        *path = particles[chance.choose(&log_w).unwrap_or(0)].clone();
    });
    error(2, &kernel)
}
