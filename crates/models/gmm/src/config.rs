//! The mixture's prior, and the sizes of its proposals.

use burn::module::Param;
use burn::tensor::{DType, Tensor, backend::Backend};
use helmholtz_apg::Statistics;
use helmholtz_nets::{Initialisation, Initialiser, TanhNet};
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
    /// Whether the learned values t(x) may start as a reflection of the data, as a start drawn without a condition does for
    /// every second seed. Such a start is not unlearned: on its way to the identity the map from x to t would have to become
    /// singular, where the proposed precisions are without bound. Without reflections the start is drawn given that the
    /// map's determinant is positive.
    pub reflections: bool,
}

impl Default for GmmConfig {
    /// The mixture of Wu et al. (2020), section 6.1: M = 3, D = 2, μ₀ = 0, ν = 0.1, α = β = 2, 32 hidden units; no reflections.
    fn default() -> Self {
        Self {
            clusters: 3,
            dimensions: 2,
            mean: 0.0,
            nu: 0.1,
            alpha: 2.0,
            beta: 2.0,
            hidden: 32,
            reflections: false,
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
            let mut values = draw.linear(features, d, fan_in);
            if !self.reflections {
                orient(&mut values.weight);
            }
            let weights = draw.tanh_net(&[features, m], fan_in);
            Statistics::new(TanhNet::new(vec![values]), weights)
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

/// Negates the row of the first feature if the map from the first D features, x, to the D values is a reflection. Of entries
/// that are drawn symmetrically about zero this gives the law under the condition of a positive determinant.
fn orient<B: Backend>(weight: &mut Param<Tensor<B, 2>>) {
    let [features, d] = weight.dims();
    let entries: Vec<f64> = weight.val().into_data().iter().collect();
    let square = entries[..d * d].chunks(d).map(<[f64]>::to_vec).collect();
    if determinant(square) < 0.0 {
        *weight = weight.clone().map(|weight| {
            let (first, rest) = (0..1, 1..features);
            let first = weight.clone().slice([first]).neg();
            let rows = Tensor::cat(vec![first, weight.slice([rest])], 0);
            rows.detach().require_grad()
        });
    }
}

/// By elimination.
fn determinant(mut rows: Vec<Vec<f64>>) -> f64 {
    let mut product = 1.0;
    for at in 0..rows.len() {
        let largest = |&i: &usize, &j: &usize| rows[i][at].abs().total_cmp(&rows[j][at].abs());
        let Some(pivot) = (at..rows.len()).max_by(largest) else {
            break;
        };
        if pivot != at {
            rows.swap(at, pivot);
            product = -product;
        }
        let row = rows[at].clone();
        product *= row[at];
        for below in &mut rows[at + 1..] {
            let factor = if row[at] == 0.0 {
                0.0
            } else {
                below[at] / row[at]
            };
            below
                .iter_mut()
                .zip(&row)
                .for_each(|(b, a)| *b -= factor * a);
        }
    }
    product
}

#[cfg(test)]
mod tests {
    use burn::module::{Module, ModuleVisitor};
    use burn_flex::Flex;

    use super::*;

    /// The x-to-t maps of both statistics: those of two and of five features, and two values.
    struct Maps(Vec<Vec<f64>>);

    impl ModuleVisitor<Flex> for Maps {
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<Flex, D>>) {
            if param.dims().last() == Some(&2) && D == 2 {
                self.0.push(param.val().into_data().iter().collect());
            }
        }
    }

    fn maps(seed: u64, reflections: bool) -> Vec<Vec<f64>> {
        let config = GmmConfig {
            reflections,
            ..GmmConfig::default()
        };
        let model = config.init::<Flex>(seed, DType::F64, &Default::default());
        let mut maps = Maps(Vec::new());
        model.unwrap().visit(&mut maps);
        maps.0
    }

    #[test]
    fn a_reflection_is_turned_and_nothing_else_changes() {
        let (mut turned, mut kept) = (0, 0);
        for seed in 0..20 {
            for (free, oriented) in maps(seed, true).into_iter().zip(maps(seed, false)) {
                let positive = free[0] * free[3] > free[1] * free[2];
                if positive {
                    kept += 1;
                    assert_eq!(oriented, free);
                } else {
                    turned += 1;
                    assert_eq!(oriented[..2], [-free[0], -free[1]]);
                    assert_eq!(oriented[2..], free[2..]);
                }
            }
        }
        // Of 40 fair coins: outside with probability 2e-6.
        assert!(
            turned + kept == 40 && (6..=34).contains(&turned),
            "{turned}"
        );
    }

    #[test]
    fn determinants() {
        assert_eq!(determinant(vec![vec![0.0, 2.0], vec![3.0, 5.0]]), -6.0);
        let rows = [[2.0, 1.0, 0.0], [4.0, 1.0, 3.0], [0.0, 5.0, 1.0]];
        let expected = 2.0 * (1.0 - 15.0) - (4.0 - 0.0);
        assert!((determinant(rows.map(Vec::from).to_vec()) - expected).abs() < 1e-12);
        assert_eq!(determinant(vec![vec![1.0, 2.0], vec![2.0, 4.0]]), 0.0);
    }
}
