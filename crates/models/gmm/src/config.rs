//! The mixture's prior, and the sizes of its proposals.

use burn::tensor::{DType, Tensor, TensorData, backend::Backend};
use helmholtz_apg::Statistics;
use helmholtz_nets::{Activation, Initialisation, Initialiser, Linear, Net};
use serde::{Deserialize, Serialize};

use crate::{Gmm, Rate};

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
    /// Which rate the conjugate update of the precisions has, in Gibbs' exact conditional, the proposals and the KL alike.
    #[serde(default)]
    pub rate: Rate,
    /// Hidden units of the net for assignments.
    pub hidden: usize,
    /// Whether each learned value t_d starts aligned with its coordinate: its weight on x_d is drawn given that it is positive.
    /// Drawn without that condition one in two starts negative, and the clusters that it proposes are mirrored. Training brings
    /// the conditional values to the right side, but by way of a constant value, and late.
    pub aligned: bool,
    /// Where the values start.
    #[serde(default, skip_serializing_if = "Start::is_drawn")]
    pub start: Start,
    /// How many values a coordinate has.
    #[serde(default, skip_serializing_if = "Values::are_shared")]
    pub values: Values,
}

/// Where the learned values t start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Start {
    /// At weights that are drawn, given what `aligned` says.
    #[default]
    Drawn,
    /// At t(x) = x, the exact statistic: no sign is left to chance, in any dimension.
    Identity,
}

impl Start {
    fn is_drawn(&self) -> bool {
        *self == Self::Drawn
    }
}

/// What the proposed means and precisions are made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Values {
    /// Of the same D values, as an exact conditional has it.
    #[default]
    Shared,
    /// Of D values each: an ablation, in which the means' sign moves no precision.
    Separate,
}

impl Values {
    fn are_shared(&self) -> bool {
        *self == Self::Shared
    }
}

impl Default for GmmConfig {
    /// The mixture of Wu et al. (2020), section 6.2: M = 3, D = 2, μ₀ = 0, ν = 0.1, α = β = 2, 32 hidden units; aligned starts.
    fn default() -> Self {
        Self {
            clusters: 3,
            dimensions: 2,
            mean: 0.0,
            nu: 0.1,
            alpha: 2.0,
            beta: 2.0,
            rate: Rate::Conjugate,
            hidden: 32,
            aligned: true,
            start: Start::Drawn,
            values: Values::Shared,
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
            let columns = match self.values {
                Values::Shared => d,
                Values::Separate => 2 * d,
            };
            let mut values = draw.linear(features, columns, fan_in);
            match self.start {
                Start::Identity => identify(&mut values, d),
                Start::Drawn if self.aligned => align(&mut values, d),
                Start::Drawn => {}
            }
            let weights = draw.net(&[features, m], Activation::Tanh, fan_in);
            Statistics::new(Net::new(vec![values], Activation::Tanh), weights)
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
            rate: self.rate,
        })
    }
}

/// Negates each value whose weight on its own coordinate is negative. Of weights that are drawn symmetrically about zero this gives
/// the law under the condition that all are positive.
fn align<B: Backend>(values: &mut Linear<B>, d: usize) {
    let [_, columns] = values.weight.dims();
    let entries: Vec<f64> = values.weight.val().into_data().iter().collect();
    let own = |value| entries[(value % d) * columns + value];
    let signs: Vec<f64> = (0..columns).map(|value| own(value).signum()).collect();
    let signs = |like: (&B::Device, DType)| Tensor::<B, 1>::from_data(signs.as_slice(), like);
    values.weight = values.weight.clone().map(|weight| {
        let signs = signs((&weight.device(), weight.dtype()));
        (weight * signs.unsqueeze()).detach().require_grad()
    });
    values.bias = values.bias.clone().map(|bias| {
        let signs = signs((&bias.device(), bias.dtype()));
        (bias * signs).detach().require_grad()
    });
}

/// Makes each value its own coordinate. There are D values, or twice D.
fn identify<B: Backend>(values: &mut Linear<B>, d: usize) {
    values.weight = values.weight.clone().map(|weight| {
        let [features, columns] = weight.dims();
        let entry = |i: usize| f64::from(u8::from(i / columns == i % d));
        let entries = (0..features * columns).map(entry).collect::<Vec<f64>>();
        let entries = TensorData::new(entries, [features, columns]);
        Tensor::from_data(entries, (&weight.device(), weight.dtype())).require_grad()
    });
    values.bias = values
        .bias
        .clone()
        .map(|bias| bias.zeros_like().require_grad());
}

