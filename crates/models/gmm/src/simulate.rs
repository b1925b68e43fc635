//! Instances drawn from the prior.

use burn::tensor::{DType, Tensor, TensorData};
use helmholtz_ops::Backend;
use helmholtz_random::{Draws, Purpose, Stream};

use crate::{GmmConfig, GmmState};

const DATA: Purpose = Purpose::new("gmm-data");

/// Data with the latents that they were drawn from.
#[derive(Clone, Debug)]
pub struct Simulated<B: Backend> {
    /// x `[B, N, D]`.
    pub x: Tensor<B, 3>,
    /// The true latents, as one particle.
    pub truth: GmmState<B>,
}

impl GmmConfig {
    /// The instances of a corpus with these numbers, `points` data each.
    ///
    /// An instance is named by (seed, number): a corpus is a range of numbers, and is never stored. Its stream gives τ and μ
    /// for each cluster and dimension, then for each datum its cluster and its coordinates. The first data of a larger
    /// instance are those of a smaller.
    pub fn simulate<B: Backend>(
        &self,
        seed: u64,
        instances: &[u64],
        points: usize,
        dtype: DType,
        device: &B::Device,
    ) -> Simulated<B> {
        let (m, d) = (self.clusters, self.dimensions);
        let [mut x, mut precision, mut mean, mut assignment] = [const { Vec::<f64>::new() }; 4];
        for &number in instances {
            let mut stream = Stream::new(seed, DATA, [number, 0]);
            let eta = mean.len();
            for _ in 0..m * d {
                let tau = stream.gamma(self.alpha) / self.beta;
                precision.push(tau);
                mean.push(self.mean + stream.normal() / (self.nu * tau).sqrt());
            }
            for _ in 0..points {
                let cluster = stream.below(m as u32) as usize;
                assignment.extend((0..m).map(|c| f64::from(u8::from(c == cluster))));
                for i in (eta + cluster * d)..(eta + (cluster + 1) * d) {
                    x.push(mean[i] + stream.normal() / precision[i].sqrt());
                }
            }
        }
        let count = instances.len();
        let tensor = |values, rows, columns| {
            let data = TensorData::new::<f64, _>(values, [1, count, rows, columns]);
            Tensor::<B, 4>::from_data(data, (device, dtype))
        };
        Simulated {
            x: tensor(x, points, d).squeeze_dim(0),
            truth: GmmState {
                precision: tensor(precision, m, d),
                mean: tensor(mean, m, d),
                assignment: tensor(assignment, points, m),
            },
        }
    }
}
