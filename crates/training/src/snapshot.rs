//! Tensors as checkpoint parts, and back.

use std::collections::HashMap;

use burn::module::{Module, ModuleVisitor, Param, ParamId};
use burn::record::{BinBytesRecorder, FullPrecisionSettings, Record, Recorder};
use burn::tensor::Tensor;
use burn::tensor::backend::Backend;
use helmholtz_estimators::Learned;
use helmholtz_evaluation::LogWeights;
use helmholtz_ops::AutodiffBackend;
use helmholtz_runs::Checkpoint;
use helmholtz_samplers::{Latents, MemoryStore};

use crate::TrainError;
use crate::wire::{self, Item};

pub(crate) const MODEL: &str = "model";
pub(crate) const OPTIMIZER: &str = "optimizer";
const CHAINS: &str = "chains";
pub(crate) const CONTROLS: &str = "controls";
pub(crate) const CONTROLS_OPTIMIZER: &str = "controls-optimizer";
pub(crate) const MOMENTS: &str = "moments";
pub(crate) const SELECTED: &str = "selected";
pub(crate) const EVALUATED: &str = "evaluated";

/// Encodes the results of the last evaluation so far, two numbers a datum.
pub(crate) fn evaluated(data: &[LogWeights]) -> Vec<u8> {
    let numbers = data.iter().flat_map(|d| [d.log_mean, d.mean_log]);
    numbers.flat_map(f64::to_le_bytes).collect()
}

/// The inverse of [`evaluated`].
pub(crate) fn of_evaluated(bytes: &[u8]) -> Vec<LogWeights> {
    let (numbers, _) = bytes.as_chunks::<8>();
    let (pairs, _) = numbers.as_chunks::<2>();
    let datum = |&[log_mean, mean_log]: &[[u8; 8]; 2]| LogWeights {
        log_mean: f64::from_le_bytes(log_mean),
        mean_log: f64::from_le_bytes(mean_log),
    };
    pairs.iter().map(datum).collect()
}

type Recorded = BinBytesRecorder<FullPrecisionSettings, Vec<u8>>;
type Precision = FullPrecisionSettings;

pub(crate) fn encode<B: Backend>(record: impl Record<B>) -> Vec<u8> {
    Recorder::<B>::record(&Recorded::new(), record, ())
        .expect("a record in memory cannot fail to be written")
}

pub(crate) fn decode<B: Backend, R: Record<B>>(
    bytes: &[u8],
    part: &'static str,
    device: &B::Device,
) -> Result<R, TrainError> {
    checked::<B, R>(bytes, part, device).map(|(record, _)| record)
}

/// The record, and what shapes are in it, in order.
fn checked<B: Backend, R: Record<B>>(
    bytes: &[u8],
    part: &'static str,
    device: &B::Device,
) -> Result<(R, Vec<Item>), TrainError> {
    let read = wire::read::<R::Item<Precision>>(bytes);
    let (item, items) = read.map_err(|_| TrainError::Checkpoint { part })?;
    // Ids of parameters and ranks of states that burn takes as they are.
    for pair in items.windows(2) {
        let sound = match pair {
            [Item::Text(id), Item::Tensor(_) | Item::Rank(_)] => is_id(id),
            [Item::Rank(rank), Item::Tensor(shape)] => *rank == shape.len(),
            _ => true,
        };
        if !sound {
            return Err(TrainError::Checkpoint { part });
        }
    }
    Ok((R::from_item::<Precision>(item, device), items))
}

/// Whether burn can read `text` as the id of a parameter: 8 bytes in base 32, or a UUID.
fn is_id(text: &str) -> bool {
    (text.len() <= 13 || text.len() == 36) && ParamId::try_deserialize(text).is_some()
}

/// The shapes of all tensors in a record.
fn shapes(items: &[Item]) -> Vec<&[usize]> {
    let tensors = items.iter().filter_map(|item| match item {
        Item::Tensor(shape) => Some(shape.as_slice()),
        _ => None,
    });
    tensors.collect()
}

/// The parameters in `bytes` for `module`, whose own must have the same shapes.
pub(crate) fn decode_parameters<B: Backend, M: Module<B>>(
    module: &M,
    bytes: &[u8],
    part: &'static str,
    device: &B::Device,
) -> Result<M::Record, TrainError> {
    let own = encode::<B>(module.clone().into_record());
    let (_, own) = wire::read::<<M::Record as Record<B>>::Item<Precision>>(&own)
        .map_err(|_| TrainError::Checkpoint { part })?;
    let (found, own_shapes) = (checked_items::<B, M::Record>(bytes, part)?, shapes(&own));
    let found_shapes = shapes(&found);
    if found_shapes != own_shapes {
        let first = found_shapes
            .iter()
            .zip(&own_shapes)
            .position(|(a, b)| a != b);
        let difference = match first {
            Some(at) => format!(
                "its parameter {} has the shape {:?}, that of the net has {:?}",
                at + 1,
                found_shapes[at],
                own_shapes[at]
            ),
            None => format!(
                "it has {} parameters, the net has {}",
                found_shapes.len(),
                own_shapes.len()
            ),
        };
        return Err(TrainError::OtherNet { part, difference });
    }
    decode::<B, M::Record>(bytes, part, device)
}

