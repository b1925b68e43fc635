//! Draws follow the laws whose densities are claimed: Kolmogorov's test, whose false-alarm rate holds at every sample size.

use burn::tensor::Tensor;
use burn_flex::Flex;
use helmholtz_distributions::{Beta, Gamma, LogProb, Normal, NormalGamma, SampleReal};
use helmholtz_invariance::{Report, Share, Unbiased, ks_one_sample};
use helmholtz_ops::cat;

use crate::SUITE;
use crate::numbers::{beta_cdf, column, gamma_cdf, read, stream, tensor};

const DRAWS: usize = 10_000;

fn row(x: &[f64]) -> Tensor<Flex, 2> {
    tensor(x, [1, x.len()])
}

fn gamma(parameters: &[(f64, f64)]) -> Gamma<Flex, 2> {
    let (shape, rate): (Vec<f64>, Vec<f64>) = parameters.iter().copied().unzip();
    Gamma {
        shape: row(&shape),
        rate: row(&rate),
    }
}

/// P(X ≤ x) of draws that are raised to the least.
fn raised_gamma_cdf(shape: f64, rate: f64) -> impl Fn(f64) -> f64 {
    let cdf = gamma_cdf(shape);
    move |x| match x < Gamma::<Flex, 2>::LEAST {
        true => 0.0,
        false => cdf(rate * x),
    }
}

/// Φ(z) = ½ ± ½ P(G_{1/2} ≤ z²/2).
fn normal_cdf() -> impl Fn(f64) -> f64 {
    let half_square = gamma_cdf(0.5);
    move |z| match z == 0.0 {
        true => 0.5,
        false => 0.5 + 0.5 * z.signum() * half_square(0.5 * z * z),
    }
}

/// Column i of the draws against the i-th distribution function.
fn test_columns(
    draws: &Tensor<Flex, 2>,
    cdfs: Vec<Box<dyn Fn(f64) -> f64>>,
    share: Share,
) -> Vec<Report> {
    share
        .split(cdfs.len())
        .into_iter()
        .zip(cdfs)
        .enumerate()
        .map(|(i, (share, cdf))| ks_one_sample(&column(draws, i), cdf, share).unwrap())
        .collect()
}

fn passed(reports: Vec<Report>) {
    reports.iter().for_each(Report::assert_passed);
}

#[test]
fn normal_draws() {
    let parameters = [(0.0, 1.0), (-3.0, 0.2), (1e4, 50.0)];
    let normal = Normal {
        mean: row(&parameters.map(|(mean, _)| mean)),
        deviation: row(&parameters.map(|(_, deviation)| deviation)),
    };
    let draws = normal.sample([DRAWS, 3], &mut stream(1));
    let cdf = |(mean, deviation)| -> Box<dyn Fn(f64) -> f64> {
        let cdf = normal_cdf();
        Box::new(move |x| cdf((x - mean) / deviation))
    };
    let share = SUITE.share("normal").unwrap();
    passed(test_columns(&draws, parameters.map(cdf).into(), share));
}

const GAMMAS: [(f64, f64); 6] = [
    (0.01, 1.0),
    (0.3, 2.0),
    (1.0, 1.0),
    (2.0, 8.0),
    (35.5, 4.0),
    (1e6, 3.0),
];

fn gamma_cdfs() -> Vec<Box<dyn Fn(f64) -> f64>> {
    let cdf =
        |(shape, rate)| -> Box<dyn Fn(f64) -> f64> { Box::new(raised_gamma_cdf(shape, rate)) };
    GAMMAS.map(cdf).into()
}

#[test]
fn gamma_draws() {
    let draws = gamma(&GAMMAS).sample([DRAWS, GAMMAS.len()], &mut stream(2));
    passed(test_columns(
        &draws,
        gamma_cdfs(),
        SUITE.share("gamma").unwrap(),
    ));
}

#[test]
fn gamma_draws_whose_rate_is_read_as_a_scale_are_found_out() {
    let scales = GAMMAS.map(|(shape, rate)| (shape, 1.0 / rate));
    let draws = gamma(&scales).sample([DRAWS, GAMMAS.len()], &mut stream(3));
    let share = SUITE.share("gamma by scale").unwrap();
    for (report, (_, rate)) in test_columns(&draws, gamma_cdfs(), share).iter().zip(GAMMAS) {
        match rate == 1.0 {
            true => report.assert_passed(),
            false => report.assert_failed(),
        }
    }
}