#[cfg(test)]
mod tests {
    use burn::module::{Module, ModuleVisitor, Param};
    use burn_flex::Flex;
    use serde_json::Value::Null;

    use super::*;

    /// The layers of the values of both statistics: weights of two values, and their biases.
    struct Layers(Vec<Vec<f64>>);

    impl ModuleVisitor<Flex> for Layers {
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<Flex, D>>) {
            if param.dims().last() == Some(&2) {
                self.0.push(param.val().into_data().iter().collect());
            }
        }
    }

    fn layers(seed: u64, aligned: bool) -> Vec<Vec<f64>> {
        let config = GmmConfig {
            aligned,
            ..GmmConfig::default()
        };
        let model = config.init::<Flex>(seed, DType::F64, &Default::default());
        let mut layers = Layers(Vec::new());
        model.unwrap().visit(&mut layers);
        layers.0
    }

    #[test]
    fn values_that_start_as_coordinates_are_these_in_any_dimension() {
        for (dimensions, values) in [(1, Values::Shared), (5, Values::Separate)] {
            let config = GmmConfig {
                dimensions,
                values,
                start: Start::Identity,
                ..GmmConfig::default()
            };
            let model = config.init::<Flex>(3, DType::F64, &Default::default());
            let model = model.unwrap();
            assert_eq!(model.least_slopes(), [1.0, 1.0]);
            let x: Vec<f64> = (0..dimensions).map(|i| 0.5 + i as f64).collect();
            let x = Tensor::<Flex, 2>::from_data(
                TensorData::new(x.clone(), [1, dimensions]),
                (&Default::default(), DType::F64),
            );
            let found: Vec<f64> = model
                .one_shot
                .values()
                .forward(x.clone())
                .into_data()
                .iter()
                .collect();
            let expected: Vec<f64> = x.into_data().iter().collect();
            for half in found.chunks(dimensions) {
                assert_eq!(half, expected);
            }
        }
    }

    #[test]
    fn values_that_start_against_their_coordinate_are_turned_and_nothing_else_changes() {
        let mut turned = 0;
        for seed in 0..20 {
            let (free, aligned) = (layers(seed, false), layers(seed, true));
            assert_eq!(free.len(), 4);
            for (free, aligned) in free.chunks(2).zip(aligned.chunks(2)) {
                for value in 0..2 {
                    let sign = free[0][value * 2 + value].signum();
                    turned += u32::from(sign < 0.0);
                    for (free, aligned) in free.iter().zip(aligned) {
                        let of = |all: &[f64]| -> Vec<f64> {
                            all.iter().copied().skip(value).step_by(2).collect()
                        };
                        let expected: Vec<f64> = of(free).iter().map(|w| w * sign).collect();
                        assert_eq!(of(aligned), expected);
                    }
                    assert!(aligned[0][value * 2 + value] >= 0.0);
                }
            }
        }
        // Of 80 fair coins: outside with probability 1e-6.
        assert!((19..=61).contains(&turned), "{turned}");
    }

    #[test]
    fn the_least_slope_is_the_least_weight_of_a_value_on_its_own_coordinate() {
        let mut mirrored = 0;
        for seed in 0..20 {
            let layers = layers(seed, false);
            let least = |weights: &[f64]| weights[0].min(weights[3]);
            let expected = [least(&layers[0]), least(&layers[2])];
            let config = GmmConfig {
                aligned: false,
                ..GmmConfig::default()
            };
            let model = config.init::<Flex>(seed, DType::F64, &Default::default());
            assert_eq!(model.unwrap().least_slopes(), expected);
            mirrored += u32::from(expected[0] < 0.0);
        }
        assert!((1..20).contains(&mirrored), "{mirrored}");
    }

    #[test]
    fn settings_that_came_later_are_written_where_they_differ() {
        let written = |config: &GmmConfig| serde_json::to_value(config).unwrap();
        let config = GmmConfig::default();
        let plain = written(&config);
        assert_eq!((&plain["start"], &plain["values"]), (&Null, &Null));
        let config = GmmConfig {
            start: Start::Identity,
            values: Values::Separate,
            ..config
        };
        let other = written(&config);
        assert_eq!(other["start"], "identity");
        assert_eq!(other["values"], "separate");
        for (config, written) in [(config, other), (GmmConfig::default(), plain)] {
            assert_eq!(
                serde_json::from_value::<GmmConfig>(written).unwrap(),
                config
            );
        }
    }
}
