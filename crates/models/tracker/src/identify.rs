//! The proposal for what digits look like.

use burn::module::Module;
use burn::tensor::{Tensor, backend::Backend};
use helmholtz_distributions::Normal;
use helmholtz_nets::{Linear, Net};
use helmholtz_ops::leaky_relu;

use crate::Aggregation;

/// q(w | x, z): a normal whose parameters are linear in features of what is seen around the digit's positions, put together over
/// frames.
#[derive(Module, Debug)]
pub(crate) struct Identify<B: Backend> {
    pub trunk: Net<B>,
    pub mean: Linear<B>,
    pub log_deviation: Linear<B>,
}

impl<B: helmholtz_ops::Backend> Identify<B> {
    /// Given what is seen `[L, B, T, D, P²]`: parameters `[L, B, D, W]`.
    pub fn law(&self, seen: Tensor<B, 5>, aggregation: Aggregation) -> Normal<B, 4> {
        let [particles, instances, frames, digits, pixels] = seen.dims();
        let features = leaky_relu(self.trunk.forward(seen.reshape([-1, pixels as i32])), 0.0);
        let width = features.dims()[1];
        let features = features.reshape([particles * instances, frames, digits, width]);
        let together = match aggregation {
            Aggregation::Mean => features.mean_dim(1),
            Aggregation::Sum => features.sum_dim(1),
        };
        let together = together.reshape([particles, instances, digits, width]);
        Normal {
            mean: self.mean.forward(together.clone()),
            deviation: self.log_deviation.forward(together).exp(),
        }
    }
}
