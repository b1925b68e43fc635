//! Relaxed variables: noise and a temperature.

use burn::module::AutodiffModule;
use burn::tensor::Tensor;
use helmholtz_distributions::{Noise, Relaxable};
use helmholtz_ops::{AutodiffBackend, with_gradient_of};
use helmholtz_random::Chance;
use helmholtz_samplers::ChainStore;

use crate::{
    Batch, Controls, ControlsConfig, Declaration, Description, Estimate, EstimateError, Estimator,
    Factored, Layered, Learned, Reparameterise, Target, Temperature, estimate_pathwise_batch,
};

/// For bits z = σ((a + ln u − ln(1 − u)) / τ), binary Concrete; for classes z = softmax((φ + G) / τ), G Gumbel (Maddison, Mnih &
/// Teh 2017; Jang, Gu & Poole 2017).
///
/// The objective is f at relaxed values, with the discrete log-probabilities of p and q evaluated there: biased for ∇ELBO. log q is
/// scored under logits that are constants ([`estimate_pathwise`](crate::estimate_pathwise)). For relaxed bits the term that is left out
/// has mean E\[z\] − σ(a), which is not 0: so the gradient is of no objective. With an analytic KL, which has no such term, and without
/// `hard`, it is unbiased for E\[log p(x | z)\] − KL at relaxed values. With `hard` the values are hard and their Jacobian is ∂z/∂a.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GumbelSoftmax {
    /// τ > 0.
    pub temperature: f64,
    /// Straight-through: the value is the hard one, the gradient that of z.
    pub hard: bool,
}

impl GumbelSoftmax {
    /// Relaxed latents, at the temperature of binary Concrete's paper.
    pub const SOFT: Self = Self {
        temperature: 2.0 / 3.0,
        hard: false,
    };

    /// Hard latents with the gradient of relaxed ones.
    pub const STRAIGHT_THROUGH: Self = Self {
        temperature: 1.0,
        hard: true,
    };
}

impl Declaration for GumbelSoftmax {
    fn description(&self) -> Description {
        match self.hard {
            false => Description {
                name: "gumbel-softmax",
                label: "Gumbel-softmax",
                idea: "relaxed latents at temperature 2/3, the discrete densities at them",
                target: Target::Nothing,
            },
            true => Description {
                name: "st-gumbel-softmax",
                label: "ST Gumbel-softmax",
                idea: "hard latents with the gradient of relaxed ones at temperature 1",
                target: Target::Nothing,
            },
        }
    }

    fn evaluations(&self, particles: usize, _layers: usize, _retained: bool) -> usize {
        particles
    }

    fn takes_analytic_kl(&self) -> bool {
        true
    }
}

impl<B, V, M> Estimator<B, M> for GumbelSoftmax
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

impl<B: AutodiffBackend, V: Relaxable> Reparameterise<B, V> for GumbelSoftmax {
    /// ln p is of the logits alone.
    const REPEATS: bool = true;

    fn uniforms(&self, variables: V) -> usize {
        variables.noisy()
    }

    fn sample(&self, variables: V, logits: Tensor<B, 2>, uniforms: Tensor<B, 2>) -> Tensor<B, 2> {
        let device_and_dtype = (&logits.device(), logits.dtype());
        let temperature = Tensor::full([1, 1], self.temperature, device_and_dtype);
        let z = variables.perturb(logits, variables.noise(uniforms));
        if self.hard {
            straight_through(variables, z, temperature)
        } else {
            variables.relax(z, temperature)
        }
    }
}

/// Straight-through Gumbel-softmax whose τ is learned. It is one number, from 1, that descends the model's own loss with the model's
/// learning rate, through the gradient of the relaxed values; kept at 0.05 or above.
///
/// So do the released codes of ARSM (Yin, Yue & Zhou 2019) and of joint stochastic approximation (Ou & Song 2020), without the
/// bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LearnedTemperature;

impl Declaration for LearnedTemperature {
    fn description(&self) -> Description {
        Description {
            name: "st-gumbel-softmax-learned",
            label: "ST Gumbel-softmax (learned)",
            idea: "ST Gumbel-softmax, its temperature trained on the loss",
            target: Target::Nothing,
        }
    }

    fn evaluations(&self, particles: usize, _layers: usize, _retained: bool) -> usize {
        particles
    }

    fn controls(&self) -> ControlsConfig {
        ControlsConfig {
            temperature: Some(Temperature::Itself(1.0)),
            ..ControlsConfig::AS_THE_MODEL
        }
    }

    fn takes_analytic_kl(&self) -> bool {
        true
    }
}

impl<B, V, M> Estimator<B, M> for LearnedTemperature
where
    B: AutodiffBackend,
    V: Relaxable,
    M: AutodiffModule<B> + Layered<B, Variables = V> + Factored<B>,
{
    fn estimate<S: ChainStore + ?Sized>(
        &self,
        model: &M,
        learned: &mut Learned<B>,
        batch: Batch<'_, B, S>,
        noise: &mut impl Noise,
        _chance: &mut impl Chance,
    ) -> Result<Estimate<B>, EstimateError> {
        batch.check(self)?;
        let gumbel = LearnedGumbelSoftmax::new(learned.trained());
        estimate_pathwise_batch(&gumbel, model, batch, noise)
    }
}

/// Straight-through Gumbel-softmax at a temperature that carries a gradient.
#[derive(Clone, Debug)]
pub struct LearnedGumbelSoftmax<B: AutodiffBackend> {
    temperature: Tensor<B, 2>,
}

impl<B: AutodiffBackend> LearnedGumbelSoftmax<B> {
    /// At the temperature that these controls have learned.
    pub fn new(controls: &Controls<B>) -> Self {
        Self {
            temperature: controls.temperature().reshape([1, 1]),
        }
    }
}

impl<B: AutodiffBackend, V: Relaxable> Reparameterise<B, V> for LearnedGumbelSoftmax<B> {
    /// ln p is of the logits alone.
    const REPEATS: bool = true;

    fn uniforms(&self, variables: V) -> usize {
        variables.noisy()
    }

    fn sample(&self, variables: V, logits: Tensor<B, 2>, uniforms: Tensor<B, 2>) -> Tensor<B, 2> {
        let z = variables.perturb(logits, variables.noise(uniforms));
        straight_through(variables, z, self.temperature.clone())
    }
}

/// The value that z stands for, with the gradient of the relaxed one.
fn straight_through<B: AutodiffBackend, V: Relaxable>(
    variables: V,
    z: Tensor<B, 2>,
    temperature: Tensor<B, 2>,
) -> Tensor<B, 2> {
    let hard = variables.harden(z.clone().detach());
    with_gradient_of(hard, variables.relax(z, temperature))
}
