//! Gumbel-Rao: straight-through Gumbel-softmax, its noise averaged out given the value (Paulus, Maddison & Krause 2021).

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

/// The value b that noisy logits z stand for, with the Jacobian (1/M) Σ_m ∂ relax_τ(z̃_m)/∂z, z̃_m independent draws of z given b
/// (Paulus, Maddison & Krause 2021, equation 10).
///
/// z̃_m is held, as the noise of straight-through Gumbel-softmax is: its derivative in the logits is the identity. So the mean
/// given b is that of [`GumbelSoftmax`](crate::GumbelSoftmax) with `hard`, at the same τ, whose bias it has, and the variance is
/// never larger. With M = 1 they are one law.
///
/// M draws cost no value of f.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GumbelRao {
    /// τ > 0.
    pub temperature: f64,
    /// M, 1 or more; with 0 an estimate panics.
    pub draws: usize,
}

impl GumbelRao {
    /// τ = 1 as of `st-gumbel-softmax`, M = 10, the least of the paper.
    pub const DEFAULT: Self = Self {
        temperature: 1.0,
        draws: 10,
    };
}

impl Declaration for GumbelRao {
    fn description(&self) -> Description {
        Description {
            name: "gumbel-rao",
            label: "Gumbel-Rao",
            idea: "ST Gumbel-softmax, its noise averaged out given the value",
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

impl<B, V, M> Estimator<B, M> for GumbelRao
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

impl<B: AutodiffBackend, V: Relaxable> Reparameterise<B, V> for GumbelRao {
    fn uniforms(&self, variables: V) -> usize {
        (1 + self.draws) * variables.noisy()
    }

    fn sample(&self, variables: V, logits: Tensor<B, 2>, uniforms: Tensor<B, 2>) -> Tensor<B, 2> {
        let noisy = variables.noisy();
        let noise = |m: usize| variables.noise(uniforms.clone().narrow(1, m * noisy, noisy));
        let temperature =
            Tensor::full([1, 1], self.temperature, (&logits.device(), logits.dtype()));
        let z = variables.perturb(logits.clone(), noise(0));
        let hard = variables.harden(z.clone().detach());
        let held = logits.detach();
        let draws = (1..=self.draws).map(|m| {
            let given = variables.perturb_given(held.clone(), hard.clone(), noise(m));
            variables.relax(with_gradient_of(given, z.clone()), temperature.clone())
        });
        let sum = draws.reduce(|sum, relaxed| sum + relaxed);
        let mean = sum.expect("a draw") * (1.0 / self.draws as f64);
        with_gradient_of(hard, mean)
    }
}
