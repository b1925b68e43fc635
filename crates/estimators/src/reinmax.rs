//! ReinMax: a straight-through estimator of second order (Liu, Dong, Liu, Yu & Gao 2023).

use burn::tensor::Tensor;
use helmholtz_distributions::Variables;
use helmholtz_ops::AutodiffBackend;

use crate::Reparameterise;
use crate::straight_through::with_gradient_of;

/// A sample z of mean p with the Jacobian 2 J(m) − ½ J(p), m = ½ (p + z), J(m) the derivative of the mean in the logits where the
/// mean is m: diag(m) − m mᵀ for classes, m (1 − m) for bits (Liu et al. 2023, equation 6).
///
/// Biased. Exact in expectation for f quadratic in a single variable; for bits it is [`Half`](crate::Half).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReinMax;

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
