//! The optimiser of a model, chosen at run time.

use burn::module::{AutodiffModule, ParamId};
use burn::optim::adaptor::OptimizerAdaptor;
use burn::optim::{GradientsParams, Optimizer as _, SgdConfig};
use helmholtz_estimators::Parts;
use helmholtz_ops::AutodiffBackend;

use crate::ordered::Ordered;
use crate::snapshot::{OPTIMIZER, decode_optimizer, encode};
use crate::{Adam, Betas, Momentum, Optimizer, TrainConfig, TrainError};

type AdamOf<B, M> =
    OptimizerAdaptor<Adam<<B as burn::tensor::backend::AutodiffBackend>::InnerBackend>, M, B>;

/// The optimisers of a model, with their states.
pub(crate) struct OfModel<B, M>
where
    B: AutodiffBackend,
    M: AutodiffModule<B>,
{
    moved: Moved<B, M>,
    /// The learning rate of φ in units of that of θ.
    inference: f64,
    /// The prior's own rate, and the ids of its logits.
    prior: Option<(f64, Vec<ParamId>)>,
}

enum Moved<B, M>
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
    pub fn new<E>(config: &TrainConfig<E>, model: &M) -> Self {
        let adam = |betas| Adam::default().with_betas(betas);
        let Betas {
            generative,
            inference,
        } = config.betas;
        let one = generative == inference && config.inference_rate.is_none();
        let moved = match config.optimizer {
            Optimizer::Adam if one => Moved::Adam(adam(generative).into()),
            Optimizer::Adam => Moved::Adams(
                [generative, inference].map(|betas| adam(betas).into()),
                [model.generative(), model.inference()],
            ),
            Optimizer::Momentum => Moved::Momentum(Momentum::default().into()),
        };
        let rate = config.learning_rate;
        Self {
            moved,
            inference: config.inference_rate.map_or(1.0, |own| own / rate),
            prior: config.prior_rate.map(|own| (own, model.learned_prior())),
        }
    }

    /// The model after a step along the mean of the gradients of so many rows, which are taken out of `gradients`. Parameters
    /// without a gradient stay.
    pub fn step(
        &mut self,
        learning_rate: f64,
        rows: usize,
        mut model: M,
        gradients: &mut B::Gradients,
    ) -> M {
        if let Some((rate, ids)) = &self.prior {
            let of_prior = GradientsParams::from_params(gradients, &model, ids);
            let mut descent = SgdConfig::new().init::<B, M>();
            model = descent.step(*rate, model, of_prior);
        }
        match &mut self.moved {
            Moved::Adam(adam) => {
                let gradients = GradientsParams::from_module(gradients, &model);
                adam.step(learning_rate, model, gradients)
            }
            Moved::Adams(adams, ids) => {
                let rates = [learning_rate, self.inference * learning_rate];
                let parts = adams.iter_mut().zip(ids).zip(rates);
                parts.fold(model, |model, ((adam, ids), rate)| {
                    let of_part = GradientsParams::from_params(gradients, &model, ids);
                    adam.step(rate, model, of_part)
                })
            }
            Moved::Momentum(momentum) => {
                let gradients = GradientsParams::from_module(gradients, &model);
                momentum.step(learning_rate * rows as f64, model, gradients)
            }
        }
    }

    /// The state as a checkpoint part. Gradient descent of the prior has none.
    pub fn save(&self) -> Vec<u8> {
        match &self.moved {
            Moved::Adam(adam) => encode::<B>(Ordered::new(adam.to_record())),
            Moved::Adams([theta, phi], _) => {
                let [theta, phi] = [theta, phi].map(|adam| Ordered::new(adam.to_record()));
                encode::<B>((theta, phi))
            }
            Moved::Momentum(momentum) => encode::<B>(Ordered::new(momentum.to_record())),
        }
    }

    /// Takes over a saved state, which must be of `model`.
    pub fn load(&mut self, model: &M, bytes: &[u8], device: &B::Device) -> Result<(), TrainError> {
        match &mut self.moved {
            Moved::Adam(adam) => {
                let record = decode_optimizer::<B, _, _>(model, bytes, OPTIMIZER, device)?;
                *adam = adam.clone().load_record(record);
            }
            Moved::Adams([theta, phi], _) => {
                let records = decode_optimizer::<B, _, (_, _)>(model, bytes, OPTIMIZER, device)?;
                let (of_theta, of_phi) = records;
                *theta = theta.clone().load_record(of_theta);
                *phi = phi.clone().load_record(of_phi);
            }
            Moved::Momentum(momentum) => {
                let record = decode_optimizer::<B, _, _>(model, bytes, OPTIMIZER, device)?;
                *momentum = momentum.clone().load_record(record);
            }
        }
        Ok(())
    }
}
