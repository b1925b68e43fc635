//! Estimates without burn-in bias, from pairs of coupled chains.

use helmholtz_invariance::{InvarianceError, expectation};
use helmholtz_random::{Chance, Enumerator};
use helmholtz_samplers::Kernel;
use helmholtz_samplers::coupling::{CoupledKernel, LaggedChains};

use super::{Check, NO_KERNEL, Specimen};

pub fn specimens() -> Vec<Specimen> {
    let specimen = |defect, check| Specimen {
        defect,
        found_by: "exact mean",
        check: Check::Exact(check),
    };
    vec![
        specimen(
            "lagged chains: differences of every step, not of every L-th",
            every_step,
        ),
        specimen(
            "lagged chains: number of differences rounded down",
            rounded_down,
        ),
    ]
}

/// The last three tosses of a coin; two chains that share the coin have met after three steps.
struct Tosses;

impl<C: Chance> Kernel<usize, C> for Tosses {
    type Info = ();

    fn step(&self, x: &mut usize, chance: &mut C) {
        *x = (2 * *x + usize::from(chance.accept(HEADS.ln()))) % 8;
    }
}

impl<C: Chance> CoupledKernel<usize, C> for Tosses {
    fn step_both(&self, states: [&mut usize; 2], chance: &mut C) -> [(); 2] {
        let coin = usize::from(chance.accept(HEADS.ln()));
        states.map(|x| *x = (2 * *x + coin) % 8)
    }
}

const HEADS: f64 = 0.3;
const LAG: usize = 2;

/// Whether all three are heads.
fn h(x: &usize) -> f64 {
    if *x == 7 { 1.0 } else { 0.0 }
}

/// |E H_0 - P(three heads)| of chains with a lag of two from three heads, the differences X_t - Y_{t-L} taken at `times` of
/// the meeting time.
fn error<T: Iterator<Item = usize>>(
    repaired: bool,
    times: impl Fn(usize) -> T,
) -> Result<f64, InvarianceError> {
    let mean = expectation(|chance: &mut Enumerator| {
        if repaired {
            let pair = LaggedChains::run(&Tosses, |_| 7, LAG, 0, 10, chance);
            let estimate = pair.and_then(|pair| pair.estimate(0, 0, h));
            return vec![estimate.unwrap_or(NO_KERNEL)];
        }
        let (mut x, mut ahead, mut behind) = (7, vec![7], vec![7]);
        for _ in 0..LAG {
            Tosses.step(&mut x, chance);
            ahead.push(x);
        }
        let mut y = 7;
        while x != y {
            Tosses.step_both([&mut x, &mut y], chance);
            ahead.push(x);
            behind.push(y);
        }
        let differences = times(ahead.len() - 1).map(|t| h(&ahead[t]) - h(&behind[t - LAG]));
        vec![h(&ahead[0]) + differences.sum::<f64>()]
    });
    Ok((mean[0] - HEADS.powi(3)).abs())
}

fn every_step(repaired: bool) -> Result<f64, InvarianceError> {
    error(repaired, |meeting| LAG..meeting)
}

/// ⌊(τ - L) / L⌋ differences instead of ⌈(τ - L) / L⌉.
fn rounded_down(repaired: bool) -> Result<f64, InvarianceError> {
    error(repaired, |meeting| {
        (1..=(meeting - LAG) / LAG).map(|j| j * LAG)
    })
}
