//! The proposal for what digits look like.

use burn::module::Module;
use burn::tensor::{Tensor, backend::Backend};
use helmholtz_distributions::Normal;
use helmholtz_nets::{Linear, Net};
use helmholtz_ops::{bounded_exp, leaky_relu};

use crate::Aggregation;
use crate::locate::LIMIT;

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
            deviation: bounded_exp(self.log_deviation.forward(together), LIMIT),
        }
    }
}

#[cfg(test)]
mod tests {
    use burn::module::Param;
    use burn::tensor::{DType, Tensor};
    use burn_flex::Flex;
    use helmholtz_distributions::LogProb;

    use super::Aggregation;
    use crate::TrackerConfig;

    #[test]
    fn a_net_that_makes_a_deviation_nothing_or_endless_still_gives_densities() {
        let config = TrackerConfig::small();
        let (pixels, device) = (config.canvas.digit_area(), Default::default());
        let tracker = config
            .init::<Flex>(1, &vec![0.0; pixels], DType::F32, &device)
            .unwrap();
        let seen = Tensor::ones([1, 1, 1, 1, pixels], &device);
        for log_deviation in [-1000.0, 1000.0] {
            let mut identify = tracker.identify.clone();
            let bias = Tensor::full([config.appearance], log_deviation, &device);
            identify.log_deviation.bias = Param::from_tensor(bias);
            let law = identify.law(seen.clone(), Aggregation::Mean);
            let log_prob = law.log_prob(law.mean.clone()).into_data();
            assert!(log_prob.iter::<f32>().all(f32::is_finite), "{log_prob}");
        }
    }
}
