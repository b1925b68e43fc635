//! The small nets of baselines, control variates and surrogates.

use burn::module::{Module, Param, ParamId};
use burn::tensor::{DType, Tensor, TensorData, backend::Backend};
use helmholtz_ops::{leaky_relu, linear, linear_splines};
use helmholtz_random::Stream;
use rand_core::Rng;

/// Linear layers with tanh, or a leaky rectifier, between them.
#[derive(Module, Debug)]
pub struct Mlp<B: Backend> {
    weights: Vec<Param<Tensor<B, 2>>>,
    biases: Vec<Param<Tensor<B, 1>>>,
    /// The slope of the rectifier below zero; without one, tanh.
    slope: Option<f64>,
}

impl<B: Backend> Mlp<B> {
    /// A net through layers of these sizes, from the inputs to the outputs, Glorot-uniform weights from `stream`, zero biases.
    pub(crate) fn init(
        sizes: &[usize],
        slope: Option<f64>,
        stream: &mut Stream,
        dtype: DType,
        device: &B::Device,
    ) -> Self {
        let (mut weights, mut biases) = (Vec::new(), Vec::new());
        for pair in sizes.windows(2) {
            let limit = (6.0 / (pair[0] + pair[1]) as f64).sqrt();
            let weight = (0..pair[0] * pair[1])
                .map(|_| (2.0 * stream.uniform_f64() - 1.0) * limit)
                .collect();
            weights.push(parameter(
                TensorData::new::<f64, _>(weight, [pair[0], pair[1]]),
                stream,
                dtype,
                device,
            ));
            let bias = TensorData::new(vec![0.0f64; pair[1]], [pair[1]]);
            biases.push(parameter(bias, stream, dtype, device));
        }
        Self {
            weights,
            biases,
            slope,
        }
    }
}

impl<B: Backend> Mlp<B> {
    /// The same net, its last layer zero: it gives 0.
    pub(crate) fn zeroed(mut self) -> Self {
        let weight = self.weights.pop().expect("a net has a layer");
        let zeros = weight.map(|tensor| tensor.zeros_like().require_grad());
        self.weights.push(zeros);
        let bias = self.biases.pop().expect("a net has a layer");
        self.biases
            .push(bias.map(|tensor| tensor.zeros_like().require_grad()));
        self
    }
}

/// A parameter with this start and an id from the stream, so that a run's record is the same bytes each time.
pub(crate) fn parameter<B: Backend, const D: usize>(
    start: TensorData,
    stream: &mut Stream,
    dtype: DType,
    device: &B::Device,
) -> Param<Tensor<B, D>> {
    let start = Tensor::from_data(start, (device, dtype)).require_grad();
    Param::initialized(ParamId::from(stream.next_u64()), start)
}

impl<B: helmholtz_ops::Backend> Mlp<B> {
    /// The number of each row of `inputs` `[rows, inputs]`, of a net with one output: `[rows]`.
    pub fn forward(&self, inputs: Tensor<B, 2>) -> Tensor<B, 1> {
        let rows = inputs.dims()[0];
        let last = self.weights.len() - 1;
        let layers = self.weights.iter().zip(&self.biases).enumerate();
        let output = layers.fold(inputs, |inputs, (index, (weight, bias))| {
            let outputs = linear(inputs, weight.val(), bias.val());
            match self.slope {
                _ if index == last => outputs,
                Some(slope) => leaky_relu(outputs, slope),
                None => outputs.tanh(),
            }
        });
        output.reshape([rows])
    }

    /// The outputs of a net of one hidden layer of rectifiers, along its first input. Row n of `points` `[rows, points]` holds values of that
    /// input, row `of[n]` of `others` `[have, inputs − 1]` the other inputs. Summed over the rows n of the same n mod `sums`:
    /// `[outputs, sums, points]`.
    pub(crate) fn along_first(
        &self,
        points: Tensor<B, 2>,
        of: &[usize],
        sums: usize,
        others: Tensor<B, 2>,
    ) -> Tensor<B, 3> {
        let ([w, v], [b, c], Some(slope)) = (&self.weights[..], &self.biases[..], self.slope)
        else {
            unreachable!("such nets are made with one hidden layer of rectifiers");
        };
        let [inputs, hidden] = w.dims();
        let first = w.val().narrow(0, 0, 1).reshape([hidden]);
        let offsets = linear(others, w.val().narrow(0, 1, inputs - 1), b.val());
        linear_splines(
            points,
            of,
            sums,
            (first, offsets),
            (v.val(), c.val()),
            slope,
        )
    }
}
