//! What estimators, chosen by name, do with a conditional model.

use burn::backend::Autodiff;
use burn::module::{Module, ModuleVisitor, Param};
use burn::tensor::backend::AutodiffBackend;
use burn::tensor::{DType, Tensor};
use burn_flex::Flex;
use helmholtz_conditional_sbn::ConditionalSbn;
use helmholtz_estimators::{Batch, Entry, LatentKind, Layered, Learned, Method};
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
fn every_method_has_a_finite_gradient_in_the_parameters_that_it_trains() {
    let config = small();
    let model: ConditionalSbn<Ad> = config.init(2, DType::F64, &Default::default()).unwrap();
    let x = data(3, &config);
    for Entry { name, method, .. } in Method::CATALOGUE.of(LatentKind::Bits) {
        let (needed, layers) = (method.controls(), model.layers());
        let (mean, device) = (|| vec![0.5; 9], Default::default());
        let mut learned = Learned::<Ad>::init(&needed, mean, &layers, 1, DType::F64, &device);
        let batch = Batch::<Ad, MemoryStore> {
            x: tensor(&x, DType::F64).into(),
            chains: None,
            particles: 3,
            epoch: 2,
            analytic_kl: false,
        };
        let (mut noise, mut chance) = (stream(3), stream(4));
        let estimate = method.estimate(&model, &mut learned, batch, &mut noise, &mut chance);
        let estimate = estimate.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(estimate.elbo.is_finite(), "{name}");
        let mut reached = Reached(estimate.loss.backward(), 0, true);
        model.visit(&mut reached);
        // Weights and biases of three layers in each of three nets.
        assert!(reached.1 == 18 && reached.2, "{name}: {}", reached.1);
    }
}
