//! Instances of rings.

use std::f64::consts::TAU;

use burn::tensor::{DType, Tensor, TensorData, backend::Backend};
use helmholtz_random::{Draws, Purpose, Stream};
use serde::{Deserialize, Serialize};

use crate::{ConfigError, DmmState};

const DATA: Purpose = Purpose::new("dmm-data");

/// How the data are made: centres from a narrower law than the model's prior, rings that are exactly round, as many data on
/// each, evenly spaced (the released code's simulation).
///
/// A ring's data make two passes of N / 2M angles, which cover \[0, 2π\] with both ends; each pass is turned by its own
/// U(0, spacing). The order of an instance's data is shuffled.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Rings {
    /// M.
    pub clusters: usize,
    /// The standard deviation of a centre's coordinates.
    pub spread: f64,
    /// The rings' radius.
    pub radius: f64,
    /// The standard deviation of a datum's coordinates around its place on the ring.
    pub noise: f64,
}

impl Default for Rings {
    /// Four rings of radius 2 with noise 0.1 and centres N(0, 3²).
    fn default() -> Self {
        Self {
            clusters: 4,
            spread: 3.0,
            radius: 2.0,
            noise: 0.1,
        }
    }
}

/// Data with what they were made of.
#[derive(Clone, Debug)]
pub struct Simulated<B: Backend> {
    /// x `[B, N, 2]`.
    pub x: Tensor<B, 3>,
    /// The true centres, rings and parts of a turn, as one particle. A learned decoder may start a turn elsewhere.
    pub truth: DmmState<B>,
}

/// Passes that a ring's data make around it.
const PASSES: usize = 2;

impl Rings {
    /// The instances of a corpus with these numbers, `points` data each.
    ///
    /// An instance is named by (seed, number): a corpus is a range of numbers, and is never stored.
    ///
    /// # Errors
    /// [`ConfigError::Points`] unless every pass has the same number of data, at least two.
    pub fn simulate<B: Backend>(
        &self,
        seed: u64,
        instances: &[u64],
        points: usize,
        dtype: DType,
        device: &B::Device,
    ) -> Result<Simulated<B>, ConfigError> {
        let m = self.clusters;
        let angles = points / (PASSES * m).max(1);
        if angles < 2 || angles * PASSES * m != points {
            return Err(ConfigError::Points {
                points,
                clusters: m,
            });
        }
        let [mut x, mut mean, mut assignment, mut angle] = [const { Vec::<f64>::new() }; 4];
        for &number in instances {
            let mut stream = Stream::new(seed, DATA, [number, 0]);
            let mut instance = Vec::with_capacity(points);
            for cluster in 0..m {
                let centre = [0; 2].map(|_| self.spread * stream.normal());
                mean.extend(centre);
                for _ in 0..PASSES {
                    let spacing = 1.0 / (angles - 1) as f64;
                    let shift = spacing * stream.uniform_f64();
                    for k in 0..angles {
                        let turn = shift + spacing * k as f64;
                        let (sin, cos) = (TAU * turn).sin_cos();
                        let mut near = |centre: f64, part: f64| {
                            centre + self.radius * part + self.noise * stream.normal()
                        };
                        let datum = [near(centre[0], cos), near(centre[1], sin)];
                        instance.push((datum, cluster, turn.fract()));
                    }
                }
            }
            for place in stream.permutation(points as u32) {
                let (datum, cluster, turn) = instance[place as usize];
                x.extend(datum);
                assignment.extend((0..m).map(|c| f64::from(u8::from(c == cluster))));
                angle.push(turn);
            }
        }
        let count = instances.len();
        let tensor = |values, rows, columns| {
            let data = TensorData::new::<f64, _>(values, [1, count, rows, columns]);
            Tensor::<B, 4>::from_data(data, (device, dtype))
        };
        Ok(Simulated {
            x: tensor(x, points, 2).squeeze_dim(0),
            truth: DmmState {
                mean: tensor(mean, m, 2),
                assignment: tensor(assignment, points, m),
                angle: tensor(angle, points, 1),
            },
        })
    }
}
