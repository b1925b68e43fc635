//! Tensor data on the host.

use burn::tensor::{Element, ElementConversion, TensorData};

/// The numbers of `data` in order, as another type. Data of the usual f32 are converted as a slice: the general
/// iterator decides on the type anew for each element.
pub(crate) fn numbers<E: Element>(data: &TensorData) -> Vec<E> {
    match data.as_slice::<f32>() {
        Ok(values) => values.iter().map(|value| value.elem()).collect(),
        Err(_) => data.iter().collect(),
    }
}
