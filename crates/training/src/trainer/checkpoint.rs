//! A trainer as parts of a checkpoint, and back.

use burn::module::AutodiffModule;
use helmholtz_estimators::{Dream, Estimator, Layered, Parts};
use helmholtz_ops::AutodiffBackend;
use helmholtz_runs::Checkpoint;
use helmholtz_samplers::ChainStore;

use super::Trainer;
use crate::TrainError;
use crate::snapshot::{
    MODEL, OPTIMIZER, decode_parameters, encode, is_finite, load_chains, part, save_chains,
};

impl<B, M, E> Trainer<B, M, E>
where
    B: AutodiffBackend,
    M: AutodiffModule<B> + Layered<B> + Dream<B> + Parts<B>,
    E: Estimator<B, M> + Clone,
{
    /// The parameters with their ids.
    pub(crate) fn save_model(&self) -> Vec<u8> {
        encode::<B>(self.model().clone().into_record())
    }

    /// All that a checkpoint keeps of the trainer, by name.
    pub(crate) fn save(&self) -> Vec<(&'static str, Vec<u8>)> {
        let mut parts = vec![
            (MODEL, self.save_model()),
            (OPTIMIZER, self.optimizer.save()),
            save_chains(&self.chains),
        ];
        parts.extend(self.learner.save());
        parts.extend(self.gradient_variance.as_ref().map(|own| own.save()));
        parts
    }

    pub(crate) fn load_model(
        &mut self,
        bytes: &[u8],
        device: &B::Device,
    ) -> Result<(), TrainError> {
        let record = decode_parameters::<B, M>(self.model(), bytes, MODEL, device)?;
        self.replace_model(|model| model.load_record(record));
        Ok(())
    }

    pub(crate) fn load(
        &mut self,
        checkpoint: &Checkpoint,
        device: &B::Device,
    ) -> Result<(), TrainError> {
        self.load_model(part(checkpoint, MODEL)?, device)?;
        let model = self.model.as_ref().expect("a model is there between steps");
        let bytes = part(checkpoint, OPTIMIZER)?;
        self.optimizer.load(model, bytes, device)?;
        let (latents, rows) = (self.chains.latents().clone(), self.chains.len());
        self.chains = load_chains(checkpoint, &latents, rows)?;
        if let Some(variance) = &mut self.gradient_variance {
            variance.load::<B, M>(checkpoint, model, &model.inference())?;
        }
        self.learner.load(checkpoint, device)
    }

    pub(crate) fn is_finite(&self) -> bool {
        is_finite(self.model())
    }
}
