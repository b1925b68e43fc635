//! HMC with a change of variables.

use helmholtz_invariance::{InvarianceError, OneStep, Report, Share};
use helmholtz_random::{Draws, Stream};
use helmholtz_samplers::{Hmc, Kernel};

use crate::SUITE;

/// The prior of the mixture model, τ ~ Gamma(2, 2), μ | τ ~ N(0, 1 / (ν τ)) with ν = 0.1, in the coordinates (ln τ, μ);
/// the Jacobian of τ = exp(y) adds y.
fn kernel(with_jacobian: bool) -> impl Kernel<Vec<f64>, Stream> {
    let jacobian = if with_jacobian { 1.0 } else { 0.0 };
    let target = move |x: &[f64], gradient: &mut [f64]| {
        let (y, mu) = (x[0], x[1]);
        let tau = y.exp();
        // (α - 1) ln τ - β τ + ½ ln τ - ½ ν τ μ²
        gradient[0] += 1.5 + jacobian - 2.0 * tau - 0.05 * tau * mu * mu;
        gradient[1] -= 0.1 * tau * mu;
        (1.5 + jacobian) * y - 2.0 * tau - 0.05 * tau * mu * mu
    };
    Hmc::new(target, 0.3, 5)
        .unwrap()
        .with_mass(vec![2.0, 0.1])
        .unwrap()
}

fn draw(rng: &mut Stream) -> Vec<f64> {
    let tau = -((1.0 - rng.uniform()).ln() + (1.0 - rng.uniform()).ln()) / 2.0;
    vec![tau.ln(), rng.normal() / (0.1 * tau).sqrt()]
}

fn report(with_jacobian: bool, share: Share) -> Result<Report, InvarianceError> {
    // τ, and μ in units of its conditional standard deviation.
    let coordinates = |x: &Vec<f64>| vec![x[0].exp(), x[1] * (0.1 * x[0].exp()).sqrt()];
    OneStep::new(draw, coordinates)
        .samples(4000)
        .steps(3)
        .marginals(&kernel(with_jacobian), share)
}

#[test]
fn the_marginal_of_tau_stays_gamma_and_that_of_mu_normal() {
    report(true, SUITE.share("hmc").unwrap())
        .unwrap()
        .assert_passed();
}

#[test]
fn a_missing_jacobian_is_found() {
    report(false, SUITE.share("hmc without jacobian").unwrap())
        .unwrap()
        .assert_failed();
}

#[test]
fn the_position_does_move() {
    let mut rng = Stream::new(1, helmholtz_random::Purpose::new("moves"), [0, 0]);
    let (kernel, mut moved) = (kernel(true), 0);
    for _ in 0..200 {
        let mut x = draw(&mut rng);
        let before = x.clone();
        kernel.step(&mut x, &mut rng);
        moved += usize::from((x[0] - before[0]).abs() > 0.1);
    }
    assert!(moved > 120, "{moved} of 200");
}
