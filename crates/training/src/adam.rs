//! Adam (Kingma & Ba 2015), as burn's optimiser trait, over one fused pass.

use std::marker::PhantomData;

use burn::optim::{LearningRate, SimpleOptimizer};
use burn::record::Record;
use burn::tensor::{Tensor, backend::Backend};
use helmholtz_ops::AdamStep;

/// m ← β₁m + (1−β₁)g, v ← β₂v + (1−β₂)g², θ ← θ − α · m̂ / (√v̂ + ε), with m̂ = m / (1−β₁ᵗ) and v̂ = v / (1−β₂ᵗ).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Adam<B> {
    /// β₁.
    pub beta_1: f64,
    /// β₂.
    pub beta_2: f64,
    /// ε.
    pub epsilon: f64,
    backend: PhantomData<B>,
}

impl<B> Default for Adam<B> {
    /// β = (0.9, 0.999), ε = 1e-8.
    fn default() -> Self {
        Self {
            beta_1: 0.9,
            beta_2: 0.999,
            epsilon: 1e-8,
            backend: PhantomData,
        }
    }
}

impl<B> Adam<B> {
    /// The same with these β₁ and β₂.
    pub fn with_betas(self, [beta_1, beta_2]: [f64; 2]) -> Self {
        Self {
            beta_1,
            beta_2,
            ..self
        }
    }
}

/// The moments of one parameter.
#[derive(Record, Clone, Debug)]
pub struct AdamState<B: Backend, const D: usize> {
    /// Updates so far.
    pub time: usize,
    /// m, in the parameter's shape.
    pub moment_1: Tensor<B, D>,
    /// v, in the parameter's shape.
    pub moment_2: Tensor<B, D>,
}

impl<B: helmholtz_ops::Backend> SimpleOptimizer<B> for Adam<B> {
    type State<const D: usize> = AdamState<B, D>;

    fn step<const D: usize>(
        &self,
        learning_rate: LearningRate,
        parameter: Tensor<B, D>,
        grad: Tensor<B, D>,
        state: Option<AdamState<B, D>>,
    ) -> (Tensor<B, D>, Option<AdamState<B, D>>) {
        let state = state.unwrap_or_else(|| AdamState {
            time: 0,
            moment_1: parameter.zeros_like(),
            moment_2: parameter.zeros_like(),
        });
        let time = state.time + 1;
        let step = AdamStep {
            learning_rate,
            beta_1: self.beta_1,
            beta_2: self.beta_2,
            epsilon: self.epsilon,
            time: time as u64,
        };
        let (parameter, moment_1, moment_2) =
            helmholtz_ops::adam(parameter, grad, state.moment_1, state.moment_2, step);
        let state = AdamState {
            time,
            moment_1,
            moment_2,
        };
        (parameter, Some(state))
    }

    fn to_device<const D: usize>(state: AdamState<B, D>, device: &B::Device) -> AdamState<B, D> {
        AdamState {
            moment_1: state.moment_1.to_device(device),
            moment_2: state.moment_2.to_device(device),
            ..state
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_betas_are_those_that_are_given() {
        let adam = Adam::<helmholtz_ops::Flex>::default();
        assert_eq!((adam.beta_1, adam.beta_2, adam.epsilon), (0.9, 0.999, 1e-8));
        let other = adam.with_betas([0.5, 0.25]);
        assert_eq!(
            (other.beta_1, other.beta_2, other.epsilon),
            (0.5, 0.25, 1e-8)
        );
    }
}
