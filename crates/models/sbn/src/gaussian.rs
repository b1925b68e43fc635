//! One layer of bits under data of real numbers: a normal likelihood with a variance of its own for each of them.

use burn::module::{Module, Param};
use burn::tensor::{DType, Tensor, TensorData, activation, backend::Backend};
use helmholtz_distributions::{LogProb, Normal, SampleReal};
use helmholtz_estimators::{OneLayer, one_layer};
use helmholtz_nets::{Activation, Initialisation, Initialiser, Net};
use helmholtz_ops::Values;
use helmholtz_random::Stream;
use serde::{Deserialize, Serialize};

use crate::ConfigError;

/// Where s of each variance starts, as in the released code of RODEO (Shi et al. 2022).
const START: f32 = -0.5;
/// The least variance.
const LEAST: f64 = 1e-3;

/// What to build: data of `visible` real numbers, `latent` bits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct GaussianVaeConfig {
    /// Numbers of a datum.
    pub visible: usize,
    /// Bits of its latent layer.
    pub latent: usize,
    /// Units of the deterministic layers inside q and inside p; none makes both linear.
    pub hidden: Vec<usize>,
    /// The slope of the leaky rectifier after each deterministic layer; 0 for the rectifier.
    pub slope: f64,
}

/// p(h) = Bernoulli(½), p(x | h) = Π_d N(x_d; m_d(h), v_d), q(h | x) = Bernoulli(σ(a(x))). Here m and a are nets, and
/// v_d = max(softplus(s_d), 0.001) with learned s, the same for every datum (Titsias & Shi 2022; Shi et al. 2022, in their
/// released code).
#[derive(Module, Debug)]
pub struct GaussianVae<B: Backend> {
    encoder: Net<B>,
    decoder: Net<B>,
    /// s `[1, visible]`.
    scales: Param<Tensor<B, 2>>,
}

one_layer!(GaussianVae { generative: decoder, scales; inference: encoder });

impl GaussianVaeConfig {
    /// 784 numbers, 200 bits: without deterministic layers, or with two of 200 and a slope of 0.3.
    pub fn digits(nonlinear: bool) -> Self {
        Self {
            visible: 784,
            latent: 200,
            hidden: if nonlinear { vec![200, 200] } else { vec![] },
            slope: 0.3,
        }
    }

    /// That it describes a network.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn check(&self) -> Result<(), ConfigError> {
        let empty = |layer| Err(ConfigError::EmptyLayer { layer });
        match self {
            _ if self.visible == 0 => empty("visible"),
            _ if self.latent == 0 => empty("latent"),
            _ if self.hidden.contains(&0) => empty("hidden"),
            Self { slope, .. } if !(*slope >= 0.0 && slope.is_finite()) => {
                Err(ConfigError::Slope { slope: *slope })
            }
            _ => Ok(()),
        }
    }

    /// The model with parameters drawn for this seed: weights U(±√(6/(in + out))), biases 0, s = −0.5.
    ///
    /// # Errors
    /// If the configuration describes no network.
    pub fn init<B: Backend>(
        &self,
        seed: u64,
        dtype: DType,
        device: &B::Device,
    ) -> Result<GaussianVae<B>, ConfigError> {
        self.check()?;
        let mut draw = Initialiser::new(seed, dtype, device);
        let activation = Activation::LeakyRelu(self.slope);
        let mut net = |from: usize, to: usize| {
            let sizes = [&[from][..], &self.hidden, &[to]].concat();
            draw.net(&sizes, activation, Initialisation::Xavier { bias: 0.0 })
        };
        let encoder = net(self.visible, self.latent);
        let decoder = net(self.latent, self.visible);
        let start = TensorData::new(vec![START; self.visible], [1, self.visible]);
        Ok(GaussianVae {
            encoder,
            decoder,
            scales: draw.parameter(start),
        })
    }
}

impl<B: helmholtz_ops::Backend> GaussianVae<B> {
    /// p(x | h) for each row of latents `[rows, bits]`.
    pub fn observed(&self, h: impl Into<Values<B>>) -> Normal<B, 2> {
        let mean = self.decoder.of(h);
        let variance = activation::softplus(self.scales.val(), 1.0).clamp_min(LEAST);
        let deviation = variance.sqrt().expand(mean.dims());
        Normal { mean, deviation }
    }
}

impl<B: helmholtz_ops::Backend> OneLayer<B> for GaussianVae<B> {
    fn bits(&self) -> usize {
        self.decoder.layers()[0].weight.dims()[0]
    }

    fn posterior(&self, x: Values<B>) -> Tensor<B, 2> {
        self.encoder.of(x)
    }

    fn likelihood(&self, x: Values<B>, h: Values<B>) -> Tensor<B, 1> {
        let each = self.observed(h).log_prob(x.numbers());
        each.sum_dim(1).squeeze_dim(1)
    }

    fn sample(&self, h: Values<B>, draws: &mut Stream) -> Tensor<B, 2> {
        let normal = self.observed(h);
        let shape = normal.mean.dims();
        normal.sample(shape, draws)
    }
}

#[cfg(test)]
mod tests {
    use burn_flex::Flex;
    use helmholtz_estimators::{Joint, Particles};

    use super::*;

    fn numbers(tensor: Tensor<Flex, 2>) -> Vec<f64> {
        tensor.into_data().iter::<f64>().collect()
    }

    #[test]
    fn the_density_is_that_of_the_formula() {
        let config = GaussianVaeConfig {
            visible: 3,
            latent: 2,
            hidden: vec![4],
            slope: 0.3,
        };
        let device = Default::default();
        let model: GaussianVae<Flex> = config.init(5, DType::F64, &device).unwrap();
        let tensor = |row: &[f64]| {
            let data = TensorData::new(row.to_vec(), [1, row.len()]);
            Tensor::<Flex, 2>::from_data(data, (&device, DType::F64))
        };
        let (x, h) = ([0.2, 0.9, 0.5], tensor(&[1.0, 0.0]));
        let mean = numbers(model.observed(h.clone()).mean);
        let variance = (-0.5f64).exp().ln_1p();
        let each = x.iter().zip(&mean).map(|(x, m)| {
            -0.5 * ((x - m).powi(2) / variance + variance.ln() + std::f64::consts::TAU.ln())
        });
        let expected = each.sum::<f64>() - 2.0 * 2f64.ln();
        let found = model.log_joint(tensor(&x), &Particles::new(vec![h]));
        let found: f64 = found.into_data().iter::<f64>().sum();
        assert!((found - expected).abs() < 1e-12, "{found} {expected}");
    }

    #[test]
    fn what_describes_no_network_is_refused() {
        let digits = GaussianVaeConfig::digits(true);
        assert_eq!(digits.check(), Ok(()));
        for broken in [
            GaussianVaeConfig {
                latent: 0,
                ..digits.clone()
            },
            GaussianVaeConfig {
                hidden: vec![0],
                ..digits.clone()
            },
            GaussianVaeConfig {
                visible: 0,
                ..digits.clone()
            },
        ] {
            assert!(broken.check().is_err(), "{broken:?}");
        }
        for (slope, is_one) in [
            (0.0, true),
            (f64::NAN, false),
            (-0.1, false),
            (f64::INFINITY, false),
        ] {
            let with = GaussianVaeConfig {
                slope,
                ..digits.clone()
            };
            assert_eq!(with.check().is_ok(), is_one, "{slope}");
        }
    }
}
