//! DisARM: ARM given the two latents that it compares (Dong, Mnih & Tucker 2020; Yin et al. 2020 as U2G).

use burn::module::AutodiffModule;
use burn::tensor::Tensor;
use helmholtz_distributions::{Bits, Noise};
use helmholtz_ops::{AutodiffBackend, Backend, Values};
use helmholtz_random::Chance;
use helmholtz_samplers::ChainStore;

use crate::logits::antithetic::Antithetic;
use crate::{
    Batch, Declaration, Description, Domain, Estimate, EstimateError, Estimator, Joint, Layered,
    Learned, LogitGradient, Objective, Target, estimate_logits,
};

/// G_v = ½ (f(b₁) − f(b₂)) (b₁ᵥ − b₂ᵥ) σ(|a_v|), the mean of [`Arm`](crate::Arm)'s given (b₁, b₂) (Dong, Mnih & Tucker 2020,
/// equation 6): zero where the two bits agree.
///
/// Unbiased, and never of larger variance than ARM; the same two values of f a layer and draw.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Disarm;

impl Declaration for Disarm {
    fn description(&self) -> Description {
        Description {
            name: "disarm",
            label: "DisARM",
            idea: "ARM given the two latents that it compares",
            target: Target::Elbo,
        }
    }

    fn domain(&self) -> Domain {
        Domain::Bits
    }

    fn evaluations(&self, particles: usize, layers: usize, _retained: bool) -> usize {
        2 * particles * layers
    }
}

impl<B, M> Estimator<B, M> for Disarm
where
    B: AutodiffBackend,
    M: AutodiffModule<B> + Layered<B, Variables = Bits> + Joint<B>,
    M::InnerModule: Layered<B::InnerBackend, Variables = Bits> + Joint<B::InnerBackend>,
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
        estimate_logits(self, model, batch.x, batch.particles, noise)
    }
}

impl LogitGradient<Bits> for Disarm {
    fn layer<B, M>(
        &self,
        objective: &Objective<B, M>,
        below: &[Values<B>],
        rows: usize,
        _particles: usize,
        noise: &mut impl Noise,
    ) -> Tensor<B, 2>
    where
        B: Backend,
        M: Layered<B, Variables = Bits> + Joint<B>,
    {
        let pair = Antithetic::draw(objective, below, rows, noise);
        pair.factor() * pair.difference()
    }
}
