//! The Poisson and binomial distributions: probabilities that sum to one, their means, and draws.

use burn::tensor::{DType, Device, Tensor, TensorData};
use burn_flex::Flex;
use helmholtz_distributions::{Bernoulli, Binomial, Entropy, LogProb, Mean, Poisson, SampleReal};
use helmholtz_invariance::ks_one_sample;
use helmholtz_random::Draws;

use crate::SUITE;
use crate::numbers::{assert_close, column, read, stream, tensor, vector};

fn poisson(rate: f64) -> Poisson<Flex, 1> {
    Poisson {
        rate: vector(&[rate]),
    }
}

fn binomial(trials: f64, logit: f64) -> Binomial<Flex, 1> {
    Binomial {
        trials: vector(&[trials]),
        logit: vector(&[logit]),
    }
}

/// The probabilities of 0, ..., `most`.
fn probabilities(law: &impl LogProb<Flex, 1, Value = Tensor<Flex, 1>>, most: usize) -> Vec<f64> {
    let counts: Vec<f64> = (0..=most).map(|x| x as f64).collect();
    let log_prob = read(law.log_prob(vector(&counts)));
    log_prob.into_iter().map(f64::exp).collect()
}

fn moments(p: &[f64]) -> [f64; 2] {
    let mean = p.iter().enumerate().map(|(x, p)| x as f64 * p).sum();
    [p.iter().sum(), mean]
}

#[test]
fn probabilities_sum_to_one_and_have_the_mean_that_is_claimed() {
    for rate in [0.01, 1.0, 7.5, 60.0] {
        let law = poisson(rate);
        let found = moments(&probabilities(&law, 300));
        assert_close(&found, &[1.0, read(law.mean())[0]], 1e-11, 0.0);
        assert!((found[1] / rate - 1.0).abs() < 1e-11);
    }
    for (trials, logit) in [(1.0, 0.4), (10.0, -3.0), (40.0, 0.0), (25.0, 30.0)] {
        let law = binomial(trials, logit);
        let found = moments(&probabilities(&law, trials as usize));
        assert_close(&found, &[1.0, read(law.mean())[0]], 1e-11, 0.0);
    }
    // Of 4 trials with p = 1/4: 1 - (3/4)^4 and 4 (1/4) (3/4)³.
    let p = probabilities(&binomial(4.0, -(3f64.ln())), 1);
    assert_close(&p, &[81.0 / 256.0, 108.0 / 256.0], 1e-13, 0.0);
    let p = probabilities(&poisson(2.0), 2);
    assert_close(&p, &[1.0, 2.0, 2.0].map(|c| c * (-2f64).exp()), 1e-13, 0.0);
}

/// Kolmogorov's test of a law on whole numbers, at which its rate is an upper bound.
#[test]
fn draws_follow_their_laws_on_both_sides_of_every_switch_of_method() {
    const DRAWS: usize = 10_000;
    let rates = [0.3, 5.0, 13.0, 90.0];
    let trials = [
        (3.0, 0.5),
        (24.0, -1.0),
        (25.0, 0.0),
        (400.0, -2.5),
        (90.0, 3.0),
    ];
    let shares = SUITE
        .share("counts")
        .unwrap()
        .split(rates.len() + trials.len());
    let mut shares = shares.into_iter();
    let mut check = |draws: Vec<f64>, p: Vec<f64>| {
        // The test asks just below each value too.
        let cdf = |x: f64| {
            p.iter()
                .take((x.floor() + 1.0) as usize)
                .sum::<f64>()
                .min(1.0)
        };
        ks_one_sample(&draws, cdf, shares.next().unwrap())
            .unwrap()
            .assert_passed();
    };
    let rate: Tensor<Flex, 2> = tensor(&rates, [1, 4]);
    let draws = Poisson { rate }.sample([DRAWS, 4], &mut stream(20));
    for (i, rate) in rates.into_iter().enumerate() {
        check(column(&draws, i), probabilities(&poisson(rate), 300));
    }
    let law = Binomial::<Flex, 2> {
        trials: tensor(&trials.map(|t| t.0), [1, 5]),
        logit: tensor(&trials.map(|t| t.1), [1, 5]),
    };
    let draws = law.sample([DRAWS, 5], &mut stream(21));
    for (i, (trials, logit)) in trials.into_iter().enumerate() {
        let p = probabilities(&binomial(trials, logit), trials as usize);
        check(column(&draws, i), p);
    }
}

/// e^-5000 is 0 in f64: a mean of 10,000 draws is off by 6.5 standard deviations once in 10^10.
#[test]
fn draws_of_a_large_rate_have_its_mean() {
    let draws = read(poisson(5000.0).sample([10_000], &mut stream(23)));
    let mean = draws.iter().sum::<f64>() / 10_000.0;
    assert!(
        (mean - 5000.0).abs() < 6.5 * (5000f64 / 10_000.0).sqrt(),
        "{mean}"
    );
}

/// A uniform of 0 is below no probability of 0.
#[test]
fn what_is_impossible_does_not_happen_once_in_2_to_the_53() {
    struct Zero;
    impl Draws for Zero {
        fn uniform(&mut self) -> f64 {
            0.0
        }

        fn normal(&mut self) -> f64 {
            0.0
        }

        fn gamma(&mut self, _: f64) -> f64 {
            0.0
        }

        fn beta(&mut self, _: f64, _: f64) -> f64 {
            0.0
        }
    }
    assert_eq!(read(binomial(20.0, -800.0).sample([1], &mut Zero)), [0.0]);
}

#[test]
fn draws_of_impossible_parameters_are_not_numbers() {
    for rate in [-1.0, f64::NAN, f64::INFINITY] {
        assert!(read(poisson(rate).sample([1], &mut stream(22)))[0].is_nan());
        assert!(read(binomial(rate, 0.0).sample([1], &mut stream(22)))[0].is_nan());
    }
    assert_eq!(read(poisson(0.0).sample([1], &mut stream(22))), [0.0]);
    assert_eq!(
        read(binomial(50.0, 800.0).sample([1], &mut stream(22))),
        [50.0]
    );
}

/// In f32, relative to its own size, where softplus(a) − a σ(a) would lose all digits from a = 12 on.
#[test]
fn the_entropy_of_a_bit_is_exact_to_the_precision_of_f32() {
    for a in [-40.0f32, -15.0, -3.0, 0.0, 0.5, 10.0, 12.0, 20.0, 60.0] {
        let data = TensorData::new(vec![a], [1, 1]);
        let logits = Tensor::<Flex, 2>::from_data(data, (&Device::<Flex>::default(), DType::F32));
        let found = Bernoulli::new(logits)
            .entropy()
            .into_data()
            .to_vec::<f32>()
            .unwrap()[0];
        let size = f64::from(a).abs();
        let expected = (-size).exp().ln_1p() + size / (1.0 + size.exp());
        let off = (f64::from(found) / expected - 1.0).abs();
        assert!(off < 2e-6, "{a}: {found}, not {expected}");
    }
}
