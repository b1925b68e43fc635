//! DisARM: ARM given the two latents that it compares (Dong, Mnih & Tucker 2020; Yin et al. 2020 as U2G).

use burn::tensor::Tensor;
use helmholtz_distributions::{Bits, Noise};
use helmholtz_ops::{Backend, Values};

use crate::antithetic::Antithetic;
use crate::{Joint, Layered, LogitGradient, Objective};

/// G_v = ½ (f(b₁) − f(b₂)) (b₁ᵥ − b₂ᵥ) σ(|a_v|), the mean of [`Arm`](crate::Arm)'s given (b₁, b₂) (Dong, Mnih & Tucker 2020,
/// equation 6): zero where the two bits agree.
///
/// Unbiased, and never of larger variance than ARM; the same two values of f a layer and draw.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Disarm;

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
