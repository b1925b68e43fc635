//! OVIS: the importance-weighted bound with control variates that are nearly the best ones.

use std::iter::once;

use helmholtz_random::Chance;
use helmholtz_samplers::log_sum_exp;

use crate::weighted::rws::{non_finite, softmax};
use crate::{Coefficient, Description, Outcome, Target, Weighting};

/// Σ_k (L̂ − w̃_k − c_k) ∇ log q(h_k | x) and Σ_k w̃_k ∇ log p(x, h_k), with L̂ = ln (1/K) Σ_k w_k and w̃ = softmax(ℓ). The
/// asymptotically best c_k is ln Ẑ_{−k} − γ w̃_k + (1 − γ) ln(1 − 1/K), Ẑ_{−k} the mean of the other weights (Liévin, Dittadi,
/// Christensen & Winther 2020, equation 17). The sign of γ w̃_k is as in their code.
///
/// With γ = 0, for few effective samples, c_k = ln (1/K) Σ_{j≠k} w_j is made of the other particles alone: unbiased for the
/// gradient of the K-sample bound, K ≥ 2. With γ = 1, for many, c_k has w̃_k in it. The mean is then off by what VIMCO with the
/// arithmetic mean has as its direct term: right as K grows alone.
///
/// Particles whose ℓ is not finite have weight zero. Where all others have, 0 is taken for ln of their mean, as in
/// [`Vimco`](crate::Vimco).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ovis {
    /// Whether γ is 1; else it is 0.
    pub many: bool,
}

impl Weighting for Ovis {
    fn description(&self) -> Description {
        match self.many {
            false => Description {
                name: "ovis",
                label: "OVIS (γ = 0)",
                idea: "the K-sample bound less the same of the others' weights",
                target: Target::Bound,
            },
            true => Description {
                name: "ovis-many",
                label: "OVIS (γ = 1)",
                idea: "`vimco-arithmetic` without its direct term: right as K grows",
                target: Target::Nothing,
            },
        }
    }

    fn least_particles(&self, _retained: bool) -> usize {
        2
    }

    fn weigh(
        &self,
        log_w: &[f64],
        _retained: bool,
        _chance: &mut dyn Chance,
        coefficients: &mut [Coefficient],
    ) -> Outcome {
        let (log_w, info) = (possible(log_w), non_finite(log_w));
        let total = log_sum_exp(log_w.iter().copied());
        let count = log_w.len() as f64;
        let weights = softmax(&log_w);
        for ((k, coefficient), weight) in coefficients.iter_mut().enumerate().zip(weights) {
            let rest = log_sum_exp(without(&log_w, k));
            let log_shares = match self.many {
                true => ((count - 1.0) / count).ln(),
                false => 0.0,
            };
            // L̂ − c_k − w̃_k, K having dropped out where there are two sums.
            let signal = match (total.is_finite(), rest.is_finite()) {
                (true, true) => total - rest + log_shares,
                (true, false) => total - count.ln(),
                (false, _) => 0.0,
            };
            let direct = if self.many { 0.0 } else { weight };
            *coefficient = Coefficient {
                theta: weight,
                phi: signal - direct,
            };
        }
        Outcome { state: 0, info }
    }
}

/// [`Ovis`] with c_k the mean of L̂ − w̃_k over S further draws in place of h_k (Liévin, Dittadi, Christensen & Winther 2020,
/// equation 12). Nothing learns from these draws. S = K here, and each of them serves all k: 2 K values of f, K (K + 1) values of
/// the bound.
///
/// Unbiased for the gradient of the K-sample bound, at every K: c_k does not depend on h_k.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OvisMonteCarlo;

impl Weighting for OvisMonteCarlo {
    fn description(&self) -> Description {
        Description {
            name: "ovis-mc",
            label: "OVIS (Monte Carlo)",
            idea: "the K-sample bound less its mean over K further draws",
            target: Target::Bound,
        }
    }

    fn proposals(&self, particles: usize, _retained: bool) -> usize {
        2 * particles
    }

    fn weigh(
        &self,
        log_w: &[f64],
        _retained: bool,
        _chance: &mut dyn Chance,
        coefficients: &mut [Coefficient],
    ) -> Outcome {
        let (log_w, info) = (possible(log_w), non_finite(log_w));
        let particles = log_w.len() / 2;
        let (own, further) = log_w.split_at(particles);
        coefficients.fill(Coefficient::default());
        let weights = softmax(own);
        for ((k, coefficient), weight) in coefficients.iter_mut().enumerate().zip(weights) {
            let with = |other: f64| signal(own, k, other);
            let control = further.iter().map(|&l| with(l)).sum::<f64>() / further.len() as f64;
            *coefficient = Coefficient {
                theta: weight,
                phi: with(own[k]) - control,
            };
        }
        Outcome { state: 0, info }
    }
}

