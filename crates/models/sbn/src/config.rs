//! The sizes and the initialisation of a sigmoid belief network.

use helmholtz_nets::Initialisation;
use serde::{Deserialize, Serialize};

/// A sigmoid belief network: what to build.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct SbnConfig {
    /// Bits of a datum.
    pub visible: usize,
    /// Bits of each stochastic layer, nearest the data first.
    pub latent: Vec<usize>,
    /// Units of the deterministic layers inside each factor, of p and of q; none makes every factor linear.
    pub hidden: Vec<usize>,
    /// The slope of the leaky rectifier after each deterministic layer.
    pub slope: f64,
    /// Whether the logits of p(h^L) are learned (from 0); else they are fixed at 0, the uniform prior.
    pub learned_prior: bool,
    /// How weights and biases start.
    pub initialisation: Initialisation,
}

/// A configuration that describes no network.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ConfigError {
    /// A layer without units.
    #[error("`{layer}` has a layer of 0 units; give every layer at least one")]
    EmptyLayer {
        /// The field at fault.
        layer: &'static str,
    },
    /// No stochastic layer.
    #[error("`latent` is empty; give at least one stochastic layer")]
    NoLatents,
    /// A slope that is not positive.
    #[error("`slope` is {slope}; the leaky rectifier needs a positive, finite one")]
    Slope {
        /// What was given.
        slope: f64,
    },
    /// A name that no net has.
    #[error("there is no net `{name}`; choose one of {}", SbnConfig::NAMES.join(", "))]
    UnknownName {
        /// What was given.
        name: String,
    },
}

impl SbnConfig {
    /// The nets of table 1 of Ou & Song (2020).
    pub const NAMES: [&str; 3] = ["linear", "nonlinear", "two-layers"];

    /// One of the nets of table 1, as the released code builds it: 784 pixels, 200 bits a stochastic layer, uniform fixed
    /// prior. `linear` and `two-layers` have linear factors, Xavier weights and all biases −1; `nonlinear` has two
    /// leaky-rectified (0.01) layers of 200 in each factor and fan-in initialisation.
    ///
    /// # Errors
    /// If no net has this name.
    pub fn named(name: &str) -> Result<Self, ConfigError> {
        let linear = Self {
            visible: 784,
            latent: vec![200],
            hidden: vec![],
            slope: 0.01,
            learned_prior: false,
            initialisation: Initialisation::Xavier { bias: -1.0 },
        };
        match name {
            "linear" => Ok(linear),
            "nonlinear" => Ok(Self {
                hidden: vec![200, 200],
                initialisation: Initialisation::FanIn,
                ..linear
            }),
            "two-layers" => Ok(Self {
                latent: vec![200, 200],
                ..linear
            }),
            _ => Err(ConfigError::UnknownName { name: name.into() }),
        }
    }

    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        let empty = |layer| Err(ConfigError::EmptyLayer { layer });
        if self.visible == 0 {
            return empty("visible");
        }
        if self.latent.is_empty() {
            return Err(ConfigError::NoLatents);
        }
        if self.latent.contains(&0) {
            return empty("latent");
        }
        if self.hidden.contains(&0) {
            return empty("hidden");
        }
        if !(self.slope > 0.0 && self.slope.is_finite()) {
            return Err(ConfigError::Slope { slope: self.slope });
        }
        Ok(())
    }
}
