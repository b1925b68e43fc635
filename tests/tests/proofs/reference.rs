//! The expected side itself: hand-written densities and gradients, checked by differences and by the production model.

use burn::tensor::{DType, Tensor, TensorData};
use helmholtz_estimators::{Joint, Propose};
use helmholtz_tests::vectors::{max_difference, relative_error};
use helmholtz_tests::{Exact, Inner, Reference, build, flat_parameters};

use crate::data;

/// ∂f/∂parameter by central differences.
fn differences(model: &Reference, f: impl Fn(&Reference) -> f64) -> Vec<f64> {
    let step = 1e-5;
    let moved = |i: usize, by: f64| {
        let mut parameters = model.parameters.clone();
        parameters[i] += by;
        f(&model.with_parameters(parameters))
    };
    let parameters = 0..model.parameters.len();
    parameters
        .map(|i| (moved(i, step) - moved(i, -step)) / (2.0 * step))
        .collect()
}

#[test]
fn enumerated_gradients_are_the_derivatives_of_what_they_belong_to() {
    for model in [Reference::t1(), Reference::t2()] {
        for x in &data(2) {
            let exact = Exact::new(&model, x);
            for k in 1..=2 {
                let expected = differences(&model, |model| Exact::new(model, x).bound(k));
                assert!(relative_error(&exact.bound_gradient(k), &expected) < 1e-8);
            }
            let posterior = exact.posterior();
            let inclusive = differences(&model, |moved| {
                // log p(x) − KL(posterior, held fixed ‖ q), up to a constant.
                let moved = Exact::new(moved, x);
                let cross = posterior.iter().zip(&moved.q).map(|(p, q)| p * q.ln());
                moved.log_evidence() + cross.sum::<f64>()
            });
            // ∇_θ of the cross term is zero, ∇_φ of the evidence too.
            assert!(relative_error(&exact.inclusive_gradient(), &inclusive) < 1e-8);
        }
    }
}

#[test]
fn probabilities_sum_to_one() {
    for model in [Reference::t1(), Reference::t2()] {
        let data = model.observations();
        let evidence = data
            .iter()
            .map(|x| Exact::new(&model, x).log_evidence().exp());
        assert!((evidence.sum::<f64>() - 1.0).abs() < 1e-12);
        for x in &data {
            assert!((Exact::new(&model, x).q.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        }
    }
}

#[test]
fn the_kernels_written_out_leave_the_posterior_invariant() {
    for model in [Reference::t1(), Reference::t2()] {
        let exact = Exact::new(&model, &data(1)[0]);
        let posterior = exact.posterior();
        for matrix in [exact.mis(), exact.mtmis(2)] {
            let after: Vec<f64> = (0..posterior.len())
                .map(|y| {
                    posterior
                        .iter()
                        .zip(&matrix)
                        .map(|(p, row)| p * row[y])
                        .sum()
                })
                .collect();
            assert!(max_difference(&after, &posterior) < 1e-13);
        }
    }
}

#[test]
fn the_model_with_the_exact_posterior_has_it() {
    let model = Reference::with_exact_posterior();
    for x in model.observations() {
        let exact = Exact::new(&model, &x);
        assert!(max_difference(&exact.posterior(), &exact.q) < 1e-14);
    }
}

#[test]
fn the_production_model_has_the_reference_s_parameters_and_densities() {
    let three_layers = Reference::random(3, &[2, 1, 2], 3);
    for reference in [Reference::t1(), Reference::t2(), three_layers] {
        let model = build::<Inner>(&reference, DType::F64);
        assert_eq!(flat_parameters(&model), reference.parameters);
        let device = Default::default();
        for x in reference.observations() {
            let exact = Exact::new(&reference, &x);
            let rows = exact.states.len();
            let layers = (0..reference.layers().len()).map(|l| {
                let values: Vec<f64> = exact.states.iter().flat_map(|h| h[l].clone()).collect();
                let data = TensorData::new(values, [rows, reference.layers()[l]]);
                Tensor::<Inner, 2>::from_data(data, (&device, DType::F64))
            });
            let particles = helmholtz_estimators::Particles::new(layers.collect());
            let data = TensorData::new(x.clone(), [1, x.len()]);
            let x = Tensor::<Inner, 2>::from_data(data, (&device, DType::F64));
            let log_p = model.log_joint(x.clone(), &particles).into_data();
            let log_q = model.log_q(&model.encode(x), &particles).into_data();
            let expected: Vec<f64> = exact.q.iter().map(|q| q.ln()).collect();
            assert!(max_difference(&log_p.to_vec().unwrap(), &exact.log_p) < 1e-12);
            assert!(max_difference(&log_q.to_vec().unwrap(), &expected) < 1e-12);
        }
    }
}
