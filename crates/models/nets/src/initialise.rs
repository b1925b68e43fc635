//! How parameters start, and what they are called.

use burn::module::{Param, ParamId};
use burn::tensor::{DType, Tensor, TensorData, backend::Backend};
use helmholtz_random::{Purpose, Stream};
use rand_core::Rng;
use serde::{Deserialize, Serialize};

use crate::{Activation, Linear, Net};

const INITIALISE: Purpose = Purpose::new("init");
const IDS: Purpose = Purpose::new("ids");

/// How the parameters of a net start.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Initialisation {
    /// Weights U(±√(6/(in + out))) (Glorot & Bengio 2010), every bias this constant.
    Xavier {
        /// The constant of all biases.
        bias: f64,
    },
    /// Weights U(±√(6/(in + out)) / in), every bias this constant, and the logits of a learned prior too: as the released
    /// code of reweighted wake-sleep (Bornschein & Bengio 2015) starts.
    XavierOverFanIn {
        /// The constant of all biases.
        bias: f64,
    },
    /// Weights and biases U(±1/√in).
    FanIn,
}

impl Initialisation {
    /// The same with biases of 0, where they are a constant. Where a class has a logit pinned to 0, this is what the same
    /// constant in the logits of all classes is.
    pub fn without_bias(self) -> Self {
        match self {
            Self::Xavier { .. } => Self::Xavier { bias: 0.0 },
            Self::XavierOverFanIn { .. } => Self::XavierOverFanIn { bias: 0.0 },
            Self::FanIn => Self::FanIn,
        }
    }

    /// Where the logits of a learned prior of bits start.
    pub fn prior(self) -> f64 {
        match self {
            Self::XavierOverFanIn { bias } => bias,
            Self::Xavier { .. } | Self::FanIn => 0.0,
        }
    }
}

/// Draws the parameters of a model from streams keyed by a seed, never from the backend.
pub struct Initialiser<B: Backend> {
    starts: Stream,
    ids: Stream,
    dtype: DType,
    device: B::Device,
}

impl<B: Backend> Initialiser<B> {
    /// For a model with this seed, in this dtype.
    pub fn new(seed: u64, dtype: DType, device: &B::Device) -> Self {
        Self {
            starts: Stream::new(seed, INITIALISE, [0, 0]),
            ids: Stream::new(seed, IDS, [0, 0]),
            dtype,
            device: device.clone(),
        }
    }

    /// A net through layers of these sizes, with this activation between them.
    pub fn net(
        &mut self,
        sizes: &[usize],
        activation: Activation,
        initialisation: Initialisation,
    ) -> Net<B> {
        let pairs = sizes.windows(2);
        let layers = pairs.map(|pair| self.linear(pair[0], pair[1], initialisation));
        Net::new(layers.collect(), activation)
    }

    /// A linear layer: its weight is drawn, row by row, then its bias.
    pub fn linear(
        &mut self,
        inputs: usize,
        outputs: usize,
        initialisation: Initialisation,
    ) -> Linear<B> {
        let (weight, bias) = self.start(inputs, outputs, initialisation);
        Linear {
            weight: self.parameter(TensorData::new(weight, [inputs, outputs])),
            bias: self.parameter(TensorData::new(bias, [outputs])),
        }
    }

    fn start(
        &mut self,
        inputs: usize,
        outputs: usize,
        initialisation: Initialisation,
    ) -> (Vec<f64>, Vec<f64>) {
        let mut uniform = |count: usize, limit: f64| -> Vec<f64> {
            let draw = || (2.0 * self.starts.uniform_f64() - 1.0) * limit;
            std::iter::repeat_with(draw).take(count).collect()
        };
        match initialisation {
            Initialisation::Xavier { bias } => {
                let limit = (6.0 / (inputs + outputs) as f64).sqrt();
                (uniform(inputs * outputs, limit), vec![bias; outputs])
            }
            Initialisation::XavierOverFanIn { bias } => {
                let limit = (6.0 / (inputs + outputs) as f64).sqrt() / inputs as f64;
                (uniform(inputs * outputs, limit), vec![bias; outputs])
            }
            Initialisation::FanIn => {
                let limit = 1.0 / (inputs as f64).sqrt();
                (uniform(inputs * outputs, limit), uniform(outputs, limit))
            }
        }
    }

    /// A parameter with this start. Its id comes from a stream too, so that the record of a run is the same bytes each time.
    pub fn parameter<const D: usize>(&mut self, start: TensorData) -> Param<Tensor<B, D>> {
        Param::initialized(
            ParamId::from(self.ids.next_u64()),
            Tensor::from_data(start, (&self.device, self.dtype)).require_grad(),
        )
    }
}
