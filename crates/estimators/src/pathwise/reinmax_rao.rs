//! ReinMax-Rao and ReinMax-CV: ReinMax with Gumbel-Rao's draws at its midpoint (Wang & Bui 2026).

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

/// A sample z of mean p with the Jacobian 2 R_τ(θ_z) − ½ J(p). It is [`ReinMax`](crate::ReinMax) whose J at the midpoint
/// ½ (p + z) is replaced by that of [`GumbelRao`](crate::GumbelRao) at the midpoint's logits θ_z (Wang & Bui 2026,
/// arXiv 2603.08257, and their program).
///
/// R_τ(θ) = (1/M) Σ_m J(softmax(z̃_m/τ))/τ, with z̃_m independent draws of θ + G, G Gumbel, given that they stand for z. As a function of θ_z
/// it is applied to the logits themselves, as ReinMax's J is.
///
/// Biased, and not in ReinMax's way: E\[J(softmax(θ + G))\] is not J(softmax(θ)), so that it is not exact for quadratic f. M draws cost no
/// value of f.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReinMaxRao {
    /// τ > 0.
    pub temperature: f64,
    /// M, 1 or more; with 0 an estimate panics.
    pub draws: usize,
}

impl ReinMaxRao {
    /// τ = 0.7 and M = 10; their program has M = 100.
    pub const DEFAULT: Self = Self {
        temperature: 0.7,
        draws: 10,
    };
}

/// The Jacobian of [`ReinMax`](crate::ReinMax) plus η (R_τ(θ_z) − J(softmax(z̃/τ))/τ). Here θ_z are the logits of the midpoint
/// ½ (p + z), and R_τ is that of [`ReinMaxRao`]. In z̃ = θ_z + G the noise G is that by which z was drawn (Wang & Bui 2026,
/// arXiv 2603.08257, section 3.2).
///
/// The term is meant as a control variate: R_τ is the mean of J(softmax(z̃/τ))/τ given z. It is so where z̃, too, is drawn given that it stands
/// for z under θ_z: `given`. Then the mean is ReinMax's at every η. But ReinMax's Jacobian is a function of z alone, so that nothing is there
/// for a control variate of mean zero given z to take away: it adds variance. Without `given` the noise is that given z under φ, another law,
/// and the term has a mean of its own: less variance, and another bias. Both are shown in the proofs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReinMaxCv {
    /// τ > 0.
    pub temperature: f64,
    /// M, 1 or more; with 0 an estimate panics.
    pub draws: usize,
    /// η.
    pub scale: f64,
    /// Whether z̃ is drawn given that it stands for z.
    pub given: bool,
}

impl ReinMaxCv {
    /// τ = 0.7, η = 1.5 and M = 10, the noise shared with z.
    pub const DEFAULT: Self = Self {
        temperature: 0.7,
        draws: 10,
        scale: 1.5,
        given: false,
    };
}

