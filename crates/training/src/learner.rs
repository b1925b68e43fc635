//! Parameters that an estimator learns beside the model, and their optimiser.

use burn::module::Module;
use burn::optim::adaptor::OptimizerAdaptor;
use burn::optim::{GradientsParams, Optimizer};
use burn::tensor::Tensor;
use helmholtz_estimators::{Controls, ControlsConfig, Learned};
use helmholtz_ops::AutodiffBackend;
use helmholtz_runs::Checkpoint;

use crate::ordered::Ordered;
use crate::snapshot::{
    CONTROLS, CONTROLS_OPTIMIZER, MOMENTS, decode_optimizer, encode, load_learned, part,
};
use crate::{Adam, TrainError};

/// Parameters that an estimator [learns](helmholtz_estimators::Declaration::controls) beside the model, with the Adam that trains
/// them.
pub struct Learner<B: AutodiffBackend> {
    /// Learned parameters.
    pub learned: Learned<B>,
    optimizer: OptimizerAdaptor<Adam<B::InnerBackend>, Controls<B>, B>,
    /// The learning rate, in units of the model's.
    rate: f64,
}

impl<B: AutodiffBackend> Learner<B> {
    /// A fresh optimiser for what these controls have as a start.
    pub fn new(learned: Learned<B>, controls: &ControlsConfig) -> Self {
        let adam = Adam::default().with_betas([0.9, controls.beta_2]);
        Self {
            learned,
            optimizer: OptimizerAdaptor::from(adam),
            rate: controls.learning_rate,
        }
    }

    /// One step at this learning rate of the model: down the estimate's `objective` of what is learned, or, without one, along
    /// what the model's loss has left in `gradients`.
    pub fn step(
        &mut self,
        learning_rate: f64,
        objective: Option<Tensor<B, 1>>,
        gradients: B::Gradients,
    ) {
        let Some(controls) = self.learned.controls.take() else {
            return;
        };
        let mut gradients = match objective {
            Some(objective) => objective.backward(),
            None => gradients,
        };
        let of_controls = GradientsParams::from_module(&mut gradients, &controls);
        let rate = self.rate * learning_rate;
        let controls = self.optimizer.step(rate, controls, of_controls);
        self.learned.controls = Some(controls.bounded());
    }

    /// Its parts of a checkpoint, by name; none where there is nothing to learn.
    pub fn save(&self) -> Vec<(&'static str, Vec<u8>)> {
        let Some(controls) = &self.learned.controls else {
            return Vec::new();
        };
        let moments = serde_json::to_vec(&self.learned.moments);
        vec![
            (CONTROLS, encode::<B>(controls.clone().into_record())),
            (
                CONTROLS_OPTIMIZER,
                encode::<B>(Ordered::new(self.optimizer.to_record())),
            ),
            (MOMENTS, moments.expect("numbers can be written")),
        ]
    }

    /// Takes over what [`save`](Self::save) gave.
    ///
    /// # Errors
    /// [`TrainError::Checkpoint`], and [`TrainError::OtherNet`] for what another net has learned.
    pub fn load(&mut self, checkpoint: &Checkpoint, device: &B::Device) -> Result<(), TrainError> {
        if self.learned.controls.is_some() {
            self.learned = load_learned(self.learned.clone(), checkpoint, device)?;
            let bytes = part(checkpoint, CONTROLS_OPTIMIZER)?;
            let controls = self.learned.controls.as_ref().expect("just loaded");
            let record = decode_optimizer::<B, _, _>(controls, bytes, CONTROLS_OPTIMIZER, device)?;
            self.optimizer = self.optimizer.clone().load_record(record);
        }
        Ok(())
    }
}
