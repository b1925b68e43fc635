//! Each density integrates to 1, and its mean and entropy are those that are claimed.
//!
//! The trapezoidal rule on the whole line is exact to rounding for these integrands, which are smooth and vanish at both ends.

use burn::tensor::Tensor;
use burn_flex::Flex;
use helmholtz_distributions::{Beta, Entropy, Gamma, LogProb, Mean, Normal, NormalGamma};

use crate::numbers::{assert_close, read, vector};

type Vector = Tensor<Flex, 1>;

/// ∫ p, ∫ x p and −∫ p ln p, for x(t) with derivative `slope(x)`, t from `from` to `to`.
fn integrals(
    distribution: &impl LogProb<Flex, 1, Value = Vector>,
    x: impl Fn(f64) -> f64,
    slope: impl Fn(f64) -> f64,
    (from, to): (f64, f64),
) -> [f64; 3] {
    const STEP: f64 = 0.02;
    let points = ((to - from) / STEP) as usize;
    let x: Vec<f64> = (0..points).map(|i| x(from + STEP * i as f64)).collect();
    let log_prob = read(distribution.log_prob(vector(&x)));
    let terms = x.iter().zip(log_prob).map(|(&x, log_p)| {
        let mass = log_p.exp() * slope(x) * STEP;
        [mass, x * mass, -log_p * mass]
    });
    terms.fold([0.0; 3], |sum, term| {
        std::array::from_fn(|i| sum[i] + term[i])
    })
}

#[track_caller]
fn check<D>(distribution: &D, integrals: [f64; 3])
where
    D: Mean<Flex, 1> + Entropy<Flex, 1>,
{
    let (mean, entropy) = (read(distribution.mean()), read(distribution.entropy()));
    assert_close(&integrals, &[1.0, mean[0], entropy[0]], 1e-11, 1.0);
}

#[test]
fn a_normal_is_normalised() {
    for (mean, deviation) in [(0.0, 1.0), (-3.0, 0.2), (50.0, 20.0)] {
        let normal = Normal {
            mean: vector(&[mean]),
            deviation: vector(&[deviation]),
        };
        let x = |t| mean + deviation * t;
        check(&normal, integrals(&normal, x, |_| deviation, (-12.0, 12.0)));
    }
}

fn gamma(shape: f64, rate: f64) -> Gamma<Flex, 1> {
    Gamma {
        shape: vector(&[shape]),
        rate: vector(&[rate]),
    }
}

#[test]
fn a_gamma_is_normalised_and_its_second_parameter_is_a_rate() {
    for (shape, rate) in [(2.0, 8.0), (0.5, 0.1), (30.0, 2.0), (1.0, 1.0)] {
        let gamma = gamma(shape, rate);
        let range = (-80.0, ((shape + 200.0) / rate).ln());
        let integrals = integrals(&gamma, f64::exp, |x| x, range);
        check(&gamma, integrals);
        assert_close(&integrals[1..2], &[shape / rate], 1e-11, 0.0);
    }
    let at_half = read(gamma(2.0, 8.0).log_prob(vector(&[0.5])));
    assert_close(&at_half, &[2.0 * 8f64.ln() - 2f64.ln() - 4.0], 1e-14, 0.0);
}

#[test]
fn a_rate_read_as_a_scale_is_another_density() {
    let (right, wrong) = (gamma(2.0, 8.0), gamma(2.0, 1.0 / 8.0));
    let mean = integrals(&wrong, f64::exp, |x| x, (-80.0, 8.0))[1];
    assert!((mean - read(right.mean())[0]).abs() > 1.0);
}

#[test]
fn a_beta_is_normalised() {
    for (a, b) in [(2.5, 4.0), (0.5, 3.0), (30.0, 2.0)] {
        let beta = Beta {
            a: vector(&[a]),
            b: vector(&[b]),
        };
        let logistic = |t: f64| 1.0 / (1.0 + (-t).exp());
        check(
            &beta,
            integrals(&beta, logistic, |x| x * (1.0 - x), (-90.0, 34.0)),
        );
    }
}

#[test]
fn a_normal_gamma_is_normalised() {
    let (mean, nu, alpha, beta) = (1.5, 0.3, 2.5, 0.7);
    let law = NormalGamma {
        mean: vector(&[mean]),
        nu: vector(&[nu]),
        alpha: vector(&[alpha]),
        beta: vector(&[beta]),
    };
    // τ = e^t, μ = μ₀ + z / √(ν τ).
    let (mut mus, mut taus, mut slopes) = (Vec::new(), Vec::new(), Vec::new());
    for i in 0..700 {
        let tau = (0.05 * f64::from(i) - 30.0).exp();
        for j in -60..=60 {
            let deviation = 1.0 / (nu * tau).sqrt();
            mus.push(mean + 0.15 * f64::from(j) * deviation);
            taus.push(tau);
            slopes.push(0.05 * tau * 0.15 * deviation);
        }
    }
    let log_prob = read(law.log_prob((vector(&mus), vector(&taus))));
    let integral = |f: &dyn Fn(usize) -> f64| -> f64 {
        (0..mus.len())
            .map(|i| log_prob[i].exp() * slopes[i] * f(i))
            .sum()
    };
    let found = [
        integral(&|_| 1.0),
        integral(&|i| mus[i]),
        integral(&|i| taus[i]),
        integral(&|i| -log_prob[i]),
    ];
    let entropy = read(law.entropy())[0];
    assert_close(&found, &[1.0, mean, alpha / beta, entropy], 1e-10, 1.0);
}

/// The prior of the Gaussian mixture, three clusters in two dimensions: −5.304 nats of τ and −16.232 of μ given τ.
#[test]
fn the_entropy_of_the_mixture_prior_is_the_known_one() {
    let prior = NormalGamma {
        mean: vector(&[0.0]),
        nu: vector(&[0.1]),
        alpha: vector(&[2.0]),
        beta: vector(&[2.0]),
    };
    let tau = read(prior.precision().entropy())[0];
    let both = read(prior.entropy())[0];
    assert!((6.0 * tau - 5.304).abs() < 5e-4);
    assert!((6.0 * (both - tau) - 16.232).abs() < 5e-4);
}

/// Against values computed by mpmath with 60 digits.
#[test]
fn entropies_are_right_for_tiny_and_huge_shapes() {
    let found =
        [(1e-3, 1.0), (1e6, 1.0)].map(|(shape, rate)| read(gamma(shape, rate).entropy())[0]);
    assert_close(&found[..1], &[-992.6668174744946], 1e-12, 0.0);
    // Terms of 1e7 cancel.
    assert_close(&found[1..], &[8.326693478853393], 1e-9, 0.0);
    let beta = Beta {
        a: vector(&[1e-3, 1e3]),
        b: vector(&[2e-3, 3e3]),
    };
    assert_close(
        &read(beta.entropy()),
        &[-825.0250288947633, -3.5653106969305544],
        1e-11,
        0.0,
    );
}