/// L̂ − w̃_k with ℓ in the place of ℓ_k; 0 where no weight is left.
fn signal(log_w: &[f64], k: usize, l: f64) -> f64 {
    let total = log_sum_exp(without(log_w, k).chain(once(l)));
    match total.is_finite() {
        true => total - (log_w.len() as f64).ln() - (l - total).exp(),
        false => 0.0,
    }
}

/// ℓ_j of j ≠ k.
fn without(log_w: &[f64], k: usize) -> impl Iterator<Item = f64> + Clone {
    let others = log_w.iter().enumerate();
    others.filter(move |(j, _)| *j != k).map(|(_, &l)| l)
}

/// ℓ, −∞ where it is not finite.
fn possible(log_w: &[f64]) -> Vec<f64> {
    let of = |&l: &f64| if l.is_finite() { l } else { f64::NEG_INFINITY };
    log_w.iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use helmholtz_random::{Purpose, Stream};

    use super::*;
    use crate::Vimco;

    fn weighed(estimator: &impl Weighting, log_w: &[f64]) -> Vec<Coefficient> {
        let mut coefficients = vec![Coefficient::default(); log_w.len()];
        let mut chance = Stream::new(1, Purpose::new("test"), [0, 0]);
        estimator.weigh(log_w, false, &mut chance, &mut coefficients);
        coefficients
    }

    #[test]
    fn with_many_effective_samples_it_is_arithmetic_vimco_without_the_direct_term() {
        let log_w = [-1.5, 0.75, 0.2, -4.0];
        let vimco = weighed(&Vimco { arithmetic: true }, &log_w);
        let off = |many| {
            let own = weighed(&Ovis { many }, &log_w);
            let pairs = own.iter().zip(&vimco);
            let off = |(own, vimco): (&Coefficient, &Coefficient)| {
                assert!((own.theta - vimco.theta).abs() < 1e-14);
                (own.phi - (vimco.phi + vimco.theta)).abs()
            };
            pairs.map(off).fold(0.0, f64::max)
        };
        assert!(off(true) < 1e-13);
        // The twin: the control variate of few effective samples.
        assert!(off(false) > 1e-2);
    }

    #[test]
    fn the_control_variate_of_two_is_half_the_other_weight() {
        let log_w = [-2.5f64, 0.75];
        let total = (0.5 * (log_w[0].exp() + log_w[1].exp())).ln();
        for (k, own) in weighed(&Ovis { many: false }, &log_w).iter().enumerate() {
            let control = log_w[1 - k] - 2f64.ln();
            assert!((own.phi - (total - own.theta - control)).abs() < 1e-13);
        }
    }

    /// L̂ − w̃_k of the own particles, less its mean over the further ones in the place of the k-th.
    #[test]
    fn by_monte_carlo_the_control_variate_is_the_mean_over_the_further_draws() {
        let (own, further) = ([-2.5, 0.75, 0.2], [1.5, -0.3, -4.0]);
        let signal = |log_w: [f64; 3], k: usize| {
            let total: f64 = log_w.iter().map(|l| l.exp()).sum();
            (total / 3.0).ln() - log_w[k].exp() / total
        };
        let found = weighed(&OvisMonteCarlo, &[own, further].concat());
        let mut gap = 0.0f64;
        for k in 0..3 {
            let with = |l: f64| {
                let mut log_w = own;
                log_w[k] = l;
                signal(log_w, k)
            };
            let control = further.iter().map(|&l| with(l)).sum::<f64>() / 3.0;
            let expected = with(own[k]) - control;
            assert!((found[k].phi - expected).abs() < 1e-13, "{k}");
            gap = gap.max(control.abs());
        }
        assert!(found[3..].iter().all(|c| *c == Coefficient::default()));
        // The twin: without it.
        assert!(gap > 0.1, "{gap}");
    }

    #[test]
    fn where_no_other_is_possible_zero_stands_for_the_logarithm_of_their_mean() {
        let log_w = [-3.0, f64::NEG_INFINITY, f64::NEG_INFINITY];
        let bound = -3.0 - 3f64.ln();
        for (many, direct) in [(false, 1.0), (true, 0.0)] {
            let own = weighed(&Ovis { many }, &log_w)[0];
            assert!((own.phi - (bound - direct)).abs() < 1e-13, "{many}");
        }
    }

    #[test]
    fn impossible_particles_leave_numbers() {
        for impossible in [f64::NEG_INFINITY, f64::NAN, f64::INFINITY] {
            let pair = [-3.0, impossible, impossible, -2.0];
            let all: Vec<_> = [false, true]
                .into_iter()
                .flat_map(|many| weighed(&Ovis { many }, &pair[..2]))
                .chain(weighed(&OvisMonteCarlo, &pair))
                .chain(weighed(&OvisMonteCarlo, &[impossible; 4]))
                .collect();
            let finite = |c: &Coefficient| c.theta.is_finite() && c.phi.is_finite();
            assert!(all.iter().all(finite), "{all:?}");
        }
    }
}
