//! The sizes of a variational autoencoder with counts for latents.

use serde::{Deserialize, Serialize};

/// A variational autoencoder with counts for latents: what to build. Weights start from U(±√(6/(in + out))) (Glorot & Bengio
/// 2010), biases from 0, so that the counts begin near their prior.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct CountVaeConfig {
    /// Bits of a datum.
    pub visible: usize,
    /// Counts V.
    pub variables: usize,
    /// Trials n of each binomial count; Poisson counts without it.
    pub trials: Option<u32>,
    /// Units of the deterministic layers of q from the data up; p has the same from the data up.
    pub hidden: Vec<usize>,
    /// The slope of the leaky rectifier after each deterministic layer; 0 for the rectifier.
    pub slope: f64,
    /// Whether the prior's logits are learned, from 0; if not, it is Poisson(1), or binomial with p = ½.
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
    /// Counts that are always 0.
    #[error("`trials` is 0; a binomial count needs at least 1")]
    NoTrials,
    /// A slope that is negative or not finite.
    #[error("`slope` is {slope}; the leaky rectifier needs one that is not negative, and finite")]
    Slope {
        /// What was given.
        slope: f64,
    },
}

impl CountVaeConfig {
    /// The nonlinear net of RODEO's protocol (Shi, Zhou, Hwang, Titsias & Mackey 2022) with 200 Poisson counts in place of its
    /// bits. It has 784 pixels, and leaky rectifiers (0.3) of 200 and 200 between.
    pub fn poisson() -> Self {
        Self {
            visible: 784,
            variables: 200,
            trials: None,
            hidden: vec![200, 200],
            slope: 0.3,
            learned_prior: false,
        }
    }

    /// [`poisson`](Self::poisson) with so many binomial counts of 8 trials.
    pub fn binomial(variables: usize) -> Self {
        Self {
            variables,
            trials: Some(8),
            ..Self::poisson()
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
        if self.trials == Some(0) {
            return Err(ConfigError::NoTrials);
        }
        if !(self.slope >= 0.0 && self.slope.is_finite()) {
            return Err(ConfigError::Slope { slope: self.slope });
        }
        Ok(())
    }
}
