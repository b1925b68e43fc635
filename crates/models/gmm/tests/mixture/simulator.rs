//! Test 24 for the mixture, and test 7: the mean of log p(x, z) over draws from p is minus the entropy of p, and stays so under
//! exact Gibbs sweeps.

use helmholtz_apg::{Block, Model, Update};
use helmholtz_distributions::{Entropy, NormalGamma};
use helmholtz_gmm::{Assignments, Eta, GmmConfig, Law, Scheme};
use helmholtz_invariance::{Report, Unbiased};
use helmholtz_random::Draws;

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

/// When x is drawn from p(x | z).
#[derive(Clone, Copy, PartialEq)]
enum Drawn {
    Once,
    AfterSweeps,
    /// By the z that a sweep starts from: wrong.
    WithSweeps,
}

fn data_given(z: &GmmState<B>, stream: &mut Stream) -> Tensor<B, 3> {
    let of_own = |values: Tensor<B, 4>| -> Tensor<B, 3> {
        z.assignment.clone().matmul(values).squeeze_dim(0)
    };
    let mean = of_own(z.mean.clone());
    let shape = mean.dims();
    let normals: Vec<f64> = (0..shape.iter().product())
        .map(|_| stream.normal())
        .collect();
    mean + of_own(z.precision.clone().sqrt().recip()) * tensor(&normals, shape)
}

/// Three sweeps of these blocks from draws of p(x, z) for N data: the log joints before and after, which are draws of the same law
/// if the blocks are exact conditionals.
fn log_joints(
    blocks: &[&dyn Block<B, Gmm<B>, Stream>],
    points: usize,
    drawn: Drawn,
) -> [Vec<f64>; 2] {
    let config = GmmConfig::default();
    let instances: Vec<u64> = (0..INSTANCES).collect();
    let mut data = config.simulate::<B>(7, &instances, points, F64, &Default::default());
    let model = published();
    let at_start = numbers(model.log_joint(&data.x, &data.truth));
    for sweep in 0..3 {
        let mut stream = stream(100 + sweep);
        let before = data_given(&data.truth, &mut stream);
        for block in blocks {
            let moved = block.advance(&model, &model, &data.x, &data.truth, &mut stream);
            data.truth = moved.state;
        }
        match drawn {
            Drawn::Once => {}
            Drawn::AfterSweeps => data.x = data_given(&data.truth, &mut stream),
            Drawn::WithSweeps => data.x = before,
        }
    }
    let after = numbers(model.log_joint(&data.x, &data.truth));
    assert!(at_start != after);
    [at_start, after]
}

#[test]
fn test_7_the_mean_log_joint_is_minus_the_entropy() {
    assert!((expected(60) + 273.95).abs() < 0.01 && (expected(100) + 442.22).abs() < 0.01);
    for (name, points) in [
        ("entropy", 20),
        ("entropy at the published size", 60),
        ("entropy at the table's size", 100),
    ] {
        let found = log_joints(&Scheme::Gibbs.blocks(), points, Drawn::Once);
        means(name, &[expected(points); 2], found.to_vec()).assert_passed();
    }
}

/// The other way round in its second half: sweeps and data drawn in turn (Geweke 2004), by the blocks that experiments run.
#[test]
fn test_6_sweeps_and_data_in_turn_keep_the_joint_law() {
    let found = log_joints(&Scheme::Gibbs.blocks(), 20, Drawn::AfterSweeps);
    means(
        "sweeps and data in turn",
        &[expected(20); 2],
        found.to_vec(),
    )
    .assert_passed();
}

/// (μ, τ) drawn from the prior in the place of the exact conditional, and data drawn by other latents than the last.
#[test]
fn sweeps_that_are_wrong_are_noticed() {
    let blocks: [&dyn Block<B, Gmm<B>, Stream>; 2] =
        [&Update(Eta(Law::Prior)), &Update(Assignments(Law::Exact))];
    let [_, after] = log_joints(&blocks, 20, Drawn::Once);
    assert!(!means("a prior", &[expected(20)], vec![after]).passed());
    let [_, after] = log_joints(&Scheme::Gibbs.blocks(), 20, Drawn::WithSweeps);
    assert!(!means("data too early", &[expected(20)], vec![after]).passed());
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
