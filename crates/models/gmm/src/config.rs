//! The mixture's prior, and the sizes of its proposals.

use burn::tensor::{DType, backend::Backend};
use helmholtz_apg::Statistics;
use helmholtz_nets::{Initialisation, Initialiser};
use serde::{Deserialize, Serialize};

use crate::Gmm;

/// A mixture of M normals in D dimensions with a normal-gamma prior, and proposals for it: what to build.
///
/// τ_md ~ Gamma(shape α, rate β), μ_md | τ_md ~ N(μ₀, 1 / (ν τ_md)), c_n uniform on M clusters, x_nd ~ N(μ_{c_n d}, 1 /
/// τ_{c_n d}).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct GmmConfig {
    /// M.
    pub clusters: usize,
    /// D.
    pub dimensions: usize,
    /// μ₀.
    pub mean: f64,
    /// ν, in units of a datum's precision.
    pub nu: f64,
    /// The shape α of the precisions.
    pub alpha: f64,
    /// The rate β of the precisions.
    pub beta: f64,
    /// Hidden units of the net for assignments.
    pub hidden: usize,
}

impl Default for GmmConfig {
    /// The mixture of Wu et al. (2020), section 6.1: M = 3, D = 2, μ₀ = 0, ν = 0.1, α = β = 2, 32 hidden units.
    fn default() -> Self {
        Self {
            clusters: 3,
            dimensions: 2,
            mean: 0.0,
            nu: 0.1,
            alpha: 2.0,
            beta: 2.0,
            hidden: 32,
        }
    }
}

/// A configuration that describes no mixture.
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
    /// A parameter of the prior that is not in its range.
    #[error("`{field}` is {given}; give a finite number{}", if *field == "mean" { "" } else { " above 0" })]
    Prior {
        /// The field at fault.
        field: &'static str,
        /// What was given.
        given: f64,
    },
}

impl GmmConfig {
    fn check(&self) -> Result<(), ConfigError> {
        for (field, given, least) in [
            ("clusters", self.clusters, 2),
            ("dimensions", self.dimensions, 1),
            ("hidden", self.hidden, 1),
        ] {
            if given < least {
                return Err(ConfigError::TooFew {
                    field,
                    given,
                    least,
                });
            }
        }
        for (field, given) in [("nu", self.nu), ("alpha", self.alpha), ("beta", self.beta)] {
            if !(given > 0.0 && given.is_finite()) {
                return Err(ConfigError::Prior { field, given });
            }
        }
        if !self.mean.is_finite() {
            let (field, given) = ("mean", self.mean);
            return Err(ConfigError::Prior { field, given });
        }
        Ok(())
    }

    /// The mixture with proposals drawn for this seed: the one-shot statistics, the conditional ones, the assignments' net.
    ///
    /// # Errors
    /// [`ConfigError`] if a size or a parameter of the prior is impossible.
    pub fn init<B: Backend>(
        &self,
        seed: u64,
        dtype: DType,
        device: &B::Device,
    ) -> Result<Gmm<B>, ConfigError> {
        self.check()?;
        let (m, d) = (self.clusters, self.dimensions);
        let fan_in = Initialisation::FanIn;
        let mut draw = Initialiser::new(seed, dtype, device);
        let mut statistics = |features| {
            let mut net = |outputs| draw.tanh_net(&[features, outputs], fan_in);
            Statistics::new(net(d), net(m))
        };
        Ok(Gmm {
            one_shot: statistics(d),
            conditional: statistics(d + m),
            affinity: [
                draw.linear(3 * d, self.hidden, fan_in),
                draw.linear(self.hidden, 1, fan_in),
            ],
            clusters: m,
            prior: [self.mean, self.nu, self.alpha, self.beta].to_vec(),
        })
    }
}
