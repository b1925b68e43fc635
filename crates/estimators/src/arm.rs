//! ARM: augment, REINFORCE, merge (Yin & Zhou 2019).

use burn::tensor::Tensor;
use helmholtz_distributions::{Bits, Noise};
use helmholtz_ops::{Backend, Values};

use crate::antithetic::Antithetic;
use crate::{Joint, Layered, LogitGradient, Objective};

/// G_v = (f(b₁) − f(b₂)) (u_v − ½), with b₁ = 1[u > σ(−a)] and b₂ = 1[u < σ(a)], u uniform, for every bit v (Yin & Zhou
/// 2019, equation 6).
///
/// Unbiased. Two values of f a layer and draw of u; K > 1 averages over independent u.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arm;

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
