//! Straight-through Gumbel-softmax with a temperature each for values and for gradients (Shah, Yan, Mozer & Liu 2024).

use burn::module::AutodiffModule;
use burn::tensor::Tensor;
use helmholtz_distributions::{Noise, Relaxable};
use helmholtz_ops::{AutodiffBackend, with_gradient_of};
use helmholtz_random::Chance;
use helmholtz_samplers::ChainStore;

use crate::{
    Batch, Declaration, Description, Estimate, EstimateError, Estimator, Factored, Layered,
    Learned, Reparameterise, Target, estimate_pathwise_batch,
};

/// h = one-hot argmax(φ/τ_f + G) with the Jacobian of softmax((φ + G)/τ_b) in φ. The Gumbel noise G is the same in both; bits have
/// logistic noise, a sign and a sigmoid (Shah, Yan, Mozer & Liu 2024, arXiv 2410.13331).
///
/// So the value is drawn from softmax(φ/τ_f), while f holds the density of softmax(φ). A temperature that divided the noise as
/// well would change no value. With τ_f = 1 values are drawn from q, and it is [`GumbelSoftmax`](crate::GumbelSoftmax) with `hard` at
/// τ_b, draw for draw.
///
/// Biased. The authors choose both temperatures by task, and find no best pair of equal ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decoupled {
    /// τ_f > 0, of values.
    pub forward: f64,
    /// τ_b > 0, of gradients.
    pub backward: f64,
}

impl Decoupled {
    /// τ_f = ½ and τ_b = 1: values that are surer than q, gradients as of `st-gumbel-softmax`. No choice of the paper's.
    pub const DEFAULT: Self = Self {
        forward: 0.5,
        backward: 1.0,
    };
}

impl Declaration for Decoupled {
    fn description(&self) -> Description {
        Description {
            name: "st-gumbel-softmax-decoupled",
            label: "ST Gumbel-softmax (decoupled)",
            idea: "ST Gumbel-softmax, a temperature each for values and gradients",
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

impl<B, V, M> Estimator<B, M> for Decoupled
where
    B: AutodiffBackend,
    V: Relaxable,
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

impl<B: AutodiffBackend, V: Relaxable> Reparameterise<B, V> for Decoupled {
    fn uniforms(&self, variables: V) -> usize {
        variables.noisy()
    }

    fn sample(&self, variables: V, logits: Tensor<B, 2>, uniforms: Tensor<B, 2>) -> Tensor<B, 2> {
        let backward = Tensor::full([1, 1], self.backward, (&logits.device(), logits.dtype()));
        let noise = variables.noise(uniforms);
        let sharpened = logits.clone().detach().mul_scalar(1.0 / self.forward);
        let hard = variables.harden(variables.perturb(sharpened, noise.clone()));
        let relaxed = variables.relax(variables.perturb(logits, noise), backward);
        with_gradient_of(hard, relaxed)
    }
}
