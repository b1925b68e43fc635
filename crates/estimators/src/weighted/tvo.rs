//! The thermodynamic variational objective.

use helmholtz_random::Chance;

use crate::weighted::rws::{non_finite, softmax};
use crate::{Coefficient, Description, Outcome, Target, Weighting};

/// The left Riemann sum Σ_m (β_{m+1} − β_m) E_{π_β_m}\[ℓ\] of ln p(x) = ∫₀¹ E_{π_β}\[ℓ\] dβ along π_β ∝ p(x, h)^β q(h | x)^{1−β}.
/// It is a lower bound, the ELBO with β = 0 alone (Masrani, Le & Wood 2019, equation 7). Its gradient is, for each β,
///
/// E_π\[∇ℓ\] + Cov_π(ℓ, β ∇ log p + (1 − β) ∇ log q),
///
/// both estimated with the weights softmax(β ℓ) of draws from q, the covariance times K/(K − 1) as in the released code.
///
/// β is 0 and β₁, which the paper's figure 3 chooses by K: 0.05 below 10 particles, 0.2 below 30, else 0.3. Biased for finite K, as
/// all self-normalised means are, and right as K grows. For β = 0 it is [`Rloo`](crate::Rloo), but for −1/K on each ∇ log q,
/// whose mean is zero. K ≥ 2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tvo;

impl Weighting for Tvo {
    fn description(&self) -> Description {
        Description {
            name: "tvo",
            label: "TVO",
            idea: "the thermodynamic variational objective, two temperatures, by covariances",
            target: Target::Nothing,
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
        let count = log_w.len();
        let first = match count {
            0..10 => 0.05,
            10..30 => 0.2,
            _ => 0.3,
        };
        let correction = count as f64 / (count - 1) as f64;
        coefficients.fill(Coefficient::default());
        for (beta, width) in [(0.0, first), (first, 1.0 - first)] {
            add(log_w, beta, width, correction, coefficients);
        }
        Outcome {
            state: 0,
            info: non_finite(log_w),
        }
    }
}

/// Adds `width` times the gradient of E_π\[ℓ\] at β, the covariance times `correction`.
fn add(log_w: &[f64], beta: f64, width: f64, correction: f64, coefficients: &mut [Coefficient]) {
    let tempered: Vec<f64> = log_w
        .iter()
        .map(|&l| if l.is_finite() { beta * l } else { l })
        .collect();
    let weights: Vec<f64> = softmax(&tempered).collect();
    let possible = |(l, w): (&f64, &f64)| if *w > 0.0 { l * w } else { 0.0 };
    let mean: f64 = log_w.iter().zip(&weights).map(possible).sum();
    for ((c, l), w) in coefficients.iter_mut().zip(log_w).zip(&weights) {
        if *w > 0.0 {
            let covariance = correction * (l - mean);
            c.theta += width * w * (1.0 + covariance * beta);
            c.phi += width * w * (covariance * (1.0 - beta) - 1.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use helmholtz_random::{Purpose, Stream};

    use super::*;
    use crate::Rloo;

    const LOG_P: [f64; 4] = [-1.0, 0.3, -2.2, 0.9];

    /// E_π\[ℓ\] at β over four states, π ∝ p^β q^{1−β}, for any log p and log q.
    fn mean(log_p: &[f64; 4], log_q: &[f64; 4], beta: f64) -> f64 {
        let log_pi = |s: usize| beta * log_p[s] + (1.0 - beta) * log_q[s];
        let total: f64 = (0..4).map(|s| log_pi(s).exp()).sum();
        let states = (0..4).map(|s| log_pi(s).exp() / total * (log_p[s] - log_q[s]));
        states.sum()
    }

    /// Each of the four states drawn once from an even q: then the weighted means are exact.
    #[test]
    fn the_coefficients_are_the_gradient_where_every_state_was_drawn() {
        let log_q = [0.25f64.ln(); 4];
        let log_w: Vec<f64> = LOG_P.iter().zip(log_q).map(|(p, q)| p - q).collect();
        let step = 1e-6;
        for beta in [0.0, 0.3, 0.8] {
            let mut coefficients = [Coefficient::default(); 4];
            add(&log_w, beta, 0.7, 1.0, &mut coefficients);
            let mut uncorrelated = [Coefficient::default(); 4];
            add(&log_w, beta, 0.7, 0.0, &mut uncorrelated);
            let mut gap = 0.0f64;
            for s in 0..4 {
                let slope = |of_p: bool| {
                    let at = |by: f64| {
                        let (mut log_p, mut log_q) = (LOG_P, log_q);
                        if of_p {
                            log_p[s] += by;
                        } else {
                            log_q[s] += by;
                        }
                        0.7 * mean(&log_p, &log_q, beta)
                    };
                    (at(step) - at(-step)) / (2.0 * step)
                };
                let c = coefficients[s];
                assert!((c.theta - slope(true)).abs() < 1e-8, "{beta}");
                assert!((c.phi - slope(false)).abs() < 1e-8, "{beta}");
                gap = gap.max((uncorrelated[s].phi - slope(false)).abs());
            }
            // The twin: without the covariance.
            assert!(gap > 1e-2, "{gap}");
        }
    }

    #[test]
    fn at_beta_0_it_is_rloo_but_for_a_term_of_mean_zero() {
        let mut chance = Stream::new(1, Purpose::new("test"), [0, 0]);
        let (mut own, mut rloo) = ([Coefficient::default(); 4], [Coefficient::default(); 4]);
        add(&LOG_P, 0.0, 1.0, 4.0 / 3.0, &mut own);
        Rloo.weigh(&LOG_P, false, &mut chance, &mut rloo);
        for (own, rloo) in own.iter().zip(rloo) {
            assert!((own.theta - rloo.theta).abs() < 1e-15);
            assert!((own.phi - (rloo.phi - 0.25)).abs() < 1e-14);
        }
    }

    #[test]
    fn impossible_particles_leave_numbers() {
        let mut chance = Stream::new(1, Purpose::new("test"), [0, 0]);
        for log_w in [[f64::NEG_INFINITY, 0.5, f64::NAN], [f64::NAN; 3]] {
            let mut coefficients = [Coefficient::default(); 3];
            Tvo.weigh(&log_w, false, &mut chance, &mut coefficients);
            let finite = |c: &Coefficient| c.theta.is_finite() && c.phi.is_finite();
            assert!(coefficients.iter().all(finite));
        }
    }

    /// The first temperature is that of the released code: it grows with the particles.
    #[test]
    fn the_two_temperatures_are_those_of_the_number_of_particles() {
        for (count, first) in [
            (2, 0.05),
            (9, 0.05),
            (10, 0.2),
            (29, 0.2),
            (30, 0.3),
            (50, 0.3),
        ] {
            let log_w: Vec<f64> = (0..count).map(|k| (k as f64).sin()).collect();
            let mut found = vec![Coefficient::default(); count];
            let mut chance = Stream::new(1, Purpose::new("tests"), [0, 0]);
            Tvo.weigh(&log_w, false, &mut chance, &mut found);
            let correction = count as f64 / (count as f64 - 1.0);
            let mut expected = vec![Coefficient::default(); count];
            add(&log_w, 0.0, first, correction, &mut expected);
            add(&log_w, first, 1.0 - first, correction, &mut expected);
            for (found, expected) in found.iter().zip(&expected) {
                let gap = (found.theta - expected.theta).abs() + (found.phi - expected.phi).abs();
                assert!(gap < 1e-12, "{count}: {gap}");
            }
        }
    }
}
