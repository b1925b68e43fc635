//! The Laplace and Student distributions: densities, entropies, draws, gradients.

use burn::tensor::Tensor;
use burn_flex::Flex;
use helmholtz_distributions::{Entropy, Laplace, LogProb, Mean, SampleReal, Student};
use helmholtz_invariance::ks_one_sample;

use crate::SUITE;
use crate::numbers::{assert_close, beta_cdf, column, read, stream, tensor, vector};

fn student(freedom: f64) -> Student<Flex, 1> {
    Student {
        freedom: vector(&[freedom]),
        location: vector(&[0.5]),
        scale: vector(&[2.0]),
    }
}

/// ∫ p and −∫ p ln p by the trapezoidal rule in t, x = ½ + 2 sinh t; the tails fall as e^(−ν t).
#[test]
fn the_student_density_integrates_to_one_and_has_its_entropy() {
    for freedom in [1.0, 2.5, 8.0, 100.0] {
        let law = student(freedom);
        let t: Vec<f64> = (-4000..=4000).map(|i| 0.01 * f64::from(i)).collect();
        let x: Vec<f64> = t.iter().map(|t| 0.5 + 2.0 * t.sinh()).collect();
        let log_p = read(law.log_prob(vector(&x)));
        let terms = t.iter().zip(&log_p).map(|(t, l)| {
            let mass = (l + (2.0 * t.cosh()).ln()).exp() * 0.01;
            (mass, -l * mass)
        });
        let (mass, entropy) = terms.fold((0.0, 0.0), |s, t| (s.0 + t.0, s.1 + t.1));
        assert_close(&[mass, entropy], &[1.0, read(law.entropy())[0]], 1e-10, 0.0);
    }
    // The Cauchy density at its centre: 1 / (π σ).
    let centre = read(student(1.0).log_prob(vector(&[0.5])))[0];
    assert!((centre + (2.0 * std::f64::consts::PI).ln()).abs() < 1e-13);
}

#[test]
fn the_laplace_density_and_its_entropy_by_hand() {
    let law = Laplace::<Flex, 1> {
        mean: vector(&[1.0]),
        scale: vector(&[0.5]),
    };
    let found = read(law.log_prob(vector(&[1.0, 2.0, 0.0])));
    assert_close(&found, &[0.0, -2.0, -2.0], 1e-15, 1.0);
    assert_eq!(read(law.mean()), [1.0]);
    assert_close(&read(law.entropy()), &[1.0], 1e-15, 0.0);
}

const DRAWS: usize = 10_000;

#[test]
fn laplace_draws() {
    let law = Laplace::<Flex, 2> {
        mean: tensor(&[-3.0], [1, 1]),
        scale: tensor(&[0.2], [1, 1]),
    };
    let draws = column(&law.sample([DRAWS, 1], &mut stream(30)), 0);
    let cdf = |x: f64| {
        let z = (x + 3.0) / 0.2;
        if z < 0.0 {
            0.5 * z.exp()
        } else {
            1.0 - 0.5 * (-z).exp()
        }
    };
    ks_one_sample(&draws, cdf, SUITE.share("laplace").unwrap())
        .unwrap()
        .assert_passed();
}

/// P(|T| ≤ z) is that of a beta variable of (½, ν/2) at z² / (ν + z²).
#[test]
fn student_draws() {
    let parameters = [1.0, 3.0, 30.0];
    let freedom: Tensor<Flex, 2> = tensor(&parameters, [1, 3]);
    let law = Student {
        location: freedom.clone() * 0.0 + 7.0,
        scale: freedom.clone() * 0.0 + 0.1,
        freedom,
    };
    let draws = law.sample([DRAWS, 3], &mut stream(31));
    let shares = SUITE.share("student").unwrap().split(3);
    for (i, (freedom, share)) in parameters.into_iter().zip(shares).enumerate() {
        let beta = beta_cdf(0.5, 0.5 * freedom);
        let cdf = |x: f64| {
            let z = (x - 7.0) / 0.1;
            let within = if z == 0.0 {
                0.0
            } else {
                beta(z * z / (freedom + z * z))
            };
            0.5 + 0.5 * z.signum() * within
        };
        ks_one_sample(&column(&draws, i), cdf, share)
            .unwrap()
            .assert_passed();
    }
}
