//! Blocks with a mistake.

use burn::tensor::Tensor;
use helmholtz_apg::{Block, Conditional, Move, Update};
use helmholtz_gmm::{Gmm, GmmState};
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
