//! A network that has taken the means of the data, against one of the same parameters that has not.

use burn::backend::Autodiff;
use burn::module::{Module, ModuleVisitor, Param};
use burn::tensor::backend::Backend;
use burn::tensor::{DType, Tensor};
use burn_flex::Flex;
use helmholtz_estimators::{Particles, Propose};
use helmholtz_sbn::{Initialisation, Sbn, SbnConfig};

use crate::parameters;

const MEANS: [f32; 4] = [0.0, 0.25, 0.5, 1.0];

fn config(centred: bool) -> SbnConfig {
    SbnConfig {
        visible: 4,
        latent: vec![3, 2],
        hidden: vec![5],
        slope: 0.0,
        tanh: true,
        learned_prior: true,
        signed: true,
        centred,
        initialisation: Initialisation::FanIn,
    }
}

fn model<B: helmholtz_ops::Backend>(centred: bool) -> Sbn<B> {
    let model = config(centred).init(3, DType::F64, &Default::default());
    model.unwrap().for_means(|| MEANS.to_vec())
}

fn rows<const D: usize>(rows: [[f64; D]; 2]) -> Tensor<Flex, 2> {
    Tensor::from_data(rows, (&Default::default(), DType::F64))
}

fn numbers<const D: usize>(tensor: Tensor<Flex, D>) -> Vec<f64> {
    tensor.into_data().iter::<f64>().collect()
}

fn latents() -> Particles<Flex> {
    Particles::new(vec![
        rows([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]]),
        rows([[0.0, 1.0], [1.0, 1.0]]),
    ])
}

#[test]
fn x_enters_q_less_the_means_and_bits_as_plus_and_minus_one() {
    let (plain, centred) = (model::<Flex>(false), model::<Flex>(true));
    let x = [[1.0, 0.0, 0.0, 1.0], [0.0, 1.0, 1.0, 0.0]];
    // 2v - 1 is x - m where v is half of x - m + 1.
    let v = x.map(|x| std::array::from_fn(|i| (x[i] - f64::from(MEANS[i]) + 1.0) / 2.0));
    let log_q = |model: &Sbn<Flex>, x: [[f64; 4]; 2]| {
        numbers(model.log_q(&model.encode(rows(x)), &latents()))
    };
    let close = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12);
    assert!(close(&log_q(&centred, x), &log_q(&plain, v)));
    // x as it is gives something else.
    assert!(!close(&log_q(&centred, x), &log_q(&plain, x)));
}

#[test]
fn output_biases_start_at_the_logits_of_the_means_and_nothing_else_is_moved() {
    let (plain, centred) = (model::<Flex>(false), model::<Flex>(true));
    let logit = |p: f64| (p / (1.0 - p)).ln();
    let expected = [0.001, 0.25, 0.5, 0.999].map(logit);
    let (plain, mut centred) = (parameters(&plain), parameters(&centred));
    let means = centred.pop().unwrap();
    assert_eq!(means.values, MEANS.map(f64::from));
    assert_eq!(plain.len(), centred.len());
    let moved: Vec<_> = plain
        .iter()
        .zip(&centred)
        .filter(|(plain, centred)| plain.values != centred.values)
        .collect();
    let [(_, biases)] = moved[..] else {
        panic!("{} parameters", moved.len())
    };
    let errors = biases.values.iter().zip(expected);
    assert!(biases.values.len() == 4 && errors.into_iter().all(|(a, b)| (a - b).abs() < 1e-12));
}

#[test]
fn without_the_setting_the_means_are_not_asked_for() {
    let model = config(false).init::<Flex>(3, DType::F64, &Default::default());
    let model = model.unwrap().for_means(|| panic!("asked"));
    assert_eq!(parameters(&model).len(), 17);
}

#[test]
fn the_means_do_not_learn_and_all_else_does() {
    struct Learning(Vec<bool>);
    impl<B: Backend> ModuleVisitor<B> for Learning {
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<B, D>>) {
            self.0.push(param.is_require_grad());
        }
    }
    let model = model::<Autodiff<Flex>>(true);
    let mut learning = Learning(vec![]);
    model.visit(&mut learning);
    assert_eq!(learning.0, [vec![true; 17], vec![false]].concat());
}
