//! The tracker's densities by loops over pixels and one row at a time through its nets, for one particle of one sequence.

use burn::module::{Module, ModuleVisitor, Param};
use burn::tensor::{DType, Tensor, TensorData};
use burn_flex::Flex;
use helmholtz_tracker::{Alignment, Canvas, Sampling, Tracker, TrackerConfig};

pub type Position = [f64; 2];

/// Small enough for loops; wide enough that digits overlap and cross the border.
pub fn config(alignment: Alignment) -> TrackerConfig {
    TrackerConfig {
        canvas: Canvas {
            side: 9,
            digit: 4,
            alignment,
            sampling: Sampling::Nearest,
        },
        appearance: 3,
        position_hidden: [6, 5],
        digit_hidden: [8, 7],
        ..TrackerConfig::default()
    }
}

pub fn template() -> Vec<f32> {
    (0..16).map(|i| ((i * 7) % 5) as f32 / 5.0).collect()
}

pub fn model(config: &TrackerConfig) -> Tracker<Flex> {
    let device = Default::default();
    config
        .init(3, &template(), DType::F64, &device)
        .expect("a tracker")
}

/// A linear layer: rows of weights by input, and biases.
#[derive(Clone)]
struct Layer {
    weight: Vec<Vec<f64>>,
    bias: Vec<f64>,
}

/// Layers in the order in which the model was drawn: of the nets for positions, for appearances, of the decoder.
#[derive(Clone)]
pub struct ByHand {
    layers: Vec<Layer>,
    config: TrackerConfig,
}

impl ModuleVisitor<Flex> for ByHand {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<Flex, D>>) {
        let numbers: Vec<f64> = param.val().into_data().iter().collect();
        if D == 2 {
            let width = param.dims()[1];
            let weight = numbers.chunks(width).map(<[f64]>::to_vec).collect();
            let bias = vec![];
            self.layers.push(Layer { weight, bias });
        } else {
            self.layers.last_mut().expect("a weight").bias = numbers;
        }
    }
}

fn relu(values: Vec<f64>) -> Vec<f64> {
    values.into_iter().map(|x| x.max(0.0)).collect()
}

pub fn log_normal(x: f64, mean: f64, deviation: f64) -> f64 {
    let z = (x - mean) / deviation;
    -0.5 * z * z - deviation.ln() - 0.5 * (2.0 * std::f64::consts::PI).ln()
}

impl ByHand {
    pub fn new(model: &Tracker<Flex>, config: &TrackerConfig) -> Self {
        let mut own = Self {
            layers: vec![],
            config: config.clone(),
        };
        model.visit(&mut own);
        assert_eq!(own.layers.len(), 1 + 2 + 2 + 2 + 1 + 1 + 3);
        own
    }

    /// A parameter of layer `at` moved by `step`: the weights row by row, then the biases; none where there are no more.
    pub fn moved(&self, at: usize, parameter: usize, step: f64) -> Option<Self> {
        let mut moved = self.clone();
        let Layer { weight, bias } = &mut moved.layers[at];
        *weight.iter_mut().flatten().chain(bias).nth(parameter)? += step;
        Some(moved)
    }

    fn layer(&self, at: usize, inputs: &[f64]) -> Vec<f64> {
        let layer = &self.layers[at];
        let columns = 0..layer.bias.len();
        let output = columns.map(|o| {
            let products = inputs.iter().zip(&layer.weight).map(|(x, w)| x * w[o]);
            layer.bias[o] + products.sum::<f64>()
        });
        output.collect()
    }

    pub fn decode(&self, appearance: &[f64]) -> Vec<f64> {
        let hidden = relu(self.layer(9, appearance));
        let logits = self.layer(11, &relu(self.layer(10, &hidden)));
        logits.iter().map(|a| 1.0 / (1.0 + (-a).exp())).collect()
    }

    /// Mean and standard deviation of the coordinates of a position.
    fn position_law(&self, map: &[f64]) -> [Vec<f64>; 2] {
        let shared = relu(self.layer(0, map));
        let mean = self.layer(2, &relu(self.layer(1, &shared)));
        let log_deviation = self.layer(4, &relu(self.layer(3, &shared)));
        let mean = mean.into_iter().map(f64::tanh).collect();
        [mean, log_deviation.into_iter().map(f64::exp).collect()]
    }

