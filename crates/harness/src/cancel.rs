//! Requests to stop.

use crate::error::HarnessError;
use std::sync::atomic::{AtomicBool, Ordering};

/// # Errors
/// [`HarnessError::Interrupted`] once `stop` is set.
pub fn check_cancelled(stop: &AtomicBool) -> Result<(), HarnessError> {
    match stop.load(Ordering::Relaxed) {
        true => Err(HarnessError::Interrupted { epoch: 0 }),
        false => Ok(()),
    }
}
