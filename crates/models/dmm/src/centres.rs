//! The proposal for the centres.

use burn::module::Module;
use burn::tensor::{Tensor, TensorData, backend::Backend};
use helmholtz_apg::Statistics;
use helmholtz_distributions::Normal;
use helmholtz_nets::Net;
use helmholtz_ops::cat;

/// Added to a cluster's share of the data, which rounds to zero where no datum is near.
const EMPTY: f64 = 1e-8;

/// q(μ_m | data) = N(mean, deviation²), two nets of (Σ_n t_nm s_n / Σ_n t_nm, the prior's mean and deviation), with s and t
/// learned statistics of the data's features and t a softmax over clusters.
#[derive(Module, Debug)]
pub(crate) struct Centres<B: Backend> {
    statistics: Statistics<B>,
    mean: Net<B>,
    log_deviation: Net<B>,
    spread: f64,
}

impl<B: Backend> Centres<B> {
    pub(crate) fn new(statistics: Statistics<B>, heads: [Net<B>; 2], spread: f64) -> Self {
        let [mean, log_deviation] = heads;
        Self {
            statistics,
            mean,
            log_deviation,
            spread,
        }
    }
}

impl<B: helmholtz_ops::Backend> Centres<B> {
    /// For data with features `[L, B, N, F]`: parameters `[L, B, M, 2]`.
    pub(crate) fn law(&self, features: Tensor<B, 4>) -> Normal<B, 4> {
        let average = self.statistics.averages(features, EMPTY);
        let [particles, instances, m, _] = average.dims();
        let prior = vec![0.0, 0.0, self.spread, self.spread];
        let prior = TensorData::new(prior, [1, 1, 1, 4]);
        let prior = Tensor::<B, 4>::from_data(prior, (&average.device(), average.dtype()));
        let prior = prior.expand([particles, instances, m, 4]);
        let features = cat(vec![average, prior], 3);
        Normal {
            mean: self.mean.forward(features.clone()),
            deviation: self.log_deviation.forward(features).exp(),
        }
    }
}
