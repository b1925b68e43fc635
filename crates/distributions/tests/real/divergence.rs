//! The Kullback-Leibler divergence of two normal-gammas.

use burn_flex::Flex;
use helmholtz_distributions::{LogProb, NormalGamma, SampleReal};
use helmholtz_invariance::{Report, Unbiased};
use helmholtz_random::Draws;

use crate::SUITE;
use crate::numbers::{read, stream, vector};

type Law = NormalGamma<Flex, 1>;

const LAWS: usize = 2000;

/// Laws with parameters from e^−3 to e^3 and means of that size.
fn random(test: u64) -> Law {
    let mut stream = stream(test);
    let mut size = || -> Vec<f64> {
        (0..LAWS)
            .map(|_| (6.0 * stream.uniform() - 3.0).exp())
            .collect()
    };
    let [mean, nu, alpha, beta] = std::array::from_fn(|_| vector(&size()));
    NormalGamma {
        mean: mean - 3.0,
        nu,
        alpha,
        beta,
    }
}

#[test]
fn it_is_zero_from_a_law_to_itself_and_positive_to_another() {
    let (p, q) = (random(20), random(21));
    assert!(read(p.kl(&p)).iter().all(|kl| kl.abs() <= 1e-12));
    assert!(read(p.kl(&q)).iter().all(|&kl| kl > 0.0));
    // Near p it is a square: half of what Fisher's information of α, ψ'(α), makes of a small step.
    let step = 1e-4;
    let near = NormalGamma {
        alpha: p.alpha.clone() + step,
        ..p.clone()
    };
    let expected = helmholtz_ops::trigamma(p.alpha.clone()) * (0.5 * step * step);
    for (kl, expected) in read(p.kl(&near)).into_iter().zip(read(expected)) {
        assert!(
            (kl - expected).abs() < 1e-2 * expected + 1e-13,
            "{kl}, {expected}"
        );
    }
}

/// The mean of ln p − ln q over 10⁶ draws from p, against `claimed`. Its moments are finite: polynomials in τ, ln τ and √τ μ.
fn monte_carlo(p: &Law, q: &Law, claimed: f64, name: &str) -> Report {
    let share = SUITE.share(name).unwrap();
    let mean = |stream: &mut _, out: &mut [f64]| {
        let draw = p.sample([500], stream);
        let ratio = p.log_prob(draw.clone()) - q.log_prob(draw);
        out[0] = read(ratio.mean())[0];
    };
    Unbiased::new(&[claimed])
        .samples(2000)
        .test(mean, share)
        .unwrap()
}

fn pair() -> (Law, Law) {
    let law = |[mean, nu, alpha, beta]: [f64; 4]| {
        let [mean, nu, alpha, beta] = [mean, nu, alpha, beta].map(|x| vector(&[x]));
        NormalGamma {
            mean,
            nu,
            alpha,
            beta,
        }
    };
    (law([1.2, 4.0, 5.0, 3.0]), law([0.9, 2.5, 3.5, 2.6]))
}

#[test]
fn it_is_the_mean_of_the_log_ratio() {
    let (p, q) = pair();
    let kl = read(p.kl(&q))[0];
    monte_carlo(&p, &q, kl, "divergence").assert_passed();
}

#[test]
fn the_divergence_the_other_way_round_is_not() {
    let (p, q) = pair();
    let kl = read(q.kl(&p))[0];
    monte_carlo(&p, &q, kl, "divergence backwards").assert_failed();
}