const BETAS: [(f64, f64); 5] = [
    (4.54e-5, 4.54e-5), // e^−10
    (0.5, 0.5),
    (1.0, 1.0),
    (2.0, 5.0),
    (30.0, 12.0),
];

fn beta_reports(parameters: [(f64, f64); 5], test: u64, share: Share) -> Vec<Report> {
    const MARGIN: f64 = Beta::<Flex, 2>::MARGIN;
    let beta = Beta {
        a: row(&parameters.map(|(a, _)| a)),
        b: row(&parameters.map(|(_, b)| b)),
    };
    let draws = beta.sample([DRAWS, 5], &mut stream(test));
    let cdf = |(a, b)| -> Box<dyn Fn(f64) -> f64> {
        let cdf = beta_cdf(a, b);
        Box::new(move |x| match x {
            x if x < MARGIN => 0.0,
            x if x >= 1.0 - MARGIN => 1.0,
            x => cdf(x),
        })
    };
    test_columns(&draws, BETAS.map(cdf).into(), share)
}

#[test]
fn beta_draws() {
    passed(beta_reports(BETAS, 4, SUITE.share("beta").unwrap()));
}

#[test]
fn beta_draws_with_exchanged_parameters_are_found_out() {
    let exchanged = BETAS.map(|(a, b)| (b, a));
    let reports = beta_reports(exchanged, 5, SUITE.share("beta exchanged").unwrap());
    reports[..3].iter().for_each(Report::assert_passed);
    reports[3..].iter().for_each(Report::assert_failed);
}

fn normal_gamma() -> NormalGamma<Flex, 2> {
    NormalGamma {
        mean: row(&[1.5]),
        nu: row(&[0.3]),
        alpha: row(&[2.5]),
        beta: row(&[0.7]),
    }
}

/// τ is a gamma and (μ − μ₀) √(ν τ) a standard normal.
#[test]
fn normal_gamma_draws() {
    let law = normal_gamma();
    let (mu, tau) = law.sample([DRAWS, 1], &mut stream(6));
    let z = (mu - law.mean) * (tau.clone() * law.nu).sqrt();
    let draws = cat(vec![tau, z], 1);
    let cdfs: Vec<Box<dyn Fn(f64) -> f64>> =
        vec![Box::new(raised_gamma_cdf(2.5, 0.7)), Box::new(normal_cdf())];
    let share = SUITE.share("normal-gamma").unwrap();
    passed(test_columns(&draws, cdfs, share));
}

/// E τ = α/β, E ln τ = ψ(α) − ln β, E √τ (μ − μ₀) = 0 and E τ (μ − μ₀)² = 1/ν: together, and that μ is not drawn with
/// another element's τ. All moments of these are finite: they are of gamma and independent normal variables. And the mean of
/// −ln p is the entropy.
#[test]
fn moments_of_normal_gamma_draws() {
    use helmholtz_distributions::{Entropy, Mean};
    let law = normal_gamma();
    let log_mean = helmholtz_ops::digamma(law.alpha.clone()) - law.beta.clone().log();
    let exact = [
        read(law.precision().mean())[0],
        read(log_mean)[0],
        0.0,
        1.0 / 0.3,
        read(law.entropy())[0],
    ];
    let report = Unbiased::new(&exact).samples(2000).test(
        |stream, out| {
            let (mu, tau) = law.sample([20, 1], stream);
            let apart = mu.clone() - law.mean.clone();
            let functions = [
                tau.clone(),
                tau.clone().log(),
                tau.clone().sqrt() * apart.clone(),
                tau.clone() * apart.square(),
                law.log_prob((mu, tau)).neg(),
            ];
            for (out, function) in out.iter_mut().zip(functions) {
                *out = read(function.mean())[0];
            }
        },
        SUITE.share("normal-gamma moments").unwrap(),
    );
    report.unwrap().assert_passed();
}
