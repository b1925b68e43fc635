//! The density without assignments: against the sum over all of them, its gradient against differences, and the prior that it
//! leaves to a sampler without data (test 19).

use helmholtz_apg::Model;
use helmholtz_gmm::GmmConfig;
use helmholtz_random::Draws;
use helmholtz_samplers::{Hmc, Kernel};

use crate::simulator::means;
use crate::*;

const ETA: usize = 6;

fn config() -> GmmConfig {
    GmmConfig {
        mean: 0.3,
        nu: 0.7,
        ..GmmConfig::default()
    }
}

fn position(at: u64) -> Vec<f64> {
    let mut stream = stream(at);
    (0..2 * ETA).map(|_| stream.normal()).collect()
}

fn value(data: &[f64], position: &[f64]) -> f64 {
    config().log_marginal(data, position, &mut [0.0; 2 * ETA])
}

/// ln Σ_c p(x, μ, τ, c) by the model's own density, one datum more each time: what the constant of the prior is cancels.
#[test]
fn it_is_the_sum_over_all_assignments() {
    let (data, position) = ([0.4, -1.0, 2.0, 0.7], position(1));
    let model = config()
        .init::<B>(1, F64, &Default::default())
        .expect("a mixture");
    let latent = |values: &[f64]| tensor(values, [1, 1, 3, 2]);
    let tau: Vec<f64> = position[..ETA].iter().map(|s| s.exp()).collect();
    let joint = |data: &[f64]| {
        let n = data.len() / 2;
        let of = |clusters: usize| {
            let one_hot = (0..n).flat_map(|i| {
                let own = clusters / 3usize.pow(i as u32) % 3;
                (0..3).map(move |m| f64::from(u8::from(m == own)))
            });
            let state = GmmState {
                precision: latent(&tau),
                mean: latent(&position[ETA..]),
                assignment: tensor(&one_hot.collect::<Vec<f64>>(), [1, 1, n, 3]),
            };
            numbers(model.log_joint(&tensor(data, [1, n, 2]), &state))[0].exp()
        };
        (0..3usize.pow(n as u32)).map(of).sum::<f64>().ln()
    };
    let expected = joint(&data) - joint(&data[..2]);
    let found = value(&data, &position) - value(&data[..2], &position);
    assert!((found - expected).abs() < 1e-12, "{found} {expected}");
    // Without the Jacobian: off by Σ ln τ, which depends on the position.
    let other = |at: &[f64]| joint_of_one(&model, &data[..2], at) - value(&data[..2], at);
    let jacobian: f64 = position[..ETA].iter().sum();
    let constant = other(&[0.0; 2 * ETA]);
    assert!((other(&position) + jacobian - constant).abs() < 1e-11);
}

/// ln p(x, μ, τ) of one datum, c summed out.
fn joint_of_one(model: &Gmm<B>, datum: &[f64], position: &[f64]) -> f64 {
    let tau: Vec<f64> = position[..ETA].iter().map(|s| s.exp()).collect();
    let of = |own: usize| {
        let one_hot: Vec<f64> = (0..3).map(|m| f64::from(u8::from(m == own))).collect();
        let state = GmmState {
            precision: tensor(&tau, [1, 1, 3, 2]),
            mean: tensor(&position[ETA..], [1, 1, 3, 2]),
            assignment: tensor(&one_hot, [1, 1, 1, 3]),
        };
        numbers(model.log_joint(&tensor(datum, [1, 1, 2]), &state))[0].exp()
    };
    (0..3).map(of).sum::<f64>().ln()
}

#[test]
fn its_gradient_is_that_of_differences() {
    let data = [0.4, -1.0, 2.0, 0.7, 30.0, -20.0];
    let position = position(2);
    let mut gradient = vec![0.0; 2 * ETA];
    config().log_marginal(&data, &position, &mut gradient);
    for (i, found) in gradient.into_iter().enumerate() {
        let at = |step: f64| {
            let mut moved = position.clone();
            moved[i] += step;
            value(&data, &moved)
        };
        let expected = (at(1e-5) - at(-1e-5)) / 2e-5;
        assert!(
            (found - expected).abs() < 1e-6 * expected.abs().max(1.0),
            "{i}"
        );
    }
}

/// The means of τ and of (μ − μ₀)² τ ν over chains without data, a sum of `jacobian` ln τ taken off the density.
fn means_of_chains(jacobian: f64) -> Vec<Vec<f64>> {
    let target = |x: &[f64], gradient: &mut [f64]| {
        gradient[..ETA].iter_mut().for_each(|g| *g -= jacobian);
        let log_tau: f64 = x[..ETA].iter().sum();
        config().log_marginal(&[], x, gradient) - jacobian * log_tau
    };
    let hmc = Hmc::new(target, 0.3, 5).expect("a kernel");
    let (mut tau, mut scaled) = (vec![], vec![]);
    for chain in 0..2000 {
        let (mut x, mut stream) = (vec![0.0; 2 * ETA], stream(100 + chain));
        let mut sums = [0.0; 2];
        for step in 0..120 {
            hmc.step(&mut x, &mut stream);
            for i in (0..ETA).filter(|_| step >= 100) {
                let t = x[i].exp();
                sums[0] += t;
                sums[1] += (x[ETA + i] - 0.3).powi(2) * t * 0.7;
            }
        }
        tau.push(sums[0] / (20 * ETA) as f64);
        scaled.push(sums[1] / (20 * ETA) as f64);
    }
    vec![tau, scaled]
}

/// E τ = α / β = 1 and E (μ − μ₀)² ν τ = 1. Without the Jacobian τ has the shape α − 1, and E τ = ½.
#[test]
fn test_19_without_data_the_sampler_finds_the_prior() {
    means("hmc without data", &[1.0, 1.0], means_of_chains(0.0)).assert_passed();
    let twin = means("hmc without Jacobian", &[1.0, 1.0], means_of_chains(1.0));
    assert!(!twin.passed());
}