    /// log q of positions in a frame, along themselves.
    pub fn log_where(&self, frame: &[f64], templates: &[Vec<f64>], positions: &[Position]) -> f64 {
        let Canvas { side, digit, .. } = self.config.canvas;
        let wide = side - digit + 1;
        let mut left = frame.to_vec();
        let mut sum = 0.0;
        for (template, z) in templates.iter().zip(positions) {
            let mut map: Vec<f64> = (0..wide * wide)
                .map(|at| {
                    let terms = (0..digit * digit).map(|i| {
                        let pixel = (at / wide + i / digit) * side + at % wide + i % digit;
                        template[i] * left[pixel]
                    });
                    terms.sum::<f64>().exp()
                })
                .collect();
            let total: f64 = map.iter().sum();
            map.iter_mut().for_each(|e| *e /= total);
            let [mean, deviation] = self.position_law(&map);
            for axis in 0..2 {
                sum += log_normal(z[axis], mean[axis], deviation[axis]);
            }
            for (pixel, own) in self.config.canvas.footprint(*z) {
                left[pixel] -= template[own];
            }
        }
        sum
    }

    /// log q(w_d | x, z) of each digit.
    pub fn log_what(
        &self,
        frames: &[Vec<f64>],
        paths: &[Vec<Position>],
        appearances: &[Vec<f64>],
    ) -> f64 {
        let digits = appearances.iter().enumerate().map(|(d, appearance)| {
            let mut together = vec![0.0; self.config.digit_hidden[1]];
            for (frame, positions) in frames.iter().zip(paths) {
                let window = self.config.canvas.window(positions[d]);
                let seen: Vec<f64> = window.map(|p| p.map_or(0.0, |p| frame[p])).collect();
                let features = relu(self.layer(6, &relu(self.layer(5, &seen))));
                let sum = together.iter_mut().zip(features);
                sum.for_each(|(t, f)| *t += f / frames.len() as f64);
            }
            let (mean, log_deviation) = (self.layer(7, &together), self.layer(8, &together));
            let terms = appearance.iter().zip(mean).zip(log_deviation);
            terms
                .map(|((&w, mean), log)| log_normal(w, mean, log.exp()))
                .sum::<f64>()
        });
        digits.sum()
    }

    /// log p(x, z, w): paths are positions `[T][D]`.
    pub fn log_joint(
        &self,
        frames: &[Vec<f64>],
        paths: &[Vec<Position>],
        appearances: &[Vec<f64>],
    ) -> f64 {
        let digits: Vec<Vec<f64>> = appearances.iter().map(|w| self.decode(w)).collect();
        let mut sum: f64 = appearances
            .iter()
            .flatten()
            .map(|&w| log_normal(w, 0.0, 1.0))
            .sum();
        for (t, (frame, positions)) in frames.iter().zip(paths).enumerate() {
            let mut mean = vec![0.0; frame.len()];
            for (d, (digit, z)) in digits.iter().zip(positions).enumerate() {
                for (pixel, own) in self.config.canvas.footprint(*z) {
                    mean[pixel] += digit[own];
                }
                for axis in 0..2 {
                    sum += match t {
                        0 => log_normal(z[axis], 0.0, self.config.start),
                        _ => log_normal(z[axis], paths[t - 1][d][axis], self.config.step),
                    };
                }
            }
            for (x, mean) in frame.iter().zip(mean) {
                let mean = mean.min(1.0);
                sum += x * (mean + 1e-9).ln() + (1.0 - x) * (1.0 - mean + 1e-9).ln();
            }
        }
        sum
    }
}

pub fn tensor<const D: usize>(values: Vec<f64>, shape: [usize; D]) -> Tensor<Flex, D> {
    let device = Default::default();
    Tensor::from_data(TensorData::new(values, shape), (&device, DType::F64))
}

pub fn read<const D: usize>(tensor: Tensor<Flex, D>) -> Vec<f64> {
    tensor.into_data().iter().collect()
}
