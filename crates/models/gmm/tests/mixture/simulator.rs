//! Test 24 for the mixture, and test 7: the mean of log p(x, z) over draws from p is minus the entropy of p, and stays so under
//! exact Gibbs sweeps.

use helmholtz_apg::{Block, Model};
use helmholtz_distributions::{Entropy, NormalGamma};
use helmholtz_gmm::{GmmConfig, Scheme};
use helmholtz_invariance::{Report, Unbiased};

use crate::*;

const INSTANCES: u64 = 4_000;

/// E[log p(x, z)] for N data: the entropies of the prior and of a datum, whose log τ has mean ψ(α) − ln β.
fn expected(points: usize) -> f64 {
    let number = |value| tensor(&[value], [1]);
    let prior = NormalGamma {
        mean: number(0.0),
        nu: number(0.1),
        alpha: number(2.0),
        beta: number(2.0),
    };
    let digamma_2 = 1.0 - 0.577_215_664_901_532_9;
    let datum = 3f64.ln() + (2.0 * std::f64::consts::PI).ln() + 1.0 - (digamma_2 - 2f64.ln());
    -6.0 * numbers(prior.entropy())[0] - points as f64 * datum
}

pub fn means(name: &str, expected: &[f64], samples: Vec<Vec<f64>>) -> Report {
    let count = samples[0].len();
    let mut at = 0..count;
    let draw = |_: &mut Stream, out: &mut [f64]| {
        let i = at.next().expect("a sample");
        out.iter_mut()
            .zip(&samples)
            .for_each(|(out, values)| *out = values[i]);
    };
    let share = SUITE.share(name).expect("a share");
    Unbiased::new(expected)
        .samples(count)
        .test(draw, share)
        .expect("finite")
}

#[test]
fn test_7_the_mean_log_joint_is_minus_the_entropy() {
    assert!((expected(60) + 273.95).abs() < 0.01 && (expected(100) + 442.22).abs() < 0.01);
    let config = GmmConfig::default();
    let instances: Vec<u64> = (0..INSTANCES).collect();
    let mut data = config.simulate::<B>(7, &instances, 20, F64, &Default::default());
    let model = published();
    let at_start = numbers(model.log_joint(&data.x, &data.truth));
    for sweep in 0..3 {
        for block in Scheme::Gibbs.blocks() {
            let block: &dyn Block<B, Gmm<B>, Stream> = block;
            data.truth = block
                .advance(
                    &model,
                    &model,
                    &data.x,
                    &data.truth,
                    &mut stream(100 + sweep),
                )
                .state;
        }
    }
    let after = numbers(model.log_joint(&data.x, &data.truth));
    assert!(at_start != after);
    means("entropy", &[expected(20); 2], vec![at_start, after]).assert_passed();
}

#[test]
fn test_24_draws_have_the_moments_of_the_prior() {
    let instances: Vec<u64> = (0..INSTANCES).collect();
    let data = GmmConfig::default().simulate::<B>(8, &instances, 2, F64, &Default::default());
    let z = &data.truth;
    let first = |values: Tensor<B, 4>| numbers(values.narrow(2, 0, 1).narrow(3, 0, 1));
    let tau = z.precision.clone();
    let scaled_mean = z.mean.clone() * (tau.clone() * 0.1).sqrt();
    let own = |latent: &Tensor<B, 4>| z.assignment.clone().matmul(latent.clone());
    let residual = (data.x.clone().unsqueeze::<4>() - own(&z.mean)) * own(&tau).sqrt();
    let samples = vec![
        first(tau.clone()),
        first(tau.square()),
        first(scaled_mean.clone()),
        first(scaled_mean.square()),
        first(residual.clone()),
        first(residual.square()),
        first(z.assignment.clone()),
    ];
    let expected = [1.0, 1.5, 0.0, 1.0, 0.0, 1.0, 1.0 / 3.0];
    means("simulator", &expected, samples).assert_passed();
    // Two data of an instance, and an instance of a larger corpus, are the same again.
    let again = GmmConfig::default().simulate::<B>(8, &[17], 5, F64, &Default::default());
    assert_eq!(numbers(again.x)[..4], numbers(data.x)[17 * 4..18 * 4]);
}
