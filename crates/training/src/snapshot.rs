//! Tensors as checkpoint parts, and back.

use burn::module::{Module, ModuleVisitor, Param};
use burn::optim::Optimizer;
use burn::record::{BinBytesRecorder, FullPrecisionSettings, Record, Recorder};
use burn::tensor::Tensor;
use burn::tensor::backend::Backend;
use helmholtz_estimators::Model;
use helmholtz_ops::AutodiffBackend;
use helmholtz_runs::Checkpoint;
use helmholtz_samplers::{ChainStore, MemoryStore};

use crate::{TrainError, Trainer};

pub(crate) const MODEL: &str = "model";
pub(crate) const OPTIMIZER: &str = "optimizer";
pub(crate) const CHAINS: &str = "chains";
const CONTROLS: &str = "controls";
const CONTROLS_OPTIMIZER: &str = "controls-optimizer";
const MOMENTS: &str = "moments";
pub(crate) const SELECTED: &str = "selected";

type Recorded = BinBytesRecorder<FullPrecisionSettings, Vec<u8>>;

fn encode<B: Backend>(record: impl Record<B>) -> Vec<u8> {
    Recorder::<B>::record(&Recorded::new(), record, ())
        .expect("a record in memory cannot fail to be written")
}

fn decode<B: Backend, R: Record<B>>(
    bytes: &[u8],
    part: &'static str,
    device: &B::Device,
) -> Result<R, TrainError> {
    Recorder::<B>::load(&Recorded::new(), bytes.to_vec(), device)
        .map_err(|_| TrainError::Checkpoint { part })
}

impl<B, M> Trainer<B, M>
where
    B: AutodiffBackend,
    M: Model<B>,
{
    /// The parameters with their ids.
    pub(crate) fn save_model(&self) -> Vec<u8> {
        encode::<B>(self.model().clone().into_record())
    }

    /// All that a checkpoint keeps of the trainer, by name.
    pub(crate) fn save(&self) -> Vec<(&'static str, Vec<u8>)> {
        let mut parts = vec![
            (MODEL, self.save_model()),
            (OPTIMIZER, encode::<B>(self.optimizer.to_record())),
            (CHAINS, self.chains.snapshot()),
        ];
        if let Some(controls) = &self.learned.controls {
            let moments = serde_json::to_vec(&self.learned.moments);
            parts.extend([
                (CONTROLS, encode::<B>(controls.clone().into_record())),
                (
                    CONTROLS_OPTIMIZER,
                    encode::<B>(self.controls_optimizer.to_record()),
                ),
                (MOMENTS, moments.expect("numbers can be written")),
            ]);
        }
        parts
    }

    pub(crate) fn load_model(
        &mut self,
        bytes: &[u8],
        device: &B::Device,
    ) -> Result<(), TrainError> {
        let record = decode::<B, M::Record>(bytes, MODEL, device)?;
        self.replace_model(|model| model.load_record(record));
        Ok(())
    }

    pub(crate) fn load(
        &mut self,
        checkpoint: &Checkpoint,
        device: &B::Device,
    ) -> Result<(), TrainError> {
        let part = |part: &'static str| {
            checkpoint
                .parts
                .get(part)
                .ok_or(TrainError::Checkpoint { part })
        };
        self.load_model(part(MODEL)?, device)?;
        let optimizer = self.optimizer.clone();
        self.optimizer =
            optimizer.load_record(decode::<B, _>(part(OPTIMIZER)?, OPTIMIZER, device)?);
        let (latents, rows) = (self.chains.latents().clone(), self.chains.len());
        self.chains = MemoryStore::restore(part(CHAINS)?, &latents, rows)?;
        if let Some(controls) = self.learned.controls.take() {
            let record = decode::<B, _>(part(CONTROLS)?, CONTROLS, device)?;
            self.learned.controls = Some(controls.load_record(record));
            let record = decode::<B, _>(part(CONTROLS_OPTIMIZER)?, CONTROLS_OPTIMIZER, device)?;
            self.controls_optimizer = self.controls_optimizer.clone().load_record(record);
            self.learned.moments = serde_json::from_slice(part(MOMENTS)?)
                .map_err(|_| TrainError::Checkpoint { part: MOMENTS })?;
        }
        Ok(())
    }

    /// Whether every parameter is a finite number.
    pub(crate) fn is_finite(&self) -> bool {
        let mut finite = Finite(true);
        self.model().visit(&mut finite);
        finite.0
    }
}

struct Finite(bool);

impl<B: Backend> ModuleVisitor<B> for Finite {
    fn visit_float<const D: usize>(&mut self, parameter: &Param<Tensor<B, D>>) {
        self.0 &= parameter
            .val()
            .into_data()
            .iter::<f64>()
            .all(f64::is_finite);
    }
}
