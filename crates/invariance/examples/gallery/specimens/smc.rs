//! SMC samplers: the evidence of waste-free SMC, and the variance of an evidence from one run.

use helmholtz_invariance::{InvarianceError, expectation, step_fn};
use helmholtz_random::{Chance, Enumerator};
use helmholtz_samplers::SamplerError;
use helmholtz_samplers::resampling::{MultinomialByChoice, Policy};
use helmholtz_samplers::smc::{
    Ancestry, Population, Smc, Tempered, TemperedPath, relative_variance,
};

use super::{Check, NO_KERNEL, Specimen};

pub fn specimens() -> Vec<Specimen> {
    let specimen = |defect, check| Specimen {
        defect,
        found_by: "exact mean",
        check: Check::Exact(check),
    };
    vec![
        specimen(
            "waste-free SMC: chains of the last temperature at every step",
            last_temperature,
        ),
        specimen(
            "variance of ln Ẑ: last weights taken for independent ones",
            last_weights,
        ),
    ]
}

/// A normalised base, and weights to be reached from it, of two states.
const BASE: [f64; 2] = [0.7, 0.3];
const TARGET: [f64; 2] = [0.4, 3.5];

/// |E Ẑ / Z - 1| of four particles in two chains along the ladder 0.4, 1. A kernel that is not told the temperature keeps the
/// target of the end, and the weights alone are tempered. (Issue 495 of BlackJAX names kernels of which that is true.)
fn last_temperature(repaired: bool) -> Result<f64, InvarianceError> {
    let path = TemperedPath::new(|&x: &usize| BASE[x].ln(), |&x: &usize| TARGET[x].ln());
    let run = |chance: &mut Enumerator| -> Result<f64, SamplerError> {
        let smc = Smc::new(MultinomialByChoice, Policy::Always)?;
        let draw = |chance: &mut Enumerator| chance.choose(&BASE.map(f64::ln)).unwrap_or(0);
        let mut sampler = Tempered::start(4, &path, smc, chance, draw)?;
        for beta in [0.4, 1.0] {
            let of_kernel = if repaired { beta } else { 1.0 };
            let kernel = step_fn(|x: &mut usize, chance: &mut Enumerator| {
                let to = 1 - *x;
                let log_density = |x| path.log_density(of_kernel, x);
                if chance.accept(log_density(&to) - log_density(x)) {
                    *x = to;
                }
            });
            sampler.step_waste_free(beta, &kernel, 2, chance)?;
        }
        Ok(sampler.population().log_evidence().exp())
    };
    let mean = expectation(|chance| vec![run(chance).unwrap_or(f64::NAN)]);
    let z: f64 = TARGET.iter().sum();
    Ok(finite(mean[0] / z - 1.0))
}

/// The moves between two states, and their weights at three times.
const MOVE: [[f64; 2]; 2] = [[0.8, 0.2], [0.35, 0.65]];
const WEIGHT: [[f64; 2]; 3] = [[2.0, 0.7], [0.5, 1.6], [3.0, 0.4]];

/// |E[Ẑ² V] - Var Ẑ| / Z² of three particles, resampled at every step. Without their genealogy they count as independent.
fn last_weights(repaired: bool) -> Result<f64, InvarianceError> {
    let run = |chance: &mut Enumerator| -> Result<[f64; 3], SamplerError> {
        let smc = Smc::new(MultinomialByChoice, Policy::Always)?;
        let mut population = Population::draw(3, chance, |chance| {
            let x = usize::from(chance.accept(0.7f64.ln()));
            (x, WEIGHT[0][x].ln())
        })?;
        let mut ancestry = Ancestry::new(3);
        for weight in &WEIGHT[1..] {
            let info = smc.step(&mut population, chance, |x, chance| {
                *x = chance.choose(&MOVE[*x].map(f64::ln)).unwrap_or(0);
                weight[*x].ln()
            })?;
            ancestry.push(info.ancestors)?;
        }
        if !repaired {
            ancestry = Ancestry::new(3);
        }
        let z = population.log_evidence().exp();
        Ok([z, z * z, z * z * relative_variance(&population, &ancestry)?])
    };
    let mean = expectation(|chance| run(chance).unwrap_or([f64::NAN; 3]).to_vec());
    let z2 = mean[0] * mean[0];
    Ok(finite((mean[2] - (mean[1] - z2)) / z2))
}

/// The size of an error; that of no kernel if a run failed.
fn finite(error: f64) -> f64 {
    if error.is_nan() {
        NO_KERNEL
    } else {
        error.abs()
    }
}
