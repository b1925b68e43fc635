//! What an estimator learns beside the model.

use std::array;

use burn::module::{Module, Param};
use burn::tensor::{DType, Tensor, TensorData, activation, backend::Backend};
use helmholtz_distributions::Variables;
use helmholtz_random::{Purpose, Stream};

use crate::learned::mlp::parameter;
use crate::{ControlsConfig, Mlp, Temperature};

const INITIALISE: Purpose = Purpose::new("controls");

/// Hidden units of a baseline net.
const BASELINE: usize = 100;
/// Hidden units of each layer of RELAX's free-form control variate.
const CRITIC: usize = 200;
/// Hidden units of RODEO's surrogates, and the slope of their rectifier.
const SURROGATE: usize = 100;
const SURROGATE_SLOPE: f64 = 0.3;
/// What a temperature that is trained itself is kept above.
const LEAST_TEMPERATURE: f64 = 0.05;

/// The learned parts of an estimator: baselines, control variates, a temperature. Their gradient comes from an objective of
/// their own, such as a variance, and their optimiser is their own.
#[derive(Module, Debug)]
pub struct Controls<B: Backend> {
    /// C_ψ of each layer.
    pub(crate) baselines: Vec<Mlp<B>>,
    /// Unconstrained numbers η̂, η = 2 σ(η̂), `[scales]` for each layer.
    scales: Vec<Param<Tensor<B, 1>>>,
    /// `[coefficients]` for each layer.
    coefficients: Vec<Param<Tensor<B, 1>>>,
    /// ln τ `[1]`.
    log_temperature: Option<Param<Tensor<B, 1>>>,
    /// τ `[1]`.
    temperature: Option<Param<Tensor<B, 1>>>,
    /// r_ψ of each layer.
    pub(crate) critics: Vec<Mlp<B>>,
    /// H and H̃ of each layer.
    pub(crate) surrogates: Vec<Mlp<B>>,
    /// The mean of the data `[1, visible]`, subtracted from what the nets are given.
    mean: Param<Tensor<B, 2>>,
}

impl<B: Backend> Controls<B> {
    /// The parts that `config` names, for data with this `mean` of each component, and layers of these variables.
    pub fn init<V: Variables>(
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
        let mut nets = |wanted: bool, slope: Option<f64>, sizes: &dyn Fn(usize) -> Vec<usize>| {
            let levels = if wanted { layers.len() } else { 0 };
            let net = |level| Mlp::init(&sizes(level), slope, &mut stream, dtype, device);
            (0..levels).map(net).collect::<Vec<_>>()
        };
        let baselines = nets(config.baselines, None, &|level| {
            vec![below(level), BASELINE, 1]
        });
        let critics = nets(config.critics, None, &|level| {
            vec![mean.len() + layers[level].values(), CRITIC, CRITIC, 1]
        });
        let surrogates = nets(config.surrogates, Some(SURROGATE_SLOPE), &|_| {
            vec![2, SURROGATE, 2]
        });
        let mut zeros = |count: usize| {
            let levels = if count == 0 { 0 } else { layers.len() };
            let layer = |_| {
                let zeros = TensorData::new(vec![0.0f64; count], [count]);
                parameter(zeros, &mut stream, dtype, device)
            };
            (0..levels).map(layer).collect::<Vec<_>>()
        };
        let scales = zeros(config.scales);
        let coefficients = zeros(config.coefficients);
        let mut number = |start: f64| {
            let start = TensorData::new(vec![start], [1]);
            parameter(start, &mut stream, dtype, device)
        };
        let (log_temperature, temperature) = match config.temperature {
            Some(Temperature::Logarithm(start)) => (Some(number(start.ln())), None),
            Some(Temperature::Itself(start)) => (None, Some(number(start))),
            None => (None, None),
        };
        let mean = TensorData::new(mean.to_vec(), [1, mean.len()]);
        let mean: Param<Tensor<B, 2>> = parameter(mean, &mut stream, dtype, device);
        Self {
            baselines,
            scales,
            coefficients,
            log_temperature,
            temperature,
            critics,
            surrogates,
            mean: mean.set_require_grad(false),
        }
    }

    /// The same with this η, between 0 and 2, in every place.
    pub fn with_scales(self, eta: f64) -> Self {
        let unconstrained = (eta / (2.0 - eta)).ln();
        Self {
            scales: filled(self.scales, unconstrained),
            ..self
        }
    }

    /// The same with this coefficient in every place.
    pub fn with_coefficients(self, value: f64) -> Self {
        Self {
            coefficients: filled(self.coefficients, value),
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

    /// The same with what an update took beyond its bounds put back on them: a temperature that is trained itself, to 0.05.
    pub fn bounded(self) -> Self {
        let bound = |temperature: Param<Tensor<B, 1>>| {
            temperature.map(|tensor| tensor.clamp_min(LEAST_TEMPERATURE).detach().require_grad())
        };
        Self {
            temperature: self.temperature.map(bound),
            ..self
        }
    }

    /// x − mean.
    pub(crate) fn centred(&self, x: Tensor<B, 2>) -> Tensor<B, 2> {
        x - self.mean.val()
    }

    /// η of a layer `[scales]`, between 0 and 2.
    pub(crate) fn scale(&self, level: usize) -> Tensor<B, 1> {
        activation::sigmoid(self.scales[level].val()).mul_scalar(2.0)
    }

    /// The coefficients of a layer, `[1, 1]` each.
    pub(crate) fn coefficients<const N: usize>(&self, level: usize) -> [Tensor<B, 2>; N] {
        let all = self.coefficients[level].val();
        array::from_fn(|at| all.clone().narrow(0, at, 1).reshape([1, 1]))
    }

    /// τ `[1]`.
    ///
    /// # Panics
    /// If the estimator has none.
    pub fn temperature(&self) -> Tensor<B, 1> {
        match (&self.log_temperature, &self.temperature) {
            (Some(logarithm), _) => logarithm.val().exp(),
            (None, temperature) => {
                let temperature = temperature.as_ref();
                temperature
                    .expect("the estimator learns a temperature")
                    .val()
            }
        }
    }
}

/// The same parameters, all of this value.
fn filled<B: Backend>(
    parameters: Vec<Param<Tensor<B, 1>>>,
    value: f64,
) -> Vec<Param<Tensor<B, 1>>> {
    let set = |parameter: Param<Tensor<B, 1>>| {
        parameter.map(|tensor| tensor.full_like(value).require_grad())
    };
    parameters.into_iter().map(set).collect()
}
