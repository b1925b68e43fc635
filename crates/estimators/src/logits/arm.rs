//! ARM: augment, REINFORCE, merge (Yin & Zhou 2019).

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

/// G_v = (f(b₁) − f(b₂)) (u_v − ½), with b₁ = 1[u > σ(−a)] and b₂ = 1[u < σ(a)], u uniform, for every bit v (Yin & Zhou
/// 2019, equation 6).
///
/// Unbiased. Two values of f a layer and draw of u; K > 1 averages over independent u.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arm;

impl Declaration for Arm {
    fn description(&self) -> Description {
        Description {
            name: "arm",
            label: "ARM",
            idea: "the antithetic pair",
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

impl<B, M> Estimator<B, M> for Arm
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

impl LogitGradient<Bits> for Arm {
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
        let difference = pair.difference();
        pair.uniforms.sub_scalar(0.5) * difference
    }
}
