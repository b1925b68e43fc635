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
    /// The slope of the leaky rectifier after each deterministic layer; 0 for the rectifier.
    pub slope: f64,
    /// Whether tanh is after each deterministic layer, in place of the leaky rectifier.
    #[serde(default)]
    pub tanh: bool,
    /// Whether the logits of p(h^L) are learned (from [`Initialisation::prior`]); else they are fixed at 0, the uniform prior.
    pub learned_prior: bool,
    /// Whether the values v of x and of each layer enter the nets conditioned on them as 2v − 1.
    #[serde(default)]
    pub signed: bool,
    /// Whether x enters q less the means of its components over the training data, and the biases of p(x | h¹) start at the logits
    /// of these means, which [`Sbn::for_means`](crate::Sbn::for_means) takes. The released code of REBAR (Tucker et al. 2017) is so;
    /// it adds the latter as a constant, which starts and learns the same.
    #[serde(default)]
    pub centred: bool,
    /// How weights and biases start.
    pub initialisation: Initialisation,
}

/// A sigmoid belief network with one categorical variable on top: what to build.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct MixedSbnConfig {
    /// The layers below, and how everything starts; its prior is that of the top variable.
    pub bits: SbnConfig,
    /// Classes C of the top variable.
    pub classes: usize,
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
    /// A top variable without a choice.
    #[error("`classes` is {classes}; a categorical variable has at least 2")]
    Classes {
        /// What was given.
        classes: usize,
    },
    /// A slope that is negative or not finite.
    #[error("`slope` is {slope}; the leaky rectifier needs one that is not negative, and finite")]
    Slope {
        /// What was given.
        slope: f64,
    },
    /// A name that no net has.
    #[error("there is no net `{name}`; choose one of {}", choices.join(", "))]
    UnknownName {
        /// What was given.
        name: String,
        /// The names that there are.
        choices: &'static [&'static str],
    },
}

impl SbnConfig {
    /// The nets of table 1 of Ou & Song (2020), and the Helmholtz machines of bits alone.
    pub const NAMES: [&str; 6] = [
        "linear",
        "nonlinear",
        "two-layers",
        "sbn-200",
        "sbn-200-200",
        "sbn-200-200-200",
    ];

    /// One of the nets of table 1, as the released code builds it: 784 pixels, 200 bits a stochastic layer, uniform fixed
    /// prior. `linear` and `two-layers` have linear factors, Xavier weights and all biases −1; `nonlinear` has two
    /// leaky-rectified (0.01) layers of 200 in each factor and fan-in initialisation.
    ///
    /// Or one of the Helmholtz machines of the joint stochastic approximation poster (after Xu & Ou 2016), which are
    /// named by their layers of bits. They have linear factors, a learned prior, and the start of the reweighted
    /// wake-sleep code, biases and prior logits −1.
    ///
    /// # Errors
    /// If no net has this name.
    pub fn named(name: &str) -> Result<Self, ConfigError> {
        let linear = Self {
            visible: 784,
            latent: vec![200],
            hidden: vec![],
            slope: 0.01,
            tanh: false,
            learned_prior: false,
            signed: false,
            centred: false,
            initialisation: Initialisation::Xavier { bias: -1.0 },
        };
        let machine = |layers| Self {
            latent: vec![200; layers],
            learned_prior: true,
            initialisation: Initialisation::XavierOverFanIn { bias: -1.0 },
            ..linear.clone()
        };
        match name {
            "sbn-200" => Ok(machine(1)),
            "sbn-200-200" => Ok(machine(2)),
            "sbn-200-200-200" => Ok(machine(3)),
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
            _ => Err(ConfigError::UnknownName {
                name: name.into(),
                choices: &Self::NAMES,
            }),
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
        if self.latent.is_empty() {
            return Err(ConfigError::NoLatents);
        }
        if self.latent.contains(&0) {
            return empty("latent");
        }
        if self.hidden.contains(&0) {
            return empty("hidden");
        }
        if !(self.slope >= 0.0 && self.slope.is_finite()) {
            return Err(ConfigError::Slope { slope: self.slope });
        }
        Ok(())
    }
}

impl MixedSbnConfig {
    /// The Helmholtz machines with a categorical variable on top.
    pub const NAMES: [&str; 3] = ["sbn-200-10c", "sbn-200-200-10c", "sbn-200-200-200-10c"];

    /// One of the Helmholtz machines of the joint stochastic approximation poster whose top layer is one variable of 10
    /// classes, as its column titles "10(C)" are read here. The rest is as in [`SbnConfig::named`].
    ///
    /// # Errors
    /// If no net has this name.
    pub fn named(name: &str) -> Result<Self, ConfigError> {
        let unknown = || ConfigError::UnknownName {
            name: name.into(),
            choices: &Self::NAMES,
        };
        let known = Self::NAMES.contains(&name);
        let bits = name
            .strip_suffix("-10c")
            .filter(|_| known)
            .ok_or_else(unknown)?;
        Ok(Self {
            bits: SbnConfig::named(bits)?,
            classes: 10,
        })
    }

    /// That it describes a network.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn check(&self) -> Result<(), ConfigError> {
        if self.classes < 2 {
            return Err(ConfigError::Classes {
                classes: self.classes,
            });
        }
        self.bits.check()
    }
}
