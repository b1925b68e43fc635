//! APG test 19: HMC on a precision in log-space, and how far it moves.

use helmholtz_random::{Draws, Purpose, Stream};
use helmholtz_samplers::diagnostics::{monte_carlo_error, r_hat};
use helmholtz_samplers::{Hmc, Kernel};

use crate::statistics::*;

/// The prior of a Gaussian cluster, N = 0: τ ~ Gamma(2, rate 2), μ | τ ~ N(0, 1 / (0.1 τ)), at (y = ln τ, μ).
///
/// ln p(y, μ) = ln τ - 2 τ + ½ ln τ - 0.05 τ μ² + `jacobian` ln τ, with jacobian 1 for dτ = τ dy.
fn normal_gamma(jacobian: f64) -> impl Fn(&[f64], &mut [f64]) -> f64 {
    move |x, gradient| {
        let (y, mu) = (x[0], x[1]);
        let tau = y.exp();
        gradient[0] += 1.5 + jacobian - 2.0 * tau - 0.05 * tau * mu * mu;
        gradient[1] -= 0.1 * tau * mu;
        (1.5 + jacobian) * y - 2.0 * tau - 0.05 * tau * mu * mu
    }
}

/// (τ, μ √(0.1 τ)) after 20 transitions from an exact draw.
fn ends(jacobian: f64) -> Vec<(f64, f64)> {
    let hmc = Hmc::new(normal_gamma(jacobian), 0.25, 8).expect("a kernel");
    replicate(4000, 20, |stream| {
        // The sum of two exponential variables of rate 2.
        let exponential = |stream: &mut Stream| -0.5 * (1.0 - stream.uniform()).ln();
        let tau = exponential(stream) + exponential(stream);
        let mut x = vec![tau.ln(), stream.normal() / (0.1 * tau).sqrt()];
        for _ in 0..20 {
            hmc.step(&mut x, stream);
        }
        (x[0].exp(), x[1] * (0.1 * x[0].exp()).sqrt())
    })
}

/// P(τ < t) = 1 - (1 + 2t) e^{-2t} for Gamma(2, rate 2).
fn gamma_cdf(t: f64) -> f64 {
    1.0 - (1.0 + 2.0 * t) * (-2.0 * t).exp()
}

#[test]
fn in_log_space_with_its_jacobian_the_precision_stays_gamma() {
    let ends = ends(1.0);
    assert_ks(ends.iter().map(|e| e.0).collect(), gamma_cdf);
    assert_ks(ends.iter().map(|e| e.1).collect(), normal_cdf);
}

/// Twin: without the Jacobian it is Gamma(1, rate 2).
#[test]
fn without_the_jacobian_the_precision_is_not_gamma() {
    let tau: Vec<f64> = ends(0.0).iter().map(|e| e.0).collect();
    assert!(ks_distance(tau, gamma_cdf) > 2.0 * ks_bound(4000));
}

fn standard_normal(x: &[f64], gradient: &mut [f64]) -> f64 {
    gradient.iter_mut().zip(x).for_each(|(g, x)| *g -= x);
    -0.5 * x.iter().map(|x| x * x).sum::<f64>()
}

/// After a quarter of a period, time π/2, the position is the old momentum: E (x' - x)² = 2 for N(0, 1). The mean of
/// 4000 squares, of variance 8 each, is within 6 standard errors, 0.27 (2e-9), and 2 % for the leapfrog error.
#[test]
fn the_position_moves_as_far_as_the_dynamics_say() {
    let hmc = Hmc::new(standard_normal, std::f64::consts::FRAC_PI_2 / 16.0, 16).expect("a kernel");
    let jumps = replicate(4000, 21, |stream| {
        let from = stream.normal();
        let mut x = vec![from];
        hmc.step(&mut x, stream);
        (x[0] - from).powi(2)
    });
    let mean = jumps.iter().sum::<f64>() / jumps.len() as f64;
    assert!((mean - 2.0).abs() < 0.31, "{mean}");
}

/// Averages over long chains from dispersed starts are within 6 standard errors, corrected for autocorrelation (2e-9
/// each, for the normal limit).
#[test]
fn averages_of_warmed_up_chains_are_those_of_the_target() {
    let sd = [1.0, 0.1, 10.0];
    let target = move |x: &[f64], gradient: &mut [f64]| {
        let z = [x[0] / sd[0], x[1] / sd[1], x[2] / sd[2]];
        (0..3).for_each(|i| gradient[i] -= z[i] / sd[i]);
        -0.5 * z.iter().map(|z| z * z).sum::<f64>()
    };
    let chains = replicate(4, 22, |stream| {
        let mut x = vec![stream.normal(), stream.normal(), 100.0 * stream.normal()];
        let hmc = Hmc::new(target, 1.0, 7)
            .and_then(|hmc| hmc.with_mass(sd.map(|s| 1.0 / (s * s)).to_vec()))
            .and_then(|hmc| hmc.warm_up(0.8, 300, &mut x, stream))
            .expect("a kernel");
        let draw = |_| {
            hmc.step(&mut x, stream);
            x.clone()
        };
        (0..2000).map(draw).collect::<Vec<_>>()
    });
    for (i, sd) in sd.into_iter().enumerate() {
        for (power, expected) in [(1, 0.0), (2, 1.0)] {
            let draws: Vec<Vec<f64>> = chains
                .iter()
                .map(|chain| chain.iter().map(|x| (x[i] / sd).powi(power)).collect())
                .collect();
            let mean = draws.concat().iter().sum::<f64>() / 8000.0;
            let error = monte_carlo_error(&draws).expect("draws");
            assert!((mean - expected).abs() < 6.0 * error, "{mean} ± {error}");
            assert!(error < 0.1 && r_hat(&draws).expect("draws") < 1.02);
        }
    }
}

#[test]
fn a_kernel_tells_what_it_was_given() {
    let hmc = Hmc::new(standard_normal, 0.25, 8).expect("a kernel");
    assert_eq!((hmc.step_size(), hmc.leapfrog_steps()), (0.25, 8));
    assert_eq!(hmc.mass(), None);
    let hmc = hmc.with_mass(vec![2.0, 0.5]).expect("masses");
    assert_eq!(hmc.mass(), Some(&[2.0, 0.5][..]));
}

#[test]
fn a_divergence_is_a_rise_of_the_energy_whatever_constant_the_density_has() {
    let normal = |constant: f64| {
        move |x: &[f64], gradient: &mut [f64]| {
            gradient[0] -= x[0];
            constant - 0.5 * x[0] * x[0]
        }
    };
    for constant in [-1e10, 0.0, 1e10] {
        let hmc = Hmc::new(normal(constant), 40.0, 1).expect("a kernel");
        let mut stream = Stream::new(7, Purpose::new("test"), [0, 0]);
        let info = hmc.step(&mut vec![1.0], &mut stream);
        assert_eq!((info.accepted, info.non_finite), (0, 1), "{constant}");
    }
}
