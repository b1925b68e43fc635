//! Blocks with a mistake.

use burn::tensor::Tensor;
use helmholtz_apg::{Block, Conditional, Move, Update};
use helmholtz_distributions::NormalGamma;
use helmholtz_gmm::{Eta, Gmm, GmmState, Law};
use helmholtz_random::Stream;

use crate::B;

/// A block whose weight has no reverse density.
pub struct NoReverse<K>(pub K);

impl<K: Conditional<B, Gmm<B>, Stream> + Copy> Block<B, Gmm<B>, Stream> for NoReverse<K> {
    fn name(&self) -> String {
        "no reverse".into()
    }

    fn advance(
        &self,
        model: &Gmm<B>,
        frozen: &Gmm<B>,
        x: &Tensor<B, 3>,
        old: &GmmState<B>,
        chance: &mut Stream,
    ) -> Move<B, GmmState<B>> {
        let law = self.0.law(model, x, old);
        let moved = Update(self.0).advance(model, frozen, x, old, chance);
        Move {
            log_v: moved.log_v - self.0.log_prob(&law, old),
            ..moved
        }
    }
}

/// The exact conditional of (μ, τ) with the rate of the released code, which has (x̄ − ν)² where (x̄ − μ₀)² belongs.
#[derive(Clone, Copy)]
pub struct ReleasedEta {
    pub mean: f64,
    pub nu: f64,
}

impl Conditional<B, Gmm<B>, Stream> for ReleasedEta {
    type Law = NormalGamma<B, 4>;

    fn name(&self) -> String {
        "released".into()
    }

    fn law(&self, model: &Gmm<B>, x: &Tensor<B, 3>, z: &GmmState<B>) -> NormalGamma<B, 4> {
        let exact = model.exact_law(x, &z.assignment);
        let weights = z.assignment.clone().swap_dims(2, 3);
        let count = weights.clone().sum_dim(3);
        let mean = weights.matmul(x.clone().unsqueeze()) / count.clone().clamp_min(1.0);
        let wrong = (mean.clone() - self.nu).square() - (mean - self.mean).square();
        let share = count.clone() * (0.5 * self.nu) / (count + self.nu);
        NormalGamma {
            beta: exact.beta + wrong * share,
            ..exact
        }
    }

    fn detach(&self, law: &NormalGamma<B, 4>) -> NormalGamma<B, 4> {
        law.detach()
    }

    fn sample(&self, law: &NormalGamma<B, 4>, z: &GmmState<B>, chance: &mut Stream) -> GmmState<B> {
        Eta(Law::Exact).sample(law, z, chance)
    }

    fn log_prob(&self, law: &NormalGamma<B, 4>, z: &GmmState<B>) -> Tensor<B, 3> {
        Conditional::<B, Gmm<B>, Stream>::log_prob(&Eta(Law::Exact), law, z)
    }

    fn log_target(&self, model: &Gmm<B>, x: &Tensor<B, 3>, z: &GmmState<B>) -> Tensor<B, 3> {
        Conditional::<B, Gmm<B>, Stream>::log_target(&Eta(Law::Exact), model, x, z)
    }
}
