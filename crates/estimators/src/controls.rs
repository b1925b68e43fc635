//! What an estimator learns beside the model.

use burn::module::{Module, Param};
use burn::tensor::{DType, Tensor, TensorData, backend::Backend};
use helmholtz_distributions::Relaxable;
use helmholtz_random::{Purpose, Stream};

use crate::Mlp;
use crate::mlp::parameter;

const INITIALISE: Purpose = Purpose::new("controls");

/// Hidden units of a baseline net.
const BASELINE: [usize; 1] = [100];
/// Hidden units of RELAX's free-form control variate.
const CRITIC: [usize; 2] = [200, 200];

/// Which learned parts an estimator has.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ControlsConfig {
    /// A baseline net C_ψ for each stochastic layer, on that layer's input.
    pub baselines: bool,
    /// Numbers η for each stochastic layer, all starting at 1.
    pub scales: usize,
    /// A temperature τ, from this start.
    pub temperature: Option<f64>,
    /// A free-form control variate r_ψ for each stochastic layer, on the data and that layer's noisy logits.
    pub critics: bool,
}

impl ControlsConfig {
    /// Whether there is anything to learn.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The learned parts of an estimator: baselines, control variates, a temperature. Their gradient comes from an objective of
/// their own, such as a variance, and their optimiser is their own.
#[derive(Module, Debug)]
pub struct Controls<B: Backend> {
    /// C_ψ of each layer.
    pub(crate) baselines: Vec<Mlp<B>>,
    /// Unconstrained numbers η̂, η = 2 σ(η̂), `[scales]` for each layer.
    scales: Vec<Param<Tensor<B, 1>>>,
    /// ln τ `[1]`.
    log_temperature: Option<Param<Tensor<B, 1>>>,
    /// r_ψ of each layer.
    pub(crate) critics: Vec<Mlp<B>>,
    /// The mean of the data `[1, visible]`, subtracted from what the nets are given.
    mean: Param<Tensor<B, 2>>,
}

impl<B: Backend> Controls<B> {
    /// The parts that `config` names, for data with this `mean` of each component, and layers of these variables.
    pub fn init<V: Relaxable>(
        config: &ControlsConfig,
        mean: &[f32],
        layers: &[V],
        seed: u64,
        dtype: DType,
        device: &B::Device,
    ) -> Self {
        let mut stream = Stream::new(seed, INITIALISE, [0, 0]);
        let below = |level: usize| match level {
            0 => mean.len(),
            _ => layers[level - 1].values(),
        };
        let levels = 0..layers.len();
        let baselines = match config.baselines {
            true => levels
                .clone()
                .map(|level| Mlp::init(below(level), &BASELINE, &mut stream, dtype, device))
                .collect(),
            false => Vec::new(),
        };
        let critics = match config.critics {
            true => levels
                .clone()
                .map(|level| {
                    let inputs = mean.len() + layers[level].noisy();
                    Mlp::init(inputs, &CRITIC, &mut stream, dtype, device)
                })
                .collect(),
            false => Vec::new(),
        };
        let scales = match config.scales {
            0 => Vec::new(),
            scales => levels
                .map(|_| {
                    let zeros = TensorData::new(vec![0.0f64; scales], [scales]);
                    parameter(zeros, &mut stream, dtype, device)
                })
                .collect(),
        };
        let log_temperature = config.temperature.map(|temperature| {
            let start = TensorData::new(vec![temperature.ln()], [1]);
            parameter(start, &mut stream, dtype, device)
        });
        let mean = TensorData::new(mean.to_vec(), [1, mean.len()]);
        let mean: Param<Tensor<B, 2>> = parameter(mean, &mut stream, dtype, device);
        Self {
            baselines,
            scales,
            log_temperature,
            critics,
            mean: mean.set_require_grad(false),
        }
    }

    /// The same with this η, between 0 and 2, in every place.
    pub fn with_scales(self, eta: f64) -> Self {
        let unconstrained = (eta / (2.0 - eta)).ln();
        let set = |scale: Param<Tensor<B, 1>>| {
            scale.map(|tensor| tensor.full_like(unconstrained).require_grad())
        };
        Self {
            scales: self.scales.into_iter().map(set).collect(),
            ..self
        }
    }

    /// The same with free-form control variates that are zero everywhere.
    pub fn without_critics(self) -> Self {
        Self {
            critics: self.critics.into_iter().map(Mlp::zeroed).collect(),
            ..self
        }
    }

    /// x − mean.
    pub(crate) fn centred(&self, x: Tensor<B, 2>) -> Tensor<B, 2> {
        x - self.mean.val()
    }

    /// η of a layer `[scales]`, between 0 and 2.
    pub(crate) fn scale(&self, level: usize) -> Tensor<B, 1> {
        burn::tensor::activation::sigmoid(self.scales[level].val()).mul_scalar(2.0)
    }

    /// τ `[1]`.
    ///
    /// # Panics
    /// If the estimator has none.
    pub(crate) fn temperature(&self) -> Tensor<B, 1> {
        let log = self.log_temperature.as_ref();
        log.expect("the estimator learns a temperature").val().exp()
    }
}
