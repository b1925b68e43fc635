//! A small sequence of targets with known sums, and expectations over all runs of a sampler on it.

use std::cell::RefCell;
use std::collections::HashMap;

use helmholtz_random::{Chance, Enumerator, Purpose, Stream, enumerate};
use helmholtz_samplers::SamplerError;
use helmholtz_samplers::resampling::*;
use helmholtz_samplers::smc::{Increment, Population};

use crate::law::{Law, law_of_sorted, law_of_steps};

/// Rounding may add up to this share.
pub const TOLERANCE: f64 = 1e-12;

/// Targets γ_0, … , γ_T on a few states; a proposal for the start; forward and reverse kernels, none of which fits.
pub struct Toy {
    pub gammas: Vec<Vec<f64>>,
    pub start: Vec<f64>,
    /// K_t(x → x'), at t - 1.
    pub forward: Vec<Vec<Vec<f64>>>,
    /// L_t(x' → x), at t - 1.
    pub reverse: Vec<Vec<Vec<f64>>>,
}

impl Toy {
    /// With `zero`, γ_0 and γ_2 are zero at state 0.
    pub fn new(states: usize, steps: usize, zero: bool) -> Self {
        let mut stream = Stream::new(31, Purpose::new("test"), [states as u64, steps as u64]);
        let mut row = |scale: f64| -> Vec<f64> {
            (0..states)
                .map(|_| scale * (0.2 + 2.0 * stream.uniform_f64()))
                .collect()
        };
        let mut gammas: Vec<Vec<f64>> = (0..=steps).map(|t| row(3f64.powi(t as i32))).collect();
        if zero {
            gammas
                .iter_mut()
                .step_by(2)
                .for_each(|gamma| gamma[0] = 0.0);
        }
        let start = normalised(row(1.0));
        let mut matrix = |keep: &dyn Fn(usize) -> bool| -> Vec<Vec<f64>> {
            (0..states)
                .map(|_| {
                    let kept = row(1.0).into_iter().enumerate();
                    normalised(kept.map(|(x, p)| if keep(x) { p } else { 0.0 }).collect())
                })
                .collect()
        };
        let forward = (0..steps).map(|_| matrix(&|_| true)).collect();
        // No way back to where a particle cannot have been.
        let reverse = gammas[..steps]
            .iter()
            .map(|gamma| matrix(&|x| gamma[x] > 0.0))
            .collect();
        Self {
            gammas,
            start,
            forward,
            reverse,
        }
    }

    /// Z_t.
    pub fn z(&self, t: usize) -> f64 {
        self.gammas[t].iter().sum()
    }

    /// Σ γ_t f.
    pub fn sum(&self, t: usize, f: impl Fn(usize) -> f64) -> f64 {
        self.gammas[t]
            .iter()
            .enumerate()
            .map(|(x, g)| g * f(x))
            .sum()
    }

    pub fn draw_start(&self, chance: &mut impl Chance) -> (usize, f64) {
        let x = choose(&self.start, chance);
        (x, self.gammas[0][x].ln() - self.start[x].ln())
    }

    /// Moves x to x' ~ K_t, and gives the four log-densities.
    pub fn extend(&self, t: usize, state: &mut usize, chance: &mut impl Chance) -> Increment {
        let x = *state;
        *state = choose(&self.forward[t - 1][x], chance);
        Increment {
            log_target: self.gammas[t][*state].ln(),
            log_reverse: self.reverse[t - 1][*state][x].ln(),
            log_previous: self.gammas[t - 1][x].ln(),
            log_forward: self.forward[t - 1][x][*state].ln(),
        }
    }
}

fn normalised(row: Vec<f64>) -> Vec<f64> {
    let total: f64 = row.iter().sum();
    row.iter().map(|p| p / total).collect()
}

pub fn choose(probabilities: &[f64], chance: &mut impl Chance) -> usize {
    let log: Vec<f64> = probabilities.iter().map(|p| p.ln()).collect();
    chance.choose(&log).expect("a probability above zero")
}

/// Σ over all branches of P · f(branch).
pub fn expectation(mut f: impl FnMut(&mut Enumerator) -> f64) -> f64 {
    enumerate(|chance| f(chance))
        .into_iter()
        .map(|(p, value)| p * value)
        .sum()
}

/// Ẑ Σ W_i f(x_i) of a run, zero if the population died out.
pub fn weighted<S>(run: Result<Population<S>, SamplerError>, f: impl Fn(&S) -> f64) -> f64 {
    match run {
        Ok(population) => population.log_evidence().exp() * population.mean(f),
        Err(SamplerError::AllWeightsZero { .. }) => 0.0,
        Err(error) => panic!("{error}"),
    }
}

/// |a / b - 1|.
pub fn relative_error(a: f64, b: f64) -> f64 {
    (a / b - 1.0).abs()
}

/// A scheme of the crate that asks for uniforms, as one choice among what it can do, by its exact law.
pub struct ByLaw {
    law: fn(&[f64], usize) -> Law,
    known: RefCell<HashMap<Vec<u64>, Law>>,
}

impl ByLaw {
    pub fn several() -> [(&'static str, Self); 4] {
        let new = |law| Self {
            law,
            known: RefCell::default(),
        };
        [
            ("systematic", new(|l, n| law_of_steps(&Systematic, l, n))),
            ("stratified", new(|l, n| law_of_steps(&Stratified, l, n))),
            ("residual", new(|l, n| law_of_sorted(&Residual, l, n))),
            ("multinomial", new(|l, n| law_of_sorted(&Multinomial, l, n))),
        ]
    }
}

impl Resampler<Enumerator> for ByLaw {
    fn resample(
        &self,
        log_weights: &[f64],
        chance: &mut Enumerator,
        ancestors: &mut [u32],
    ) -> Result<(), SamplerError> {
        let key = log_weights.iter().map(|l| l.to_bits()).collect();
        let mut known = self.known.borrow_mut();
        let law = known
            .entry(key)
            .or_insert_with(|| (self.law)(log_weights, ancestors.len()));
        let log_probabilities: Vec<f64> = law.values().map(|p| p.ln()).collect();
        let chosen = chance.choose(&log_probabilities).expect("a law");
        ancestors.copy_from_slice(law.keys().nth(chosen).expect("chosen among them"));
        Ok(())
    }
}
