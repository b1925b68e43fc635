//! Straight-through estimators: hard samples with a surrogate Jacobian. Biased.

use burn::module::AutodiffModule;
use burn::tensor::{Tensor, activation};
use helmholtz_distributions::{Bits, Noise, Variables};
use helmholtz_ops::{AutodiffBackend, with_gradient_of};
use helmholtz_random::Chance;
use helmholtz_samplers::ChainStore;

use crate::{
    Batch, Declaration, Description, Domain, Estimate, EstimateError, Estimator, Factored, Joint,
    Layered, Learned, Reparameterise, Target, estimate_pathwise, estimate_pathwise_batch,
};

/// A sample h ~ q with the Jacobian of its mean, ∂h/∂a := ∂E\[h\]/∂a (Bengio, Léonard & Courville 2013): p (1 − p) for bits,
/// diag(p) − p pᵀ for classes, λ or n p (1 − p) for counts.
///
/// Exact in expectation for f linear in the values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StraightThrough;

impl Declaration for StraightThrough {
    fn description(&self) -> Description {
        Description {
            name: "straight-through",
            label: "ST",
            idea: "hard latents with the gradient of their mean",
            target: Target::Nothing,
        }
    }

    fn domain(&self) -> Domain {
        Domain::All
    }

    fn evaluations(&self, particles: usize, _layers: usize, _retained: bool) -> usize {
        particles
    }

    fn takes_analytic_kl(&self) -> bool {
        true
    }
}

impl<B, V, M> Estimator<B, M> for StraightThrough
where
    B: AutodiffBackend,
    V: Variables,
    M: AutodiffModule<B> + Layered<B, Variables = V> + Factored<B>,
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

impl<B: AutodiffBackend, V: Variables> Reparameterise<B, V> for StraightThrough {
    fn sample(&self, variables: V, logits: Tensor<B, 2>, uniforms: Tensor<B, 2>) -> Tensor<B, 2> {
        let values = variables.sample(logits.clone(), uniforms).numbers();
        with_gradient_of(values, variables.mean(logits))
    }
}

/// [`SlopeAnnealed`], its slope growing with the epochs (Chung, Ahn & Bengio 2017). Where the layers are the generative model's
/// own the slope is the model's, in tests too ([`Layered::sloped`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AnnealedSlope;

impl Declaration for AnnealedSlope {
    fn description(&self) -> Description {
        Description {
            name: "slope-annealed",
            label: "ST (annealed slope)",
            idea: "straight-through with a slope that grows with the epochs",
            target: Target::Nothing,
        }
    }

    fn domain(&self) -> Domain {
        Domain::Bits
    }

    fn evaluations(&self, particles: usize, _layers: usize, _retained: bool) -> usize {
        particles
    }

    fn slope_after(&self, epochs: u64) -> Option<f64> {
        Some(SlopeAnnealed::at_epoch(epochs.saturating_sub(1)).slope)
    }
}

impl<B, M> Estimator<B, M> for AnnealedSlope
where
    B: AutodiffBackend,
    M: AutodiffModule<B> + Layered<B, Variables = Bits> + Joint<B>,
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
        let annealed = SlopeAnnealed::at_epoch(batch.epoch);
        match model.sloped(annealed.slope) {
            Some(model) => estimate_pathwise(&StraightThrough, &model, x, particles, noise),
            None => estimate_pathwise(&annealed, model, x, particles, noise),
        }
    }
}

/// [`StraightThrough`] with a slope s: b ~ Bernoulli(p), p = σ(s a), ∂b/∂a := s p (1 − p). The slope grows in training, so
/// that the Jacobian is smooth first and steep later (Chung, Ahn & Bengio 2017).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlopeAnnealed {
    /// s ≥ 1.
    pub slope: f64,
}

impl SlopeAnnealed {
    /// min(5, 1.04^epoch), epochs from 0.
    pub fn at_epoch(epoch: u64) -> Self {
        let slope = 1.04f64.powf(epoch as f64).min(5.0);
        Self { slope }
    }
}

impl<B: AutodiffBackend> Reparameterise<B, Bits> for SlopeAnnealed {
    fn sample(
        &self,
        variables: Bits,
        logits: Tensor<B, 2>,
        uniforms: Tensor<B, 2>,
    ) -> Tensor<B, 2> {
        StraightThrough.sample(variables, logits, uniforms)
    }

    fn slope(&self) -> f64 {
        self.slope
    }
}

/// The ½ estimator: b ~ Bernoulli(p) with ∂b/∂a := p (1 − p) / (2 P(b)), P(b) the probability of the bit that was drawn (Gu,
/// Levine, Sutskever & Mnih 2016).
///
/// Exact in expectation for f quadratic in b. For two classes it is ReinMax (Liu et al. 2023), whose Jacobian
/// 2 m (1 − m) − ½ p (1 − p), m = ½ (p + b), is the same number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Half;

impl Declaration for Half {
    fn description(&self) -> Description {
        Description {
            name: "half",
            label: "1/2",
            idea: "straight-through, exact for quadratic f",
            target: Target::Nothing,
        }
    }

    fn domain(&self) -> Domain {
        Domain::Bits
    }

    fn evaluations(&self, particles: usize, _layers: usize, _retained: bool) -> usize {
        particles
    }
}

impl<B, M> Estimator<B, M> for Half
where
    B: AutodiffBackend,
    M: AutodiffModule<B> + Layered<B, Variables = Bits> + Joint<B>,
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
        estimate_pathwise(self, model, batch.x, batch.particles, noise)
    }
}

impl<B: AutodiffBackend> Reparameterise<B, Bits> for Half {
    fn sample(
        &self,
        variables: Bits,
        logits: Tensor<B, 2>,
        uniforms: Tensor<B, 2>,
    ) -> Tensor<B, 2> {
        let bits = variables.sample(logits.clone(), uniforms).numbers();
        // p (1 − p) / P(b) is the probability of the other bit, |b − p|: nothing to clip.
        let other = (bits.clone() - activation::sigmoid(logits.clone().detach())).abs();
        with_gradient_of(bits, logits * other.mul_scalar(0.5))
    }
}
