//! The model's constants, and the sizes of its nets.

use burn::tensor::{DType, TensorData, backend::Backend};
use helmholtz_apg::Statistics;
use helmholtz_nets::{Activation, Initialisation, Initialiser};
use serde::{Deserialize, Serialize};

use crate::Dmm;
use crate::centres::Centres;

/// A mixture of M rings in the plane whose common shape is learned, and proposals for its latents: what to build.
///
/// μ_m ~ N(0, s² I), c_n uniform on M clusters, h_n ~ Beta(1, 1), x_n ~ N(g_θ(h_n) + μ_{c_n}, σ² I). Here g_θ(h) = R u / ‖u‖,
/// with u the outputs of a net at 2π h (Wu et al. 2020, section 6.3). The direction of unit length and the learned radius R are
/// their released code's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct DmmConfig {
    /// M.
    pub clusters: usize,
    /// s, the prior standard deviation of a centre's coordinates.
    pub spread: f64,
    /// σ, the standard deviation of the likelihood. The data's own is [`Rings::noise`](crate::Rings::noise).
    pub noise: f64,
    /// Hidden units of each net.
    pub hidden: usize,
    /// Statistics of a cluster, from which its centre is proposed.
    pub statistics: usize,
    /// Whether the centres' proposal given (c, h) reads h, as their exact conditional does; the released code gives it h, which is
    /// left unused.
    pub reads_angles: bool,
}

impl Default for DmmConfig {
    /// [`released`](Self::released).
    fn default() -> Self {
        Self::released()
    }
}

impl DmmConfig {
    /// What the released code trains: M = 4, s = 10, σ = 0.5, nets of 32 hidden units, 8 statistics; but h is read.
    pub const fn released() -> Self {
        Self {
            clusters: 4,
            spread: 10.0,
            noise: 0.5,
            hidden: 32,
            statistics: 8,
            reads_angles: true,
        }
    }

    /// The same with σ = 0.1, the data's own noise: probably the paper's, whose text at hand has lost it.
    pub const fn paper() -> Self {
        Self {
            noise: 0.1,
            ..Self::released()
        }
    }

    fn check(&self) -> Result<(), ConfigError> {
        for (field, given, least) in [
            ("clusters", self.clusters, 2),
            ("hidden", self.hidden, 1),
            ("statistics", self.statistics, 1),
        ] {
            if given < least {
                return Err(ConfigError::TooFew {
                    field,
                    given,
                    least,
                });
            }
        }
        for (field, given) in [("spread", self.spread), ("noise", self.noise)] {
            if !(given > 0.0 && given.is_finite()) {
                return Err(ConfigError::Deviation { field, given });
            }
        }
        Ok(())
    }

    /// The model with a decoder of radius 1 and proposals drawn for this seed. The order is: those for the centres in one shot
    /// and given (c, h), that for c, that for h, the decoder.
    ///
    /// # Errors
    /// [`ConfigError`] if a size or a standard deviation is impossible.
    pub fn init<B: Backend>(
        &self,
        seed: u64,
        dtype: DType,
        device: &B::Device,
    ) -> Result<Dmm<B>, ConfigError> {
        self.check()?;
        let (m, width, s) = (self.clusters, self.hidden, self.statistics);
        let (fan_in, tanh) = (Initialisation::FanIn, Activation::Tanh);
        let mut draw = Initialiser::new(seed, dtype, device);
        let mut centres = |features: usize| {
            let mut net = |inputs, outputs| draw.net(&[inputs, width, outputs], tanh, fan_in);
            let statistics = Statistics::new(net(features, s), net(features, m));
            Centres::new(statistics, [net(s + 4, 2), net(s + 4, 2)], self.spread)
        };
        let (one_shot, conditional) = (centres(2), centres(2 + m + usize::from(self.reads_angles)));
        Ok(Dmm {
            one_shot,
            conditional,
            affinity: draw.net(&[2, width, 1], Activation::LeakyRelu(0.0), fan_in),
            angle: [
                draw.net(&[2, width, 1], tanh, fan_in),
                draw.net(&[2, width, 1], tanh, fan_in),
            ],
            decoder: draw.net(&[1, width, 2], tanh, fan_in),
            radius: draw.parameter(TensorData::new(vec![1.0f64], [1])),
            clusters: m,
            spread: self.spread,
            noise: self.noise,
            reads_angles: self.reads_angles,
        })
    }
}

/// A configuration that describes no model.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ConfigError {
    /// Too few of something.
    #[error("`{field}` is {given}; give at least {least}")]
    TooFew {
        /// The field at fault.
        field: &'static str,
        /// What was given.
        given: usize,
        /// The least number.
        least: usize,
    },
    /// A standard deviation that is none.
    #[error("`{field}` is {given}; a standard deviation is a positive number")]
    Deviation {
        /// The field at fault.
        field: &'static str,
        /// What was given.
        given: f64,
    },
    /// Data that do not fill the rings evenly.
    #[error("{points} data on {clusters} rings; give a multiple of {}, at least {}", 2 * clusters, 4 * clusters)]
    Points {
        /// What was given.
        points: usize,
        /// M.
        clusters: usize,
    },
}
