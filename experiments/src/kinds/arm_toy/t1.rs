//! The variance of the gradient of the inference net on T1, the first model of the workspace's proofs. It has four visible bits,
//! three latents, linear factors and a learned prior, all parameters drawn from N(0, 1.5²).

use super::{Estimator, T1Settings};
use crate::error::HarnessError;
use crate::framework::failed;
use burn::module::{Module, ModuleMapper, Param};
use burn::tensor::{DType, Tensor, TensorData, backend::Backend};
use helmholtz_estimators::{Batch, Learned};
use helmholtz_evaluation::{Replication, Variance, method_variance};
use helmholtz_ops::AutodiffBackend;
use helmholtz_random::{Draws, Purpose, Stream};
use helmholtz_samplers::ChainStore;
use helmholtz_sbn::{Initialisation, Sbn, SbnConfig};
use serde::{Deserialize, Serialize};

const PARAMETERS: Purpose = Purpose::new("proof");
/// The datum.
const X: [f64; 4] = [1.0, 0.0, 1.0, 1.0];

/// The variance of one estimator.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GradientVariance {
    /// Whose.
    pub estimator: Estimator,
    /// K.
    pub samples: usize,
    /// Variance of the gradient in the parameters of q.
    pub phi: Variance,
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
        visible: X.len(),
        latent: vec![3],
        hidden: vec![],
        slope: 0.01,
        learned_prior: true,
        signed: false,
        tanh: false,
        centred: false,
        initialisation: Initialisation::FanIn,
    };
    let model = config.init(0, DType::F64, device).expect("a valid network");
    model.map(&mut Redraw(Stream::new(1, PARAMETERS, [0, 0])))
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
    let x = TensorData::new(X.to_vec(), [1, X.len()]);
    let x = Tensor::<B, 2>::from_data(x, (device, DType::F64));
    let replication = Replication {
        replicates: settings.replicates,
        seed,
    };
    let nothing = Learned {
        controls: None,
        moments: vec![],
    };
    let of = |&estimator: &Estimator| {
        let samples = estimator.samples(settings.values).expect("settings fit");
        let batch = Batch::<B, dyn ChainStore> {
            x: x.clone().into(),
            chains: None,
            particles: samples,
            epoch: 0,
            analytic_kl: false,
        };
        let method = &estimator.entry().method;
        let mut progress = |_| go_on().is_ok();
        let measured =
            method_variance(method, &model, &nothing, batch, &replication, &mut progress);
        go_on()?;
        Ok(GradientVariance {
            estimator,
            samples,
            phi: measured.map_err(failed)?.expect("two replicates").phi,
        })
    };
    settings.estimators.iter().map(of).collect()
}
