//! The runner of cells. This is a placeholder: the real one, over burn, takes its place.

use crate::cell_runner::CellRunner;
use crate::device::Device;
use crate::error::HarnessError;
use helmholtz_datasets::Splits;
use std::sync::Arc;

/// A runner on `device` for these images.
///
/// # Errors
/// Always: no backend is compiled in.
pub fn new(device: Device, _data: Arc<Splits>) -> Result<Box<dyn CellRunner>, HarnessError> {
    Err(HarnessError::Device {
        device: device.as_str(),
        problem: "no backend is compiled in".to_string(),
    })
}
