//! Gradient descent with damped momentum, as burn's optimiser trait.

use burn::optim::{LearningRate, SimpleOptimizer};
use burn::record::Record;
use burn::tensor::{Tensor, backend::Backend};

/// m ← βm − (1−β) α g, θ ← θ + m; where g is not a number m stays as it was. The optimiser of the released code of
/// reweighted wake-sleep (Bornschein & Bengio 2015), g being there the **sum** over the batch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Momentum {
    /// β.
    pub beta: f64,
}

impl Default for Momentum {
    /// β = 0.95.
    fn default() -> Self {
        Self { beta: 0.95 }
    }
}

/// The momentum of one parameter.
#[derive(Record, Clone, Debug)]
pub struct MomentumState<B: Backend, const D: usize> {
    /// m, in the parameter's shape.
    pub momentum: Tensor<B, D>,
}

impl<B: Backend> SimpleOptimizer<B> for Momentum {
    type State<const D: usize> = MomentumState<B, D>;

    fn step<const D: usize>(
        &self,
        learning_rate: LearningRate,
        parameter: Tensor<B, D>,
        grad: Tensor<B, D>,
        state: Option<MomentumState<B, D>>,
    ) -> (Tensor<B, D>, Option<MomentumState<B, D>>) {
        let before = state.map_or_else(|| parameter.zeros_like(), |state| state.momentum);
        let unknown = grad.clone().is_nan();
        let scale = -(1.0 - self.beta) * learning_rate;
        let momentum = before.clone() * self.beta + grad * scale;
        let momentum = momentum.mask_where(unknown, before);
        (
            parameter + momentum.clone(),
            Some(MomentumState { momentum }),
        )
    }

    fn to_device<const D: usize>(
        state: MomentumState<B, D>,
        device: &B::Device,
    ) -> MomentumState<B, D> {
        MomentumState {
            momentum: state.momentum.to_device(device),
        }
    }
}

#[cfg(test)]
mod tests {
    use burn::tensor::{DType, TensorData};
    use burn_flex::Flex;

    use super::*;

    fn tensor(values: [f64; 2]) -> Tensor<Flex, 1> {
        let data = TensorData::from(values);
        Tensor::from_data(data, (&Default::default(), DType::F64))
    }

    #[test]
    fn steps_are_the_formula_and_what_is_no_number_keeps_the_momentum() {
        let (rate, beta) = (0.1, 0.95);
        let gradients = [[1.0, -2.0], [3.0, f64::NAN], [0.0, 4.0]];
        let (mut theta, mut m) = ([0.5, -0.5], [0.0, 0.0]);
        let (mut parameter, mut state) = (tensor(theta), None);
        for gradient in gradients {
            (parameter, state) = Momentum { beta }.step(rate, parameter, tensor(gradient), state);
            for i in 0..2 {
                if !gradient[i].is_nan() {
                    m[i] = beta * m[i] - (1.0 - beta) * rate * gradient[i];
                }
                theta[i] += m[i];
            }
            let found: Vec<f64> = parameter.to_data().to_vec().unwrap();
            for (found, expected) in found.iter().zip(theta) {
                assert!((found - expected).abs() < 1e-15, "{found} {expected}");
            }
        }
    }
}
