//! The sizes of a variational autoencoder with categorical latents.

use serde::{Deserialize, Serialize};

/// A variational autoencoder with categorical latents: what to build. Weights start from U(±√(6/(in + out))) (Glorot & Bengio
/// 2010), biases from 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct CategoricalVaeConfig {
    /// Bits of a datum.
    pub visible: usize,
    /// Categorical variables V.
    pub variables: usize,
    /// Classes C of each.
    pub classes: u32,
    /// Units of the deterministic layers of q from the data up; p has the same from the data up.
    pub hidden: Vec<usize>,
    /// The slope of the leaky rectifier after each deterministic layer; 0 for the rectifier.
    pub slope: f64,
    /// Whether the encoder gives C logits a variable instead of C − 1. The first is then subtracted from the others, which
    /// leaves the probabilities as they are: the same family, learned in other coordinates.
    pub free_logits: bool,
    /// Whether the prior's logits are learned, from 0; if not, it is uniform.
    pub learned_prior: bool,
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
    /// Variables that cannot vary.
    #[error("`classes` is {classes}; a categorical variable needs at least 2")]
    Classes {
        /// What was given.
        classes: u32,
    },
    /// A slope that is negative or not finite.
    #[error("`slope` is {slope}; the leaky rectifier needs one that is not negative, and finite")]
    Slope {
        /// What was given.
        slope: f64,
    },
}

impl CategoricalVaeConfig {
    /// The net of table 2 of Ou & Song (2020), as the released code builds it. It has 784 pixels, 20 variables of 10 classes, and
    /// leaky rectifiers (0.2) of 512 and 256 between. Its Gumbel-softmax is trained with `free_logits`.
    pub fn table_2() -> Self {
        Self {
            visible: 784,
            variables: 20,
            classes: 10,
            hidden: vec![512, 256],
            slope: 0.2,
            free_logits: false,
            learned_prior: false,
        }
    }

    /// That it describes a network.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn check(&self) -> Result<(), ConfigError> {
        let empty = |layer| Err(ConfigError::EmptyLayer { layer });
        if self.visible == 0 {
            return empty("visible");
        }
        if self.variables == 0 {
            return empty("variables");
        }
        if self.hidden.contains(&0) {
            return empty("hidden");
        }
        if self.classes < 2 {
            let classes = self.classes;
            return Err(ConfigError::Classes { classes });
        }
        if !(self.slope >= 0.0 && self.slope.is_finite()) {
            return Err(ConfigError::Slope { slope: self.slope });
        }
        Ok(())
    }
}
