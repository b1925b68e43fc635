//! The network of one factor: from the layer conditioned on to logits.

use burn::module::{Module, Param, ParamId};
use burn::tensor::{DType, Tensor, TensorData, backend::Backend};
use helmholtz_ops::{leaky_relu, linear};
use helmholtz_random::Stream;
use rand_core::Rng;

use crate::Initialisation;

/// Linear layers with a leaky rectifier between them; the last one gives logits.
#[derive(Module, Debug)]
pub struct Net<B: Backend> {
    layers: Vec<Layer<B>>,
    slope: f64,
}

/// x W + b, W `[in, out]`.
#[derive(Module, Debug)]
struct Layer<B: Backend> {
    weight: Param<Tensor<B, 2>>,
    bias: Param<Tensor<B, 1>>,
}

impl<B: Backend> Net<B> {
    /// A net through layers of these sizes, drawn from `stream`: for each layer its weight, row by row, then its bias.
    pub(crate) fn init(
        sizes: &[usize],
        slope: f64,
        initialisation: Initialisation,
        stream: &mut Stream,
        ids: &mut Stream,
        dtype: DType,
        device: &B::Device,
    ) -> Self {
        let layers = sizes.windows(2).map(|pair| {
            let (inputs, outputs) = (pair[0], pair[1]);
            let mut uniform = |count: usize, limit: f64| -> Vec<f64> {
                let draw = || (2.0 * stream.uniform_f64() - 1.0) * limit;
                std::iter::repeat_with(draw).take(count).collect()
            };
            let (weight, bias) = match initialisation {
                Initialisation::Xavier { bias } => {
                    let limit = (6.0 / (inputs + outputs) as f64).sqrt();
                    (uniform(inputs * outputs, limit), vec![bias; outputs])
                }
                Initialisation::FanIn => {
                    let limit = 1.0 / (inputs as f64).sqrt();
                    (uniform(inputs * outputs, limit), uniform(outputs, limit))
                }
            };
            Layer {
                weight: parameter(
                    TensorData::new(weight, [inputs, outputs]),
                    ids,
                    dtype,
                    device,
                ),
                bias: parameter(TensorData::new(bias, [outputs]), ids, dtype, device),
            }
        });
        Self {
            layers: layers.collect(),
            slope,
        }
    }
}

/// A parameter with this start. Its id comes from a stream too, so that the record of a run is the same bytes each time.
pub(crate) fn parameter<B: Backend, const D: usize>(
    start: TensorData,
    ids: &mut Stream,
    dtype: DType,
    device: &B::Device,
) -> Param<Tensor<B, D>> {
    Param::initialized(
        ParamId::from(ids.next_u64()),
        Tensor::from_data(start, (device, dtype)).require_grad(),
    )
}

impl<B: helmholtz_ops::Backend> Net<B> {
    /// The logits `[rows, out]` given the inputs `[rows, in]`.
    pub fn forward(&self, inputs: Tensor<B, 2>) -> Tensor<B, 2> {
        let last = self.layers.len() - 1;
        self.layers
            .iter()
            .enumerate()
            .fold(inputs, |inputs, (index, layer)| {
                let outputs = linear(inputs, layer.weight.val(), layer.bias.val());
                if index == last {
                    outputs
                } else {
                    leaky_relu(outputs, self.slope)
                }
            })
    }
}
