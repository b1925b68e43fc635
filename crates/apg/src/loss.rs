//! What is learned from weighted particles.

use burn::tensor::{Tensor, backend::Backend};

/// The losses of the one-shot proposal or of a block, to be **minimised**, each a scalar whose gradient is its meaning: the
/// mean over instances of
///
/// > −Σ_n Σ_l W_nl log q_φ(z'_nl | x, z_l)  and  −Σ_n Σ_l W_nl log p_θ(x, z'_l)_n.
///
/// W_n are the self-normalised weights of part n. Nothing differentiates through a weight or a draw, so that a loss has a
/// tape of its own, which can be freed before the next block.
#[derive(Clone, Debug)]
pub struct Loss<B: Backend> {
    /// W, constants `[L, B, N]`.
    weights: Tensor<B, 3>,
    log_q: Tensor<B, 3>,
    log_p: Tensor<B, 3>,
}

impl<B: Backend> Loss<B> {
    /// From weights and log-densities `[L, B, N]`. What has no weight counts for nothing, whatever its density.
    pub(crate) fn new(weights: Tensor<B, 3>, log_q: Tensor<B, 3>, log_p: Tensor<B, 3>) -> Self {
        Self {
            weights: weights.detach(),
            log_q,
            log_p,
        }
    }

    /// Of the proposal's parameters φ.
    pub fn phi(&self) -> Tensor<B, 1> {
        self.of(self.log_q.clone())
    }

    /// Of the model's parameters θ.
    pub fn theta(&self) -> Tensor<B, 1> {
        self.of(self.log_p.clone())
    }

    /// φ and θ together.
    pub fn total(&self) -> Tensor<B, 1> {
        self.of(self.log_q.clone() + self.log_p.clone())
    }

    fn of(&self, log: Tensor<B, 3>) -> Tensor<B, 1> {
        let log = log.mask_fill(self.weights.clone().equal_elem(0.0), 0.0);
        let share = -1.0 / self.weights.dims()[1] as f64;
        (self.weights.clone() * share * log).sum()
    }
}
