//! The sizes of a conditional model.

use serde::{Deserialize, Serialize};

/// A model of a part of a datum given the rest: what to build. Weights and biases start from U(±1/√in).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ConditionalSbnConfig {
    /// Bits of the context c, the first of a datum.
    pub context: usize,
    /// Bits of the target t, the rest of a datum.
    pub target: usize,
    /// Latent bits.
    pub latent: usize,
    /// Units of the tanh layers of each of the three networks, at least one layer.
    pub hidden: Vec<usize>,
}

/// A configuration that describes no model.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ConfigError {
    /// A layer without units.
    #[error("`{layer}` has a layer of 0 units; give every layer at least one")]
    EmptyLayer {
        /// The field at fault.
        layer: &'static str,
    },
    /// No tanh layer.
    #[error("`hidden` is empty; give each network at least one tanh layer")]
    NoHidden,
    /// A rectifier that is none.
    #[error("`slope` is {slope}; the leaky rectifier needs one that is not negative, and finite")]
    Slope {
        /// What was given.
        slope: f64,
    },
}

impl ConditionalSbnConfig {
    /// The net of table 3 of Ou & Song (2020), as the released code builds it: the lower 392 pixels of a digit given the
    /// upper 392. It has 50 latent bits, and two tanh layers of 200 units in each network.
    pub fn table_3() -> Self {
        Self {
            context: 392,
            target: 392,
            latent: 50,
            hidden: vec![200, 200],
        }
    }

    /// That it describes a network.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn check(&self) -> Result<(), ConfigError> {
        let empty = |layer| Err(ConfigError::EmptyLayer { layer });
        if self.context == 0 {
            return empty("context");
        }
        if self.target == 0 {
            return empty("target");
        }
        if self.latent == 0 {
            return empty("latent");
        }
        if self.hidden.contains(&0) {
            return empty("hidden");
        }
        if self.hidden.is_empty() {
            return Err(ConfigError::NoHidden);
        }
        Ok(())
    }
}
