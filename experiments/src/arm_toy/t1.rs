//! The variance of the gradient of the inference net on T1, the first model of the workspace's proofs: four visible bits,
//! three latents, linear factors and a learned prior, all parameters drawn from N(0, 1.5²).

use super::variance::mean_and_variance;
use super::{Estimator, T1Settings};
use crate::error::HarnessError;
use burn::module::{Module, ModuleMapper, ModuleVisitor, Param};
use burn::tensor::{DType, Tensor, TensorData, backend::Backend};
use helmholtz_ops::AutodiffBackend;
use helmholtz_random::{Draws, Purpose, Stream};
use helmholtz_sbn::{Initialisation, Sbn, SbnConfig};
use serde::{Deserialize, Serialize};

const PARAMETERS: Purpose = Purpose::new("proof");
const NOISE: Purpose = Purpose::new("toy-t1");
const VISIBLE: usize = 4;
const LATENT: usize = 3;
/// The datum.
const X: [f64; VISIBLE] = [1.0, 0.0, 1.0, 1.0];
/// Weights and biases of q, which the model visits first.
const PHI: usize = VISIBLE * LATENT + LATENT;

/// The variance of one estimator.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GradientVariance {
    /// Whose.
    pub estimator: Estimator,
    /// K.
    pub samples: usize,
    /// Summed over the parameters of q.
    pub variance: f64,
    /// Its standard error.
    pub standard_error: f64,
}

/// The model, in f64.
pub fn model<B: helmholtz_ops::Backend>(device: &B::Device) -> Sbn<B> {
    struct Redraw(Stream);
    impl<B: Backend> ModuleMapper<B> for Redraw {
        fn map_float<const D: usize>(&mut self, param: Param<Tensor<B, D>>) -> Param<Tensor<B, D>> {
            param.map(|tensor| {
                let count = tensor.shape().num_elements();
                let values: Vec<f64> = (0..count).map(|_| 1.5 * self.0.normal()).collect();
                let data = TensorData::new(values, tensor.shape());
                Tensor::from_data(data, (&tensor.device(), DType::F64)).require_grad()
            })
        }
    }
    let config = SbnConfig {
        visible: VISIBLE,
        latent: vec![LATENT],
        hidden: vec![],
        slope: 0.01,
        learned_prior: true,
        initialisation: Initialisation::FanIn,
    };
    let model = config.init(0, DType::F64, device).expect("a valid network");
    model.map(&mut Redraw(Stream::new(1, PARAMETERS, [0, 0])))
}

/// The gradient of `loss` in the parameters of q.
fn phi_gradient<B: AutodiffBackend>(loss: &Tensor<B, 1>, model: &Sbn<B>) -> Vec<f64> {
    struct Collect<B: AutodiffBackend>(B::Gradients, Vec<f64>);
    impl<B: AutodiffBackend> ModuleVisitor<B> for Collect<B> {
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<B, D>>) {
            if let Some(gradient) = param.val().grad(&self.0) {
                self.1.extend(gradient.into_data().iter::<f64>());
            }
        }
    }
    let mut collect = Collect::<B>(loss.backward(), vec![]);
    model.visit(&mut collect);
    collect.1.truncate(PHI);
    collect.1
}

/// The variances of all estimators, each with the same number of values of f.
///
/// # Errors
/// If `go_on` says no.
pub fn sample<B: AutodiffBackend>(
    settings: &T1Settings,
    seed: u64,
    device: &B::Device,
    go_on: &dyn Fn() -> Result<(), HarnessError>,
) -> Result<Vec<GradientVariance>, HarnessError> {
    let model = model::<B>(device);
    let x = TensorData::new(X.to_vec(), [1, VISIBLE]);
    let x = Tensor::<B, 2>::from_data(x, (device, DType::F64));
    let mut variances = Vec::new();
    for (index, &estimator) in settings.estimators.iter().enumerate() {
        let samples = estimator.samples(settings.values);
        let mut gradients = Vec::with_capacity(settings.replicates);
        for replicate in 0..settings.replicates as u64 {
            go_on()?;
            let mut noise = Stream::new(seed, NOISE, [index as u64, replicate]);
            let estimated = estimator.estimate(&model, x.clone(), samples, &mut noise);
            let loss = estimated.map_err(|e| HarnessError::Cell(Box::new(e)))?.loss;
            gradients.push(phi_gradient(&loss, &model));
        }
        let count = gradients.len() as f64;
        let mut mean = vec![0.0; PHI];
        for gradient in &gradients {
            mean.iter_mut()
                .zip(gradient)
                .for_each(|(m, g)| *m += g / count);
        }
        let square = |gradient: &Vec<f64>| -> f64 {
            gradient
                .iter()
                .zip(&mean)
                .map(|(g, m)| (g - m).powi(2))
                .sum()
        };
        let squares: Vec<f64> = gradients.iter().map(square).collect();
        let (variance, spread) = mean_and_variance(&squares);
        variances.push(GradientVariance {
            estimator,
            samples,
            variance: variance * count / (count - 1.0),
            standard_error: (spread / count).sqrt(),
        });
    }
    Ok(variances)
}
