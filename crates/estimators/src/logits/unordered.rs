//! The unordered-set estimator: REINFORCE without replacement (Kool, van Hoof & Welling 2020).

use burn::module::AutodiffModule;
use helmholtz_distributions::Noise;
use helmholtz_ops::AutodiffBackend;
use helmholtz_random::Chance;
use helmholtz_samplers::{ChainStore, Info};

use crate::Race;
use crate::host::numbers;
use crate::logits::beam::Beams;
use crate::logits::logit_gradient::tracked;
use crate::logits::shares::Shares;
use crate::objective::at_least;
use crate::weighted::surrogate::surrogate;
use crate::{
    Batch, Coefficient, Declaration, Description, Estimate, EstimateError, Estimator, Joint,
    Layered, Learned, Target,
};

/// From a set S of K latents of each datum that q gave without replacement, the order of the draws averaged out:
///
/// Σ_{s∈S} P(s first | S) \[ ∇ log p(x, s) + (ℓ_s − b_s) ∇ log q(s | x) \],  ℓ = log p(x, s) − log q(s | x),
///
/// b_s = q(s) ℓ_s + (1 − q(s)) Σ_{t≠s} P(t second | s first, S) ℓ_t
///
/// (Kool, van Hoof & Welling 2020; P(s first | S) is q(s) R(S, s) there). S is drawn by Gumbel-top-K over whole
/// latents, by a stochastic beam of K that grows by a variable at a time (Kool, van Hoof & Welling 2019).
///
/// Unbiased: given S it is the mean of the first draw's score times ℓ, and b_s has the mean of ℓ whatever s is. Where no latent is likely
/// the draws are as good as independent, and it is [`Rloo`](crate::Rloo); where S holds all latents it is the gradient itself. A datum with
/// fewer latents than K takes all. K at most 16, since the orders are summed over by the subsets of S.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unordered;

/// The most particles: 2^K subsets are summed over for each datum.
const MOST: usize = 16;

impl Declaration for Unordered {
    fn description(&self) -> Description {
        Description {
            name: "unordered-set",
            label: "Unordered set",
            idea: "distinct latents, the order of the draws averaged out",
            target: Target::Elbo,
        }
    }

    fn least_particles(&self, _retained: bool) -> usize {
        2
    }

    fn evaluations(&self, particles: usize, _layers: usize, _retained: bool) -> usize {
        particles
    }
}

impl<B, V, M> Estimator<B, M> for Unordered
where
    B: AutodiffBackend,
    V: Race,
    M: AutodiffModule<B> + Layered<B, Variables = V> + Joint<B>,
    M::InnerModule: Layered<B::InnerBackend, Variables = V> + Joint<B::InnerBackend>,
{
    fn estimate<S: ChainStore + ?Sized>(
        &self,
        model: &M,
        _learned: &mut Learned<B>,
        batch: Batch<'_, B, S>,
        noise: &mut impl Noise,
        _chance: &mut impl Chance,
    ) -> Result<Estimate<B>, EstimateError> {
        batch.check(self)?;
        let Batch { x, particles, .. } = batch;
        at_least(2, particles, &x)?;
        if particles > MOST {
            return Err(EstimateError::TooManyParticles {
                most: MOST,
                given: particles,
            });
        }
        let beams = Beams::draw(&model.valid(), x.clone().inner(), particles, noise);
        let drawn = tracked::<B>(&beams.particles());
        let log_p = model.log_joint(x.clone(), &drawn);
        let log_q = model.log_q(&model.encode(x.clone()), &drawn);
        let values: Vec<f64> = numbers::<f64>(&(log_p.clone() - log_q.clone()).into_data());

        let data = x.dims()[0];
        let mut coefficients = vec![Coefficient::default(); values.len()];
        let mut elbo = 0.0;
        for (datum, log_q) in beams.log_q().enumerate() {
            let own = (0..log_q.len()).map(|s| values[s * data + datum]);
            let own: Vec<f64> = own.collect();
            for (s, coefficient) in weighed(&log_q, &own).into_iter().enumerate() {
                elbo += coefficient.theta * own[s] / data as f64;
                coefficients[s * data + datum] = coefficient;
            }
        }
        Ok(Estimate {
            loss: surrogate(&coefficients, data, log_p, log_q),
            elbo,
            live_rows: coefficients
                .iter()
                .filter(|c| **c != Coefficient::default())
                .count(),
            info: Info::default(),
            controls: None,
        })
    }
}

