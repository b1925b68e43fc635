//! The optimiser of a model, chosen at run time.

use burn::module::AutodiffModule;
use burn::optim::adaptor::OptimizerAdaptor;
use burn::optim::{GradientsParams, Optimizer as _};
use helmholtz_ops::AutodiffBackend;
use serde::{Deserialize, Serialize};

use crate::snapshot::{OPTIMIZER, decode, encode};
use crate::{Adam, Momentum, TrainError};

/// How the parameters of a model follow a gradient.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Optimizer {
    /// [`Adam`], on the mean gradient of the batch.
    #[default]
    Adam,
    /// [`Momentum`], on the sum of the batch's gradients.
    Momentum,
}

/// An optimiser with its state.
pub(crate) enum OfModel<B, M>
where
    B: AutodiffBackend,
    M: AutodiffModule<B>,
{
    Adam(OptimizerAdaptor<Adam<B::InnerBackend>, M, B>),
    Momentum(OptimizerAdaptor<Momentum, M, B>),
}

impl<B, M> OfModel<B, M>
where
    B: AutodiffBackend,
    M: AutodiffModule<B>,
{
    pub fn new(optimizer: Optimizer) -> Self {
        match optimizer {
            Optimizer::Adam => Self::Adam(Adam::default().into()),
            Optimizer::Momentum => Self::Momentum(Momentum::default().into()),
        }
    }

    /// The model after a step along the mean of the gradients of so many rows. Parameters without a gradient stay.
    pub fn step(
        &mut self,
        learning_rate: f64,
        rows: usize,
        model: M,
        gradients: GradientsParams,
    ) -> M {
        match self {
            Self::Adam(adam) => adam.step(learning_rate, model, gradients),
            Self::Momentum(momentum) => {
                momentum.step(learning_rate * rows as f64, model, gradients)
            }
        }
    }

    /// The state as a checkpoint part.
    pub fn save(&self) -> Vec<u8> {
        match self {
            Self::Adam(adam) => encode::<B>(adam.to_record()),
            Self::Momentum(momentum) => encode::<B>(momentum.to_record()),
        }
    }

    /// Takes over a saved state.
    pub fn load(&mut self, bytes: &[u8], device: &B::Device) -> Result<(), TrainError> {
        match self {
            Self::Adam(adam) => {
                *adam = adam
                    .clone()
                    .load_record(decode::<B, _>(bytes, OPTIMIZER, device)?);
            }
            Self::Momentum(momentum) => {
                let record = decode::<B, _>(bytes, OPTIMIZER, device)?;
                *momentum = momentum.clone().load_record(record);
            }
        }
        Ok(())
    }
}
