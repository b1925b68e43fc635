//! What estimators, chosen by name, do with a model of classes.

use burn::backend::Autodiff;
use burn::module::{Module, ModuleVisitor, Param};
use burn::tensor::backend::AutodiffBackend;
use burn::tensor::{DType, Tensor};
use burn_flex::Flex;
use helmholtz_categorical_vae::CategoricalVae;
use helmholtz_estimators::{
    Batch, Declaration, Entry, EstimateError, LatentKind, Layered, Learned, Method,
};
use helmholtz_samplers::MemoryStore;

use crate::{data, small, stream, tensor};

type Ad = Autodiff<Flex>;

/// The parameters that a gradient reaches, and whether all of it is finite.
struct Reached(<Ad as AutodiffBackend>::Gradients, usize, bool);

impl ModuleVisitor<Ad> for Reached {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<Ad, D>>) {
        if let Some(gradient) = param.val().grad(&self.0) {
            let values: Vec<f64> = gradient.into_data().iter().collect();
            self.1 += usize::from(values.iter().any(|g| *g != 0.0));
            self.2 &= values.iter().all(|g| g.is_finite());
        }
    }
}

#[test]
fn every_method_for_classes_has_a_gradient_and_the_others_are_refused() {
    let config = small(false);
    let model: CategoricalVae<Ad> = config.init(2, DType::F64, &Default::default()).unwrap();
    let x = data(3, &config);
    let mut refused = Vec::new();
    for Entry { name, method, .. } in Method::CATALOGUE {
        let (needed, layers) = (method.controls(), model.layers());
        let (mean, device) = (|| vec![0.5; 6], Default::default());
        let mut learned = Learned::<Ad>::init(&needed, mean, &layers, 1, DType::F64, &device);
        let batch = Batch::<Ad, MemoryStore> {
            x: tensor(&x, DType::F64).into(),
            chains: None,
            particles: 3,
            epoch: 2,
            analytic_kl: false,
        };
        let (mut noise, mut chance) = (stream(3), stream(4));
        match method.estimate(&model, &mut learned, batch, &mut noise, &mut chance) {
            Ok(estimate) => {
                let mut reached = Reached(estimate.loss.backward(), 0, true);
                model.visit(&mut reached);
                // Weights and biases of three layers in each net.
                assert_eq!(reached.1, 12, "{name}");
                assert!(reached.2 && estimate.elbo.is_finite(), "{name}");
                if let Some(controls) = &learned.controls {
                    // An objective of their own, or the model's.
                    let mut reached = match estimate.controls {
                        Some(objective) => Reached(objective.backward(), 0, true),
                        None => Reached(reached.0, 0, true),
                    };
                    controls.visit(&mut reached);
                    assert!(reached.1 > 0 && reached.2, "{name}: what it learns");
                }
            }
            Err(EstimateError::NotDefined { model, .. }) => {
                assert_eq!(model.to_string(), "3 of 4 classes");
                refused.push(name);
            }
            Err(error) => panic!("{name}: {error}"),
        }
    }
    let others = Method::CATALOGUE
        .iter()
        .filter(|e| !e.method.domain().takes(LatentKind::Classes));
    assert_eq!(refused, others.map(|e| e.name).collect::<Vec<_>>());
    let is_refused = |name| refused.contains(&name);
    assert!(is_refused("arm") && is_refused("finite-2") && !is_refused("arsm"));
}
