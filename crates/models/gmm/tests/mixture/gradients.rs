//! Test 15: the gradient of a block's log-density through the conjugate update and through the net for c, by finite
//! differences; other nets receive none.

use burn::backend::Autodiff;
use burn::module::{ModuleVisitor, Param};
use burn::tensor::backend::AutodiffBackend;
use helmholtz_apg::{Conditional, Update};
use helmholtz_gmm::{Assignments, Eta, GmmConfig, Law};

use crate::*;

type A = Autodiff<Flex>;

/// Parameters in visiting order: their values, and their gradients or `None`.
struct Collect<'a, B: AutodiffBackend> {
    gradients: Option<&'a B::Gradients>,
    values: Vec<f64>,
    found: Vec<Option<f64>>,
}

impl<B: AutodiffBackend> ModuleVisitor<B> for Collect<'_, B> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<B, D>>) {
        let values = numbers(param.val());
        let gradient = self.gradients.and_then(|g| param.val().grad(g));
        match gradient {
            Some(gradient) => self.found.extend(numbers(gradient).into_iter().map(Some)),
            None => self.found.extend(vec![None; values.len()]),
        }
        self.values.extend(values);
    }
}

fn collect<'a>(
    model: &Gmm<A>,
    gradients: Option<&'a <A as AutodiffBackend>::Gradients>,
) -> Collect<'a, A> {
    let mut collect = Collect {
        gradients,
        values: vec![],
        found: vec![],
    };
    model.visit(&mut collect);
    collect
}

/// Holds the gradient of Σ w log q(z'_b | x, z) with weights w = sin 1, sin 2, .. to finite differences at every third of the
/// parameters `own`; all others must have none.
fn assert_gradient<K: Conditional<A, Gmm<A>, Stream> + Copy>(
    block: K,
    own: std::ops::Range<usize>,
) {
    let config = GmmConfig {
        hidden: 4,
        ..GmmConfig::default()
    };
    let model = config
        .init::<A>(1, F64, &Default::default())
        .expect("a mixture");
    let x = config
        .simulate::<A>(3, &[0, 1], 6, F64, &Default::default())
        .x;
    let old = model.propose(&x, 2, &mut stream(4)).state;
    let new = block.sample(&block.law(&model, &x, &old), &old, &mut stream(5));
    let value = |model: &Gmm<A>| {
        let log_q = block.log_prob(&block.law(model, &x, &old), &new);
        let shape = log_q.dims();
        let count: usize = shape.iter().product();
        let weights = (1..=count).map(|i| (i as f64).sin()).collect::<Vec<_>>();
        (log_q * Tensor::from_data(TensorData::new(weights, shape), (&Default::default(), F64)))
            .sum()
    };
    let gradients = value(&model).backward();
    let Collect { values, found, .. } = collect(&model, Some(&gradients));
    let at = |i: usize, step: f64| {
        let mut moved = values.clone();
        moved[i] += step;
        numbers(value(&with_parameters(model.clone(), &moved)))[0]
    };
    for (i, found) in found.iter().enumerate() {
        if !own.contains(&i) {
            assert!(
                found.unwrap_or(0.0) == 0.0,
                "parameter {i} is of another net"
            );
        } else if i % 3 == 0 {
            let expected = (at(i, 1e-5) - at(i, -1e-5)) / 2e-5;
            let found = found.expect("a gradient");
            assert!(
                (found - expected).abs() < 1e-6 * expected.abs().max(1.0),
                "{i}: {found} {expected}"
            );
        }
    }
}

#[test]
fn through_the_conjugate_update() {
    assert_gradient(Eta(Law::Learned), 15..45);
}

#[test]
fn through_the_net_for_assignments() {
    assert_gradient(Assignments(Law::Learned), 45..78);
}

#[test]
fn exact_laws_and_priors_have_none() {
    let model = published();
    let (x, old) = some_particles(2, 5);
    let moved = Update(Eta(Law::Exact)).0;
    let law = Conditional::<B, Gmm<B>, Stream>::law(&moved, &model, &x, &old);
    assert_eq!(law.mean.dims(), [4, 2, 3, 2]);
    assert_gradient(Eta(Law::Prior), 0..0);
    assert_gradient(Assignments(Law::Exact), 0..0);
}
