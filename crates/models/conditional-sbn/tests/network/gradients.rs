//! The gradient in f32, by way of the fused operations, is that in f64, by way of the plain ones.

use burn::backend::Autodiff;
use burn::module::{Module, ModuleVisitor, Param};
use burn::tensor::backend::AutodiffBackend;
use burn::tensor::{DType, Tensor};
use burn_flex::Flex;
use helmholtz_conditional_sbn::{ConditionalSbn, ConditionalSbnConfig};
use helmholtz_estimators::{Joint, Particles, Propose};

use crate::{bits, data, tensor};

type Ad = Autodiff<Flex>;

/// The gradient in each parameter.
struct Collect(<Ad as AutodiffBackend>::Gradients, Vec<Vec<f64>>);

impl ModuleVisitor<Ad> for Collect {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<Ad, D>>) {
        let gradient = param.val().grad(&self.0).expect("it reaches every one");
        self.1.push(gradient.into_data().iter().collect());
    }
}

/// ∇ Σ log p(t, h | c) + log q(h | c, t) over three particles of two data, in each parameter.
fn gradients(dtype: DType) -> Vec<Vec<f64>> {
    let config = ConditionalSbnConfig::table_3();
    let model: ConditionalSbn<Ad> = config.init(2, dtype, &Default::default()).unwrap();
    let x = || tensor::<Ad>(&data(2, &config), dtype);
    let h = Particles::new(vec![tensor(&bits(6, config.latent, 1), dtype)]);
    let log_q = model.log_q(&model.encode(x()), &h);
    let loss = (model.log_joint(x(), &h) + log_q).sum();
    let mut collect = Collect(loss.backward(), Vec::new());
    model.visit(&mut collect);
    collect.1
}

#[test]
fn both_precisions_have_one_gradient() {
    let pairs = gradients(DType::F32).into_iter().zip(gradients(DType::F64));
    for (index, (single, double)) in pairs.enumerate() {
        let largest = double.iter().fold(0.0f64, |m, g| m.max(g.abs()));
        let errors = single.iter().zip(&double).map(|(a, b)| (a - b).abs());
        let error = errors.fold(0.0, f64::max) / largest;
        assert!(largest > 1e-3 && error < 1e-4, "parameter {index}: {error}");
    }
}
