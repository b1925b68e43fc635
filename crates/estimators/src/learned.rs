//! The state of an estimator that learns.

use helmholtz_ops::Backend;

use crate::{Controls, Moments};

/// What an estimator learns and remembers beside the model; empty for most.
#[derive(Clone, Debug)]
pub struct Learned<B: Backend> {
    /// Trained parts.
    pub controls: Option<Controls<B>>,
    /// Running averages of each layer's learning signal.
    pub moments: Vec<Moments>,
}
