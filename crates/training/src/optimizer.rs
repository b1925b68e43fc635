//! The optimiser of a model, chosen at run time.

use burn::module::{AutodiffModule, ParamId};
use burn::optim::adaptor::OptimizerAdaptor;
use burn::optim::{GradientsParams, Optimizer as _};
use helmholtz_estimators::Parts;
use helmholtz_ops::AutodiffBackend;
use serde::{Deserialize, Serialize};

use crate::ordered::Ordered;
use crate::snapshot::{OPTIMIZER, decode_optimizer, encode};
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

/// β₁ and β₂ of the [`Adam`] of a model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Betas {
    /// Those of the generative parameters θ.
    pub generative: [f64; 2],
    /// Those of the inference model's, φ.
    pub inference: [f64; 2],
}

impl Default for Betas {
    /// (0.9, 0.999).
    fn default() -> Self {
        Self {
            generative: [0.9, 0.999],
            inference: [0.9, 0.999],
        }
    }
}

type AdamOf<B, M> =
    OptimizerAdaptor<Adam<<B as burn::tensor::backend::AutodiffBackend>::InnerBackend>, M, B>;

/// An optimiser with its state.
pub(crate) enum OfModel<B, M>
where
    B: AutodiffBackend,
    M: AutodiffModule<B>,
{
    Adam(AdamOf<B, M>),
    /// One for θ and another for φ, whose ids these are.
    Adams([AdamOf<B, M>; 2], [Vec<ParamId>; 2]),
    Momentum(OptimizerAdaptor<Momentum, M, B>),
}

impl<B, M> OfModel<B, M>
where
    B: AutodiffBackend,
    M: AutodiffModule<B> + Parts<B>,
{
    pub fn new(optimizer: Optimizer, betas: Betas, model: &M) -> Self {
        let adam = |betas| Adam::default().with_betas(betas);
        let Betas {
            generative,
            inference,
        } = betas;
        match optimizer {
            Optimizer::Adam if generative == inference => Self::Adam(adam(generative).into()),
            Optimizer::Adam => Self::Adams(
                [generative, inference].map(|betas| adam(betas).into()),
                [model.generative(), model.inference()],
            ),
            Optimizer::Momentum => Self::Momentum(Momentum::default().into()),
        }
    }

    /// The model after a step along the mean of the gradients of so many rows, which are taken out of `gradients`. Parameters
    /// without a gradient stay.
    pub fn step(
        &mut self,
        learning_rate: f64,
        rows: usize,
        model: M,
        gradients: &mut B::Gradients,
    ) -> M {
        match self {
            Self::Adam(adam) => {
                let gradients = GradientsParams::from_module(gradients, &model);
                adam.step(learning_rate, model, gradients)
            }
            Self::Adams(adams, ids) => {
                adams.iter_mut().zip(ids).fold(model, |model, (adam, ids)| {
                    let of_part = GradientsParams::from_params(gradients, &model, ids);
                    adam.step(learning_rate, model, of_part)
                })
            }
            Self::Momentum(momentum) => {
                let gradients = GradientsParams::from_module(gradients, &model);
                momentum.step(learning_rate * rows as f64, model, gradients)
            }
        }
    }

    /// The state as a checkpoint part.
    pub fn save(&self) -> Vec<u8> {
        match self {
            Self::Adam(adam) => encode::<B>(Ordered::new(adam.to_record())),
            Self::Adams([theta, phi], _) => {
                let [theta, phi] = [theta, phi].map(|adam| Ordered::new(adam.to_record()));
                encode::<B>((theta, phi))
            }
            Self::Momentum(momentum) => encode::<B>(Ordered::new(momentum.to_record())),
        }
    }

    /// Takes over a saved state, which must be of `model`.
    pub fn load(&mut self, model: &M, bytes: &[u8], device: &B::Device) -> Result<(), TrainError> {
        match self {
            Self::Adam(adam) => {
                let record = decode_optimizer::<B, _, _>(model, bytes, OPTIMIZER, device)?;
                *adam = adam.clone().load_record(record);
            }
            Self::Adams([theta, phi], _) => {
                let records = decode_optimizer::<B, _, (_, _)>(model, bytes, OPTIMIZER, device)?;
                let (of_theta, of_phi) = records;
                *theta = theta.clone().load_record(of_theta);
                *phi = phi.clone().load_record(of_phi);
            }
            Self::Momentum(momentum) => {
                let record = decode_optimizer::<B, _, _>(model, bytes, OPTIMIZER, device)?;
                *momentum = momentum.clone().load_record(record);
            }
        }
        Ok(())
    }
}