fn checked_items<B: Backend, R: Record<B>>(
    bytes: &[u8],
    part: &'static str,
) -> Result<Vec<Item>, TrainError> {
    let read = wire::read::<R::Item<Precision>>(bytes);
    Ok(read.map_err(|_| TrainError::Checkpoint { part })?.1)
}

/// The state of an optimiser in `bytes`, each of whose tensors must belong to a parameter of `module`, in its shape.
pub(crate) fn decode_optimizer<B: AutodiffBackend, M: Module<B>, R: Record<B>>(
    module: &M,
    bytes: &[u8],
    part: &'static str,
    device: &B::Device,
) -> Result<R, TrainError> {
    let (record, items) = checked::<B, R>(bytes, part, device)?;
    let mut known = Shapes(HashMap::new());
    module.visit(&mut known);
    let mut owner = None;
    for item in &items {
        match item {
            Item::Text(id) => owner = known.0.get(&ParamId::deserialize(id)),
            Item::Tensor(shape) if owner != Some(shape) => {
                let difference = match owner {
                    Some(own) => {
                        format!("a parameter of the shape {own:?} has a state of {shape:?}")
                    }
                    None => format!("a state of the shape {shape:?} belongs to no parameter"),
                };
                return Err(TrainError::OtherNet { part, difference });
            }
            _ => {}
        }
    }
    Ok(record)
}

/// The shape of each parameter.
struct Shapes(HashMap<ParamId, Vec<usize>>);

impl<B: Backend> ModuleVisitor<B> for Shapes {
    fn visit_float<const D: usize>(&mut self, parameter: &Param<Tensor<B, D>>) {
        self.0.insert(parameter.id, parameter.val().dims().to_vec());
    }
}

pub(crate) fn part<'a>(
    checkpoint: &'a Checkpoint,
    part: &'static str,
) -> Result<&'a [u8], TrainError> {
    let bytes = checkpoint.parts.get(part);
    Ok(bytes.ok_or(TrainError::Checkpoint { part })?)
}

/// Choice among the parameters of a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parameters {
    /// Parameters of the last step.
    Last,
    /// Parameters of the check with the smallest validation NLL.
    Selected,
}

/// The model with the parameters that a checkpoint of [`train`](crate::train) holds.
///
/// # Errors
/// [`TrainError::Checkpoint`]; [`TrainError::OtherNet`] for parameters of another model.
pub fn load_model<B: Backend, M: Module<B>>(
    model: M,
    checkpoint: &Checkpoint,
    parameters: Parameters,
    device: &B::Device,
) -> Result<M, TrainError> {
    let name = match parameters {
        Parameters::Last => MODEL,
        Parameters::Selected => SELECTED,
    };
    let record = decode_parameters::<B, M>(&model, part(checkpoint, name)?, name, device)?;
    Ok(model.load_record(record))
}

/// Loads what the method learned beside the model, as a checkpoint holds it; nothing where the method learns nothing.
///
/// # Errors
/// [`TrainError::Checkpoint`].
pub fn load_learned<B: helmholtz_ops::Backend>(
    mut learned: Learned<B>,
    checkpoint: &Checkpoint,
    device: &B::Device,
) -> Result<Learned<B>, TrainError> {
    if let Some(controls) = learned.controls.take() {
        let bytes = part(checkpoint, CONTROLS)?;
        let record = decode_parameters::<B, _>(&controls, bytes, CONTROLS, device)?;
        learned.controls = Some(controls.load_record(record));
        learned.moments = serde_json::from_slice(part(checkpoint, MOMENTS)?)
            .map_err(|_| TrainError::Checkpoint { part: MOMENTS })?;
    }
    Ok(learned)
}

/// Chains as a part of a checkpoint, which [`load_chains`] reads.
pub fn save_chains(chains: &MemoryStore) -> (&'static str, Vec<u8>) {
    (CHAINS, chains.snapshot())
}

/// The chains of `rows` data, of these latents, that a checkpoint holds.
///
/// # Errors
/// [`TrainError::Checkpoint`], and [`TrainError::Sampler`] if they are others.
pub fn load_chains(
    checkpoint: &Checkpoint,
    latents: &Latents,
    rows: usize,
) -> Result<MemoryStore, TrainError> {
    let snapshot = part(checkpoint, CHAINS)?;
    Ok(MemoryStore::restore(snapshot, latents, rows)?)
}

/// Whether every parameter is a finite number.
pub(crate) fn is_finite<B: Backend, M: Module<B>>(model: &M) -> bool {
    let mut finite = Finite(true);
    model.visit(&mut finite);
    finite.0
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_eight_bytes_in_base_32_or_a_uuid() {
        assert!(is_id(&ParamId::new().serialize()));
        assert!(is_id("67e55044-10b1-426f-9247-bb680e5fe0c8"));
        for other in [
            "67e55044-10b1-426f-9247-bb680e5fe0c8-9",
            "no id!",
            "AAAAAAAAAAAAAAAAAAAA",
        ] {
            assert!(!is_id(other), "{other}");
        }
    }
}
