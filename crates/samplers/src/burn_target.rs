//! Densities that burn differentiates.

use burn::tensor::backend::AutodiffBackend;
use burn::tensor::{DType, Tensor, TensorData};

use crate::GradientTarget;

/// A log-density that is a function of a tensor `[n]`, with its gradient by automatic differentiation (feature `burn`).
///
/// Positions are f64 tensors on `device`.
///
/// ```ignore
/// // The normal distribution, up to its constant.
/// let target = BurnTarget::new(|x: Tensor<B, 1>| x.square().sum().mul_scalar(-0.5), device);
/// let kernel = Hmc::new(target, 0.1, 10)?;
/// ```
#[derive(Clone, Debug)]
pub struct BurnTarget<B: AutodiffBackend, F> {
    log_density: F,
    device: B::Device,
}

impl<B, F> BurnTarget<B, F>
where
    B: AutodiffBackend,
    F: Fn(Tensor<B, 1>) -> Tensor<B, 1>,
{
    /// ln p up to a constant (nats), from a position `[n]` to one number `[1]`.
    pub fn new(log_density: F, device: B::Device) -> Self {
        Self {
            log_density,
            device,
        }
    }
}

impl<B, F> GradientTarget for BurnTarget<B, F>
where
    B: AutodiffBackend,
    F: Fn(Tensor<B, 1>) -> Tensor<B, 1>,
{
    /// # Panics
    /// If the function gives more than one number.
    fn log_density_and_gradient(&self, position: &[f64], gradient: &mut [f64]) -> f64 {
        let data = TensorData::new(position.to_vec(), [position.len()]);
        let x = Tensor::<B, 1>::from_data(data, (&self.device, DType::F64)).require_grad();
        let value = (self.log_density)(x.clone());
        assert_eq!(value.dims(), [1], "a log-density is one number");
        let gradients = value.backward();
        // Where nothing depends on x the gradient is zero.
        if let Some(own) = x.grad(&gradients) {
            let own = own.into_data();
            let entries = gradient.iter_mut().zip(own.iter::<f64>());
            entries.for_each(|(sum, entry)| *sum += entry);
        }
        value.into_data().iter::<f64>().sum()
    }
}