/// The coefficients of the members of a set, given log q(s) and ℓ_s.
fn weighed(log_q: &[f64], values: &[f64]) -> Vec<Coefficient> {
    let shares = Shares::of(log_q);
    let of = |s: usize| {
        let second = shares.second(s);
        let others: f64 = second.iter().zip(values).map(|(share, l)| share * l).sum();
        let own = log_q[s].exp();
        let baseline = own * values[s] + (1.0 - own) * others;
        let first = shares.first(s);
        Coefficient {
            theta: first,
            phi: first * (values[s] - baseline),
        }
    };
    (0..log_q.len()).map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOGITS: [f64; 5] = [0.4, -1.1, 0.9, -0.2, 1.7];
    const VALUES: [f64; 5] = [-3.0, 2.5, 0.7, -1.2, 4.0];

    fn law() -> [f64; 5] {
        let total: f64 = LOGITS.iter().map(|a| a.exp()).sum();
        LOGITS.map(|a| a.exp() / total)
    }

    /// Every order of K draws without replacement, with its probability.
    fn orders(k: usize) -> Vec<(Vec<usize>, f64)> {
        let q = law();
        let mut all = vec![(Vec::new(), 1.0)];
        for _ in 0..k {
            let longer = all.iter().flat_map(|(drawn, p): &(Vec<usize>, f64)| {
                let left = 1.0 - drawn.iter().map(|&s| q[s]).sum::<f64>();
                let next = (0..5).filter(|s| !drawn.contains(s));
                let longer = next.map(move |s| ([&drawn[..], &[s]].concat(), p * q[s] / left));
                longer.collect::<Vec<_>>()
            });
            all = longer.collect();
        }
        all
    }

    /// ∂/∂a of E ℓ, a softmax's logits, and the mean of the estimate over all sets.
    fn exact_and_mean(k: usize, of: impl Fn(&[f64], &[f64]) -> Vec<Coefficient>) -> [[f64; 5]; 2] {
        let q = law();
        let mean: f64 = q.iter().zip(VALUES).map(|(q, l)| q * l).sum();
        let mut found = [0.0; 5];
        for (set, probability) in orders(k) {
            let log_q: Vec<f64> = set.iter().map(|&s| q[s].ln()).collect();
            let values: Vec<f64> = set.iter().map(|&s| VALUES[s]).collect();
            for (&s, coefficient) in set.iter().zip(of(&log_q, &values)) {
                for c in 0..5 {
                    let score = f64::from(u8::from(c == s)) - q[c];
                    found[c] += probability * coefficient.phi * score;
                }
            }
        }
        [std::array::from_fn(|c| q[c] * (VALUES[c] - mean)), found]
    }

    fn off([exact, found]: [[f64; 5]; 2]) -> f64 {
        let pairs = exact.iter().zip(found);
        pairs.map(|(e, f)| (e - f).abs()).fold(0.0, f64::max)
    }

    #[test]
    fn the_mean_over_all_sets_is_the_gradient() {
        for k in 2..=5 {
            let off = off(exact_and_mean(k, weighed));
            assert!(off < 1e-13, "K = {k}: {off:e}");
        }
    }

    /// The twin: with replacement's weights the likely ones count too little.
    #[test]
    fn even_weights_have_another_mean() {
        let even = |_: &[f64], values: &[f64]| {
            let (count, sum) = (values.len() as f64, values.iter().sum::<f64>());
            let phi = |l: &f64| (l - (sum - l) / (count - 1.0)) / count;
            let of = values.iter().map(|l| Coefficient {
                theta: 0.0,
                phi: phi(l),
            });
            of.collect()
        };
        assert!(off(exact_and_mean(3, even)) > 1e-3);
    }

    #[test]
    fn a_set_of_everything_gives_the_gradient_itself() {
        let q = law();
        let coefficients = weighed(&q.map(f64::ln), &VALUES);
        for (coefficient, q) in coefficients.iter().zip(q) {
            assert!((coefficient.theta - q).abs() < 1e-14);
        }
    }

    #[test]
    fn where_no_member_is_likely_it_is_leave_one_out() {
        let coefficients = weighed(&[-40.0, -55.0, -43.0], &VALUES[..3]);
        let sum: f64 = VALUES[..3].iter().sum();
        for (coefficient, l) in coefficients.iter().zip(VALUES) {
            let rloo = (l - (sum - l) / 2.0) / 3.0;
            assert!((coefficient.theta - 1.0 / 3.0).abs() < 1e-14);
            assert!((coefficient.phi - rloo).abs() < 1e-14);
        }
    }

    #[test]
    fn a_member_that_is_all_but_certain_leaves_finite_numbers() {
        let coefficients = weighed(&[0.0, -800.0, -90.0], &VALUES[..3]);
        assert!(coefficients.iter().all(|c| c.phi.is_finite()));
        assert!((coefficients[0].theta - 1.0).abs() < 1e-12);
    }
}
