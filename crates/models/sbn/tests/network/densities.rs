//! log p(x, h) and log q(h | x), for the named nets and for other depths.

use burn::tensor::{DType, Tensor, TensorData};
use burn_flex::Flex;
use helmholtz_estimators::{Factored, Joint, Particles, Propose};
use helmholtz_ops::bernoulli_log_prob;
use helmholtz_random::{Purpose, Stream};
use helmholtz_sbn::{Initialisation, SbnConfig};

use crate::written_out::WrittenOut;

fn random_bits(stream: &mut Stream, count: usize) -> Vec<f64> {
    (0..count).map(|_| f64::from(stream.below(2))).collect()
}

fn tensor(rows: &[Vec<f64>], dtype: DType) -> Tensor<Flex, 2> {
    let data = TensorData::new(rows.concat(), [rows.len(), rows[0].len()]);
    Tensor::from_data(data, (&Default::default(), dtype))
}

/// The largest errors of both log-densities, of two data with three particles each.
fn errors(config: &SbnConfig, dtype: DType) -> (f64, f64) {
    let model = config.init::<Flex>(5, dtype, &Default::default()).unwrap();
    let written_out = WrittenOut::new(config, &model);
    let mut stream = Stream::new(1, Purpose::new("test"), [0, 0]);
    let x: Vec<Vec<f64>> = (0..2)
        .map(|_| random_bits(&mut stream, config.visible))
        .collect();
    // h[n][l], row n is particle n / 2 of datum n mod 2.
    let h: Vec<Vec<Vec<f64>>> = (0..6)
        .map(|_| {
            config
                .latent
                .iter()
                .map(|&bits| random_bits(&mut stream, bits))
                .collect()
        })
        .collect();
    let layer = |l: usize| h.iter().map(|h| h[l].clone()).collect::<Vec<_>>();
    let layers = (0..config.latent.len()).map(|l| tensor(&layer(l), dtype));
    let particles = Particles::new(layers.collect());
    let log_p = model.log_joint(tensor(&x, dtype), &particles).into_data();
    let log_q = model
        .log_q(&model.encode(tensor(&x, dtype)), &particles)
        .into_data();
    // The factors, one at a time, are the whole.
    let logits = model.prior_logits(tensor(&x, dtype), &particles);
    assert_eq!(logits.len(), config.latent.len());
    let sum = model.log_likelihood(tensor(&x, dtype), &particles);
    let each = logits.into_iter().zip(particles.layers());
    let sum = each.fold(sum, |sum, (logits, layer)| {
        sum + bernoulli_log_prob(logits, layer.clone())
    });
    let expected_p = |n: usize| written_out.log_p(&x[n % 2], &h[n]);
    let expected_q = |n: usize| written_out.log_q(&x[n % 2], &h[n]);
    let p = error(&log_p, expected_p).max(error(&sum.into_data(), expected_p));
    (p, error(&log_q, expected_q))
}

fn error(found: &TensorData, expected: impl Fn(usize) -> f64) -> f64 {
    let rows = found.iter::<f64>().enumerate();
    rows.map(|(n, found)| (found - expected(n)).abs())
        .fold(0.0, f64::max)
}

#[test]
fn the_named_nets_score_as_written_out_by_hand() {
    for name in SbnConfig::NAMES {
        let config = SbnConfig::named(name).unwrap();
        let (p, q) = errors(&config, DType::F64);
        assert!(p < 1e-9 && q < 1e-9, "{name}: {p}, {q}");
        // Sums over up to 1384 bits, each rounded to f32.
        let (p, q) = errors(&config, DType::F32);
        assert!(p < 2e-3 && q < 2e-3, "{name}: {p}, {q}");
    }
}

#[test]
fn any_depth_and_width_scores_as_written_out_by_hand() {
    for (latent, hidden) in [
        (vec![3], vec![]),
        (vec![5, 4, 3], vec![]),
        (vec![2, 6, 1], vec![7]),
        (vec![4, 2, 3, 5], vec![3, 2, 4]),
    ] {
        for (learned_prior, tanh) in [(false, false), (true, false), (true, true)] {
            for initialisation in [Initialisation::FanIn, Initialisation::Xavier { bias: 0.3 }] {
                let config = SbnConfig {
                    visible: 9,
                    latent: latent.clone(),
                    hidden: hidden.clone(),
                    slope: 0.2,
                    learned_prior,
                    signed: false,
                    tanh,
                    centred: false,
                    initialisation,
                };
                let (p, q) = errors(&config, DType::F64);
                assert!(p < 1e-12 && q < 1e-12, "{config:?}: {p}, {q}");
            }
        }
    }
}

#[test]
fn the_fixed_prior_of_the_named_nets_is_minus_200_ln_2() {
    // Against the same network with a learned prior, before it has learned: both uniform; and by the written-out sum.
    let prior: f64 = -200.0 * std::f64::consts::LN_2;
    assert!((prior + 138.629).abs() < 1e-3);
    let config = SbnConfig::named("linear").unwrap();
    let model = config
        .init::<Flex>(1, DType::F64, &Default::default())
        .unwrap();
    // With h = 0 and x = 0 what remains is the output bias of −1: log p(x | h) = −784 ln(1 + 1/e).
    let zeros = |bits: usize| tensor(&[vec![0.0; bits]], DType::F64);
    let particles = Particles::new(vec![zeros(200)]);
    let log_p = model.log_joint(zeros(784), &particles).into_data();
    let expected = prior - 784.0 * (-1.0f64).exp().ln_1p();
    assert!((log_p.iter::<f64>().next().unwrap() - expected).abs() < 1e-9);
}
