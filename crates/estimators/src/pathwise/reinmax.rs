//! ReinMax: a straight-through estimator of second order (Liu, Dong, Liu, Yu & Gao 2023).

use burn::module::AutodiffModule;
use burn::tensor::Tensor;
use helmholtz_distributions::{Noise, Variables};
use helmholtz_ops::{AutodiffBackend, with_gradient_of};
use helmholtz_random::Chance;
use helmholtz_samplers::ChainStore;

use crate::{
    Batch, Declaration, Description, Estimate, EstimateError, Estimator, Factored, Layered,
    Learned, Reparameterise, Target, estimate_pathwise_batch,
};

/// A sample z of mean p with the Jacobian 2 J(m) − ½ J(p), m = ½ (p + z) (Liu et al. 2023, equation 6). J(m) is the
/// derivative of the mean in the logits where the mean is m: diag(m) − m mᵀ for classes, m (1 − m) for bits.
///
/// Biased. Exact in expectation for f quadratic in a single variable; for bits it is [`Half`](crate::Half).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReinMax;

impl Declaration for ReinMax {
    fn description(&self) -> Description {
        Description {
            name: "reinmax",
            label: "ReinMax",
            idea: "straight-through of second order; `half` for bits",
            target: Target::Nothing,
        }
    }

    fn evaluations(&self, particles: usize, _layers: usize, _retained: bool) -> usize {
        particles
    }

    fn takes_analytic_kl(&self) -> bool {
        true
    }
}

impl<B, V, M> Estimator<B, M> for ReinMax
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

impl<B: AutodiffBackend, V: Variables> Reparameterise<B, V> for ReinMax {
    fn sample(&self, variables: V, logits: Tensor<B, 2>, uniforms: Tensor<B, 2>) -> Tensor<B, 2> {
        let values = variables.sample(logits.clone(), uniforms).numbers();
        let mean = variables.mean(logits.clone().detach());
        let midpoint = (mean.clone() + values.clone()) * 0.5;
        let first = variables.tangent(logits.clone(), midpoint) * 2.0;
        let second = variables.tangent(logits, mean) * 0.5;
        with_gradient_of(values, first - second)
    }
}
