//! A density differentiated by burn moves a chain as one differentiated by hand does.

use burn::tensor::Tensor;
use helmholtz_random::{Purpose, Stream};
use helmholtz_samplers::{BurnTarget, Hmc, Kernel};
use helmholtz_tests::Tape;
use helmholtz_tests::vectors::max_difference;

/// ln p = −½ x₀² − eˣ¹ + 2 x₁ − ¼ (x₀ x₁)², and its gradient times `factor`.
fn by_hand(factor: f64) -> impl Fn(&[f64], &mut [f64]) -> f64 {
    move |x, gradient| {
        let (a, b) = (x[0], x[1]);
        gradient[0] += factor * (-a - 0.5 * a * b * b);
        gradient[1] += factor * (-b.exp() + 2.0 - 0.5 * a * a * b);
        -0.5 * a * a - b.exp() + 2.0 * b - 0.25 * (a * b).powi(2)
    }
}

fn by_burn(x: Tensor<Tape, 1>) -> Tensor<Tape, 1> {
    let (a, b) = (x.clone().narrow(0, 0, 1), x.narrow(0, 1, 1));
    let product = (a.clone() * b.clone()).square().mul_scalar(0.25);
    a.square().mul_scalar(-0.5) - b.clone().exp() + b.mul_scalar(2.0) - product
}

/// Where a chain of a hundred transitions ends.
fn end(kernel: &impl Kernel<Vec<f64>, Stream>) -> Vec<f64> {
    let mut stream = Stream::new(1, Purpose::new("hmc"), [0, 0]);
    let mut x = vec![0.3, -0.2];
    (0..100).for_each(|_| {
        kernel.step(&mut x, &mut stream);
    });
    x
}

#[test]
fn hmc_moves_by_burns_gradient_as_by_the_one_derived_by_hand() {
    let burn = BurnTarget::new(by_burn, Default::default());
    let burn = end(&Hmc::new(burn, 0.2, 8).unwrap());
    let hand = end(&Hmc::new(by_hand(1.0), 0.2, 8).unwrap());
    let wrong = end(&Hmc::new(by_hand(1.01), 0.2, 8).unwrap());
    // Rounding grows along a chain of 800 leapfrog steps.
    assert!(max_difference(&burn, &hand) < 1e-8);
    assert!(max_difference(&burn, &wrong) > 1e-3);
}
