//! The rule by which a model follows its gradient.

use serde::{Deserialize, Serialize};

/// Rule by which the parameters of a model follow a gradient.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Optimizer {
    /// [`Adam`](crate::Adam), on the mean gradient of the batch.
    #[default]
    Adam,
    /// [`Momentum`](crate::Momentum), on the sum of the batch's gradients.
    Momentum,
}

/// β₁ and β₂ of the [`Adam`](crate::Adam) of a model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Betas {
    /// β₁ and β₂ of the generative parameters θ.
    pub generative: [f64; 2],
    /// β₁ and β₂ of the inference model's, φ.
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
