//! The expected side itself: hand-written densities and gradients, checked by differences and by the production model.

use burn::tensor::{DType, Tensor, TensorData};
use helmholtz_estimators::{Joint, Propose};
use helmholtz_tests::vectors::{max_difference, relative_error};
use helmholtz_tests::{
    Categories, Conditional, Enumerable, Exact, Inner, Reference, Topped, build, flat_parameters,
    read_state, store_of,
};

use crate::data;

/// ∂f/∂parameter by central differences.
fn differences<R: Enumerable>(model: &R, f: impl Fn(&R) -> f64) -> Vec<f64> {
    let step = 1e-5;
    let moved = |i: usize, by: f64| {
        let mut parameters = model.parameters().to_vec();
        parameters[i] += by;
        f(&model.with_parameters(parameters))
    };
    let parameters = 0..model.parameters().len();
    parameters
        .map(|i| (moved(i, step) - moved(i, -step)) / (2.0 * step))
        .collect()
}

fn gradients_are_derivatives(model: &impl Enumerable) {
    for x in &data(2) {
        let exact = Exact::new(model, x);
        for k in 1..=2 {
            let expected = differences(model, |model| Exact::new(model, x).bound(k));
            assert!(relative_error(&exact.bound_gradient(k), &expected) < 1e-8);
        }
        let posterior = exact.posterior();
        let inclusive = differences(model, |moved| {
            // log p(x) − KL(posterior, held fixed ‖ q), up to a constant.
            let moved = Exact::new(moved, x);
            let cross = posterior.iter().zip(&moved.q).map(|(p, q)| p * q.ln());
            moved.log_evidence() + cross.sum::<f64>()
        });
        // ∇_θ of the cross term is zero, ∇_φ of the evidence too.
        assert!(relative_error(&exact.inclusive_gradient(), &inclusive) < 1e-8);
    }
}

#[test]
fn enumerated_gradients_are_the_derivatives_of_what_they_belong_to() {
    gradients_are_derivatives(&Reference::t1());
    gradients_are_derivatives(&Reference::t2());
    gradients_are_derivatives(&Categories::t3());
    gradients_are_derivatives(&Categories::t3().with_learned_prior());
    gradients_are_derivatives(&Conditional::t4());
    gradients_are_derivatives(&Topped::t5());
}

fn sums_are_one(model: &impl Enumerable) {
    for x in &model.observations() {
        let beside = model.dreamt_beside(x);
        let evidence = beside.iter().map(|x| Exact::new(model, x).log_evidence());
        assert!((evidence.map(f64::exp).sum::<f64>() - 1.0).abs() < 1e-12);
        assert!((Exact::new(model, x).q.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }
}

#[test]
fn probabilities_sum_to_one() {
    sums_are_one(&Reference::t1());
    sums_are_one(&Reference::t2());
    sums_are_one(&Categories::t3());
    sums_are_one(&Categories::t3().with_learned_prior());
    sums_are_one(&Conditional::t4());
    sums_are_one(&Topped::t5());
}

#[test]
fn the_kernels_written_out_leave_the_posterior_invariant() {
    let x = &data(1)[0];
    for exact in [
        Exact::new(&Reference::t1(), x),
        Exact::new(&Reference::t2(), x),
        Exact::new(&Categories::t3(), x),
        Exact::new(&Conditional::t4(), x),
    ] {
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

/// The production model has the same parameters and densities, and the chain store the same states.
fn production_agrees(reference: &impl Enumerable) {
    let model = build::<Inner, _>(reference, DType::F64);
    assert_eq!(flat_parameters(&model), reference.parameters());
    assert_eq!(model.latents(), reference.latents());
    let states = reference.states();
    let store = store_of(reference, &states.iter().collect::<Vec<_>>());
    let stored = (0..states.len()).map(|row| read_state(&store, row as u32));
    assert!(stored.eq(0..states.len()));
    let device = Default::default();
    for x in reference.observations() {
        let exact = Exact::new(reference, &x);
        let rows = exact.states.len();
        let layers = (0..exact.states[0].len()).map(|l| {
            let values: Vec<f64> = exact.states.iter().flat_map(|h| h[l].clone()).collect();
            let shape = [rows, values.len() / rows];
            let data = TensorData::new(values, shape);
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

#[test]
fn the_production_model_has_the_reference_s_parameters_densities_and_states() {
    production_agrees(&Reference::t1());
    production_agrees(&Reference::t2());
    production_agrees(&Reference::random(3, &[2, 1, 2], 3));
    production_agrees(&Categories::t3());
    production_agrees(&Categories::t3().with_learned_prior());
    production_agrees(&Categories::random(3, 3, 4, &[2, 3], 4));
    production_agrees(&Conditional::t4());
    production_agrees(&Topped::t5());
    production_agrees(&Conditional::random(3, 1, 2, &[2, 4], 5));
}