impl Declaration for ReinMaxRao {
    fn description(&self) -> Description {
        Description {
            name: "reinmax-rao",
            label: "ReinMax-Rao",
            idea: "ReinMax with Gumbel-Rao's Jacobian at its midpoint",
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

impl Declaration for ReinMaxCv {
    fn description(&self) -> Description {
        Description {
            name: "reinmax-cv",
            label: "ReinMax-CV",
            idea: "ReinMax and Gumbel-Rao's Jacobian at its midpoint less one draw's",
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

/// Both are estimators of the pathwise family.
macro_rules! pathwise {
    ($estimator:ty) => {
        impl<B, V, M> Estimator<B, M> for $estimator
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
    };
}

pathwise!(ReinMaxRao);
pathwise!(ReinMaxCv);

impl<B: AutodiffBackend, V: Relaxable> Reparameterise<B, V> for ReinMaxRao {
    fn uniforms(&self, variables: V) -> usize {
        (1 + self.draws) * variables.noisy()
    }

    fn sample(&self, variables: V, logits: Tensor<B, 2>, uniforms: Tensor<B, 2>) -> Tensor<B, 2> {
        let drawn = Midpoint::draw(variables, logits, uniforms, self.temperature);
        let carrier = drawn.averaged(self.draws) * 2.0 - drawn.at(drawn.mean.clone()) * 0.5;
        with_gradient_of(drawn.values, carrier)
    }
}

impl<B: AutodiffBackend, V: Relaxable> Reparameterise<B, V> for ReinMaxCv {
    fn uniforms(&self, variables: V) -> usize {
        (1 + self.draws + usize::from(self.given)) * variables.noisy()
    }

    fn sample(&self, variables: V, logits: Tensor<B, 2>, uniforms: Tensor<B, 2>) -> Tensor<B, 2> {
        let drawn = Midpoint::draw(variables, logits, uniforms, self.temperature);
        let midpoint = (drawn.mean.clone() + drawn.values.clone()) * 0.5;
        let reinmax = drawn.at(midpoint) * 2.0 - drawn.at(drawn.mean.clone()) * 0.5;
        let single = match self.given {
            true => drawn.given(self.draws + 1),
            false => drawn.shared(),
        };
        let variate = drawn.averaged(self.draws) - single;
        with_gradient_of(drawn.values, reinmax + variate * self.scale)
    }
}

/// A sample z, and linear maps of the logits at its midpoint's.
struct Midpoint<B: AutodiffBackend, V> {
    variables: V,
    /// On the tape `[rows, logits]`.
    logits: Tensor<B, 2>,
    uniforms: Tensor<B, 2>,
    /// z `[rows, values]`.
    values: Tensor<B, 2>,
    /// p `[rows, values]`.
    mean: Tensor<B, 2>,
    /// θ_z `[rows, logits]`.
    shifted: Tensor<B, 2>,
    temperature: f64,
}

impl<B: AutodiffBackend, V: Relaxable> Midpoint<B, V> {
    /// z by the first uniforms of a row.
    fn draw(variables: V, logits: Tensor<B, 2>, uniforms: Tensor<B, 2>, temperature: f64) -> Self {
        let held = logits.clone().detach();
        let noise = variables.noise(uniforms.clone().narrow(1, 0, variables.noisy()));
        let values = variables.harden(variables.perturb(held.clone(), noise));
        let mean = variables.mean(held);
        let shifted = variables.logits_of((mean.clone() + values.clone()) * 0.5);
        Self {
            variables,
            logits,
            uniforms,
            values,
            mean,
            shifted,
            temperature,
        }
    }

    /// The m-th noise of a row.
    fn noise(&self, m: usize) -> Tensor<B, 2> {
        let noisy = self.variables.noisy();
        self.variables
            .noise(self.uniforms.clone().narrow(1, m * noisy, noisy))
    }

    /// J(m) applied to the logits.
    fn at(&self, m: Tensor<B, 2>) -> Tensor<B, 2> {
        self.variables.tangent(self.logits.clone(), m)
    }

    /// J(softmax(z̃/τ))/τ applied to the logits.
    fn relaxed(&self, noisy: Tensor<B, 2>) -> Tensor<B, 2> {
        let place = (&self.logits.device(), self.logits.dtype());
        let temperature = Tensor::full([1, 1], self.temperature, place);
        self.at(self.variables.relax(noisy, temperature)) * (1.0 / self.temperature)
    }

    /// The same of z̃ under θ_z given z, by the m-th noise.
    fn given(&self, m: usize) -> Tensor<B, 2> {
        let (shifted, values) = (self.shifted.clone(), self.values.clone());
        self.relaxed(self.variables.perturb_given(shifted, values, self.noise(m)))
    }

    /// The same of z̃ under θ_z by the noise of z.
    fn shared(&self) -> Tensor<B, 2> {
        let noisy = self.variables.perturb(self.shifted.clone(), self.noise(0));
        self.relaxed(noisy)
    }

    /// The mean of `given` over the noises 1 to M.
    fn averaged(&self, draws: usize) -> Tensor<B, 2> {
        let sum = (1..=draws).map(|m| self.given(m)).reduce(|a, b| a + b);
        sum.expect("a draw") * (1.0 / draws as f64)
    }
}
