//! What is learned from weighted particles.

use burn::tensor::{Tensor, backend::Backend};

/// A weight below it changes no sum of weights, in f64 neither. Its gradients would be subnormal numbers or become such, which
/// processors multiply up to a hundred times as slowly as others.
const NOTHING: f64 = 1.0 / (1u128 << 64) as f64;

/// The losses of the one-shot proposal or of a block, to be **minimised**, each a scalar whose gradient is its meaning: the
/// mean over instances of
///
/// > −Σ_n Σ_l W_nl log q_φ(z'_nl | x, z_l)  and  −Σ_n Σ_l W_nl log p_θ(x, z'_l)_n.
///
/// W_n are the self-normalised weights of part n; below 2⁻⁶⁴ they count for nothing, whatever the density. Nothing differentiates
/// through a weight or a draw, so that a loss has a tape of its own, which can be freed before the next block.
#[derive(Clone, Debug)]
pub struct Loss<B: Backend> {
    /// W, constants `[L, B, N]`.
    weights: Tensor<B, 3>,
    log_q: Tensor<B, 3>,
    log_p: Tensor<B, 3>,
}

impl<B: Backend> Loss<B> {
    /// From weights and log-densities `[L, B, N]`.
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
        let log = log.mask_fill(self.weights.clone().lower_elem(NOTHING), 0.0);
        let share = -1.0 / self.weights.dims()[1] as f64;
        (self.weights.clone() * share * log).sum()
    }
}

#[cfg(test)]
mod tests {
    use burn::backend::Autodiff;
    use burn::tensor::{Tensor, TensorData};
    use burn_flex::Flex;

    use super::Loss;

    #[test]
    fn a_weight_that_changes_no_sum_has_no_gradient_and_the_next_larger_has_its_own() {
        let of = |values: [f32; 4]| {
            Tensor::<Autodiff<Flex>, 3>::from_data(
                TensorData::new(values.to_vec(), [4, 1, 1]),
                &Default::default(),
            )
        };
        let weights = [1.0, 2f32.powi(-64), 2f32.powi(-65), 0.0];
        let log_q = of([-1.0, -2.0, -3.0, f32::NEG_INFINITY]).require_grad();
        let loss = Loss::new(of(weights), log_q.clone(), of([0.0; 4])).phi();
        let gradient = log_q.grad(&loss.backward()).unwrap().into_data();
        let expected = [-1.0, -(2f32.powi(-64)), 0.0, 0.0];
        assert_eq!(gradient.to_vec::<f32>().unwrap(), expected);
        assert_eq!(loss.into_scalar(), 1.0);
    }
}
