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
    /// Of the proposal's parameters φ.
    pub phi: Tensor<B, 1>,
    /// Of the model's parameters θ.
    pub theta: Tensor<B, 1>,
}

impl<B: Backend> Loss<B> {
    /// φ and θ together.
    pub fn total(self) -> Tensor<B, 1> {
        self.phi + self.theta
    }

    /// From weights and log-densities `[L, B, N]`. What has no weight counts for nothing, whatever its density.
    pub(crate) fn new(weights: Tensor<B, 3>, log_q: Tensor<B, 3>, log_p: Tensor<B, 3>) -> Self {
        let weights = weights.detach();
        let nothing = weights.clone().equal_elem(0.0);
        let share = -1.0 / weights.dims()[1] as f64;
        let loss = |log: Tensor<B, 3>| {
            let log = log.mask_fill(nothing.clone(), 0.0);
            (weights.clone() * log).sum() * share
        };
        Self {
            phi: loss(log_q),
            theta: loss(log_p),
        }
    }
}
