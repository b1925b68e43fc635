//! Straight-through estimators of counts that are exact for polynomials up to an order.

use burn::module::AutodiffModule;
use burn::tensor::{Tensor, activation};
use helmholtz_distributions::{Counts, Noise, Variables};
use helmholtz_ops::{AutodiffBackend, with_gradient_of};
use helmholtz_random::Chance;
use helmholtz_samplers::ChainStore;

use crate::{
    Batch, Declaration, Description, Domain, Estimate, EstimateError, Estimator, Factored, Layered,
    Learned, Reparameterise, Target, estimate_pathwise_batch,
};

/// Below this a variance is rounding; where the weights divide by it, what they divide is 0.
const LEAST: f64 = 1e-30;

/// A count z, its Jacobian in the logit a weight w(z): ∂ E f(z) / ∂a ≈ E\[f′(z) w(z)\]. Equality holds for f a polynomial of
/// degree up to the order in each count alone: finite-order relaxations (He & Wu 2026). The formulas are derived here.
///
/// A weight that does this for every degree d ≤ D has E\[w(z) P_k(z)\] = ∂ E\[F_k(z)\] / ∂a for the orthogonal polynomials P_0, …, P_{D−1}
/// of the family, F_k a primitive of P_k. Of least norm it is Σ_k c_k P_k, c_k = Cov(F_k, z) / E\[P_k²\]. With mean μ, variance s and
/// y = z − μ, that is
///
/// | order | Poisson, λ = e^a | binomial, p = σ(a), q = 1 − p |
/// |---|---|---|
/// | 1 | λ | npq |
/// | 2 | λ + y / 2 | npq + (q − p) y / 2 |
/// | 3 | … − (y² − y − λ) / 12λ | … − (y² − (q − p) y − npq) / 12 (n − 1) pq |
///
/// Order 1 is [`StraightThrough`](crate::StraightThrough), which takes counts as it is. For n = 1 there are two values, and with them no
/// polynomial beyond the second order: order 3 is then order 2, which is [`ReinMax`](crate::ReinMax) in expectation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FiniteOrder {
    /// Exact for quadratic f.
    Second,
    /// Exact for cubic f.
    Third,
}

impl FiniteOrder {
    /// w(z) `[N, counts]`, for logits `[N, counts]`.
    fn weights<B: AutodiffBackend>(
        self,
        counts: Counts,
        logits: Tensor<B, 2>,
        z: Tensor<B, 2>,
    ) -> Tensor<B, 2> {
        let (second, third) = match counts {
            // y² − y − λ = z (z − 1) − 2 λ z + λ², divided so that there is no 0 / 0 at λ = 0.
            Counts::Poisson { .. } => {
                let rate = logits.exp();
                let pairs = z.clone() * (z.clone() - 1.0) / rate.clone().clamp_min(LEAST);
                let third = pairs - z.clone() * 2.0 + rate.clone();
                ((rate + z) * 0.5, third)
            }
            Counts::Binomial { trials, .. } => {
                let n = f64::from(trials);
                // Weights are the same with successes and failures exchanged: the rarer are counted, so that nothing cancels.
                let flipped = logits.clone().greater_elem(0.0);
                let z = z.clone().mask_where(flipped, z.neg() + n);
                let p = activation::sigmoid(logits.abs().neg());
                let q = p.clone().neg() + 1.0;
                let mean = p.clone() * n;
                let skew = (q.clone() - p.clone()) * (z.clone() - mean.clone());
                let second = mean.clone() * q.clone() + skew * 0.5;
                let pairs = z.clone() * (z.clone() - 1.0) / p.clamp_min(LEAST);
                let third = match trials {
                    1 => z.zeros_like(),
                    _ => (pairs / (n - 1.0) - z * 2.0 + mean) / q,
                };
                (second, third)
            }
        };
        match self {
            Self::Second => second,
            Self::Third => second - third * (1.0 / 12.0),
        }
    }
}

impl Declaration for FiniteOrder {
    fn description(&self) -> Description {
        let (name, label, idea) = match self {
            Self::Second => (
                "finite-2",
                "Fini-2",
                "counts with a gradient exact for quadratic f",
            ),
            Self::Third => (
                "finite-3",
                "Fini-3",
                "counts with a gradient exact for cubic f",
            ),
        };
        Description {
            name,
            label,
            idea,
            target: Target::Nothing,
        }
    }

    fn domain(&self) -> Domain {
        Domain::Counts
    }

    fn evaluations(&self, particles: usize, _layers: usize, _retained: bool) -> usize {
        particles
    }

    fn takes_analytic_kl(&self) -> bool {
        true
    }
}

impl<B, M> Estimator<B, M> for FiniteOrder
where
    B: AutodiffBackend,
    M: AutodiffModule<B> + Layered<B, Variables = Counts> + Factored<B>,
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
        estimate_pathwise_batch(self, model, batch, noise)
    }
}

impl<B: AutodiffBackend> Reparameterise<B, Counts> for FiniteOrder {
    fn sample(
        &self,
        variables: Counts,
        logits: Tensor<B, 2>,
        uniforms: Tensor<B, 2>,
    ) -> Tensor<B, 2> {
        let z = variables.sample(logits.clone(), uniforms).numbers();
        let weights = self.weights(variables, logits.clone().detach(), z.clone());
        with_gradient_of(z, logits * weights)
    }
}
