//! The Dirichlet and the multivariate normal distribution: densities by quadrature and by hand, entropies, draws, gradients.

use burn::backend::Autodiff;
use burn::tensor::Tensor;
use burn_flex::Flex;
use helmholtz_distributions::{
    Beta, Dirichlet, Entropy, LogProb, Mean, MultivariateNormal, Normal, SampleReal,
};
use helmholtz_invariance::ks_one_sample;

use crate::SUITE;
use crate::numbers::{assert_close, beta_cdf, column, gamma_cdf, read, stream, tensor};

fn dirichlet(alpha: &[f64]) -> Dirichlet<Flex, 2> {
    Dirichlet {
        concentration: tensor(alpha, [1, alpha.len()]),
    }
}

/// ∫ p, ∫ x_1 p and −∫ p ln p over the triangle, by the trapezoidal rule in logits (s, t) of (x_1, x_2, x_3).
#[test]
fn a_dirichlet_is_normalised_and_has_its_mean_and_entropy() {
    for alpha in [[2.0, 3.0, 1.5], [0.7, 1.0, 4.0]] {
        let law = dirichlet(&alpha);
        const STEP: f64 = 0.2;
        let axis = || (-350..=350).map(|i| STEP * f64::from(i));
        let points = axis().flat_map(|s| axis().map(move |t| (s, t)));
        let logs: Vec<[f64; 3]> = points
            .filter(|(s, t)| s.abs().max(t.abs()) < 60.0)
            .map(|(s, t)| {
                let largest = s.max(t).max(0.0);
                let sum = (s - largest).exp() + (t - largest).exp() + (-largest).exp();
                [s, t, 0.0].map(|l| l - largest - sum.ln())
            })
            .collect();
        let x: Vec<f64> = logs.iter().flatten().map(|l| l.exp()).collect();
        let log_p = read(law.log_prob(tensor(&x, [logs.len(), 3])));
        // The Jacobian of the shares by the logits is x_1 x_2 x_3.
        let terms = logs.iter().zip(log_p).map(|(l, log_p)| {
            let mass = (log_p + l.iter().sum::<f64>()).exp() * STEP * STEP;
            [mass, l[0].exp() * mass, -log_p * mass]
        });
        let sums = terms.fold([0.0; 3], |sum, term| {
            std::array::from_fn(|i| sum[i] + term[i])
        });
        let expected = [1.0, read(law.mean())[0], read(law.entropy())[0]];
        assert_close(&sums, &expected, 1e-9, 1e-3);
    }
}

#[test]
fn of_two_shares_it_is_the_beta_distribution() {
    let (a, b) = (0.6, 2.5);
    let beta = Beta::<Flex, 2> {
        a: tensor(&[a], [1, 1]),
        b: tensor(&[b], [1, 1]),
    };
    for x in [0.01, 0.3, 0.9] {
        let own = read(dirichlet(&[a, b]).log_prob(tensor(&[x, 1.0 - x], [1, 2])));
        assert_close(&own, &read(beta.log_prob(tensor(&[x], [1, 1]))), 1e-13, 0.0);
    }
    let entropies = [read(dirichlet(&[a, b]).entropy()), read(beta.entropy())];
    assert_close(&entropies[0], &entropies[1], 1e-12, 0.1);
}

const DRAWS: usize = 10_000;

/// x_k is a beta variable of (α_k, α_0 − α_k). Twin: the law with one concentration for the sum of the others.
#[test]
fn dirichlet_draws() {
    let alpha = [0.3, 2.0, 5.0];
    let draws = dirichlet(&alpha).sample([DRAWS, 3], &mut stream(40));
    let sums = read(draws.clone().sum_dim(1));
    assert_close(&sums, &[1.0; DRAWS], 1e-12, 0.0);
    let shares = SUITE.share("dirichlet").unwrap().split(4);
    for (k, share) in shares.into_iter().enumerate() {
        let total: f64 = alpha.iter().sum();
        let (own, rest) = match k {
            3 => (alpha[2], total),
            k => (alpha[k], total - alpha[k]),
        };
        let report = ks_one_sample(&column(&draws, k.min(2)), beta_cdf(own, rest), share).unwrap();
        match k {
            3 => report.assert_failed(),
            _ => report.assert_passed(),
        }
    }
    // Where gamma variates themselves would be 0.
    let small = read(dirichlet(&[1e-4; 5]).sample([200, 5], &mut stream(41)));
    assert!(small.iter().all(|x| (1e-30..=1.0).contains(x)));
    let decided = small.chunks(5).filter(|row| row.iter().any(|x| *x > 0.99));
    assert!(decided.count() > 190);
    let impossible = dirichlet(&[-1.0, 2.0]).sample([1, 2], &mut stream(42));
    assert!(read(impossible).iter().all(|x| x.is_nan()));
}

const FACTOR: [f64; 9] = [2.0, f64::NAN, f64::NAN, -0.7, 0.5, f64::NAN, 1.1, 0.3, 1.4];
const MEAN: [f64; 3] = [1.0, -2.0, 0.5];

fn normal() -> MultivariateNormal<Flex> {
    MultivariateNormal {
        mean: tensor(&MEAN, [1, 3]),
        factor: tensor(&FACTOR, [1, 3, 3]),
    }
}

/// One coordinate after the other: x_i given those before is N(μ_i + Σ_j L_ij z_j, L_ii²).
#[test]
fn a_multivariate_normal_is_the_product_of_its_conditionals() {
    let values = [[0.3, -1.0, 4.0], [1.0, -2.0, 0.5], [-7.0, 0.0, 2.0]];
    let found = read(normal().log_prob(tensor(&values.concat(), [3, 3])));
    for (x, found) in values.iter().zip(found) {
        let (mut log_p, mut z) = (0.0, Vec::new());
        for i in 0..3 {
            let row = &FACTOR[3 * i..3 * i + 3];
            let centre: f64 = MEAN[i] + row.iter().zip(&z).map(|(l, z)| l * z).sum::<f64>();
            let law = Normal::<Flex, 2> {
                mean: tensor(&[centre], [1, 1]),
                deviation: tensor(&[row[i]], [1, 1]),
            };
            log_p += read(law.log_prob(tensor(&[x[i]], [1, 1])))[0];
            z.push((x[i] - centre) / row[i]);
        }
        assert_close(&[found], &[log_p], 1e-13, 0.1);
    }
    assert_eq!(read(normal().mean()), MEAN);
    // −E ln p is −ln p where Σ z² is its mean, K: at x = μ + L (1, 1, 1).
    let at = [MEAN[0] + 2.0, MEAN[1] - 0.2, MEAN[2] + 2.8];
    let expected = -read(normal().log_prob(tensor(&at, [1, 3])))[0];
    assert_close(&read(normal().entropy()), &[expected], 1e-13, 0.0);
}

/// A factor a row, means for all, and the other way round.
#[test]
fn rows_are_broadcast() {
    let factors: Vec<f64> = [1.0, 2.0]
        .iter()
        .flat_map(|s| FACTOR.map(|l| s * l))
        .collect();
    let both = MultivariateNormal::<Flex> {
        mean: tensor(&MEAN, [1, 3]),
        factor: tensor(&factors, [2, 3, 3]),
    };
    let x = [0.3, -1.0, 4.0];
    let of_both = read(both.log_prob(tensor(&x, [1, 3])));
    let first = read(normal().log_prob(tensor(&x, [1, 3])));
    assert_eq!(of_both.len(), 2);
    assert_close(&of_both[..1], &first, 1e-14, 0.0);
    assert_eq!(both.sample([2, 3], &mut stream(43)).dims(), [2, 3]);
    assert_eq!(read(both.entropy()).len(), 2);
}

/// a'x is N(a'μ, |L'a|²). Twin: the factor taken for the covariance.
#[test]
fn multivariate_normal_draws() {
    let draws = normal().sample([DRAWS, 3], &mut stream(44));
    let columns: Vec<Vec<f64>> = (0..3).map(|i| column(&draws, i)).collect();
    let directions = [
        [1.0, 0.0, 0.0],
        [0.0, 1.0, 0.0],
        [0.3, -2.0, 1.0],
        [1.0, 1.0, 1.0],
    ];
    let shares = SUITE.share("multivariate normal").unwrap().split(5);
    let half_square = gamma_cdf(0.5);
    for (k, share) in shares.into_iter().enumerate() {
        let a = directions[k.min(3)];
        let dot = |x: [f64; 3]| -> f64 { a.iter().zip(x).map(|(a, x)| a * x).sum() };
        let entry = |i: usize, j: usize| if j <= i { FACTOR[3 * i + j] } else { 0.0 };
        let projected = [0, 1, 2].map(|j| dot([0, 1, 2].map(|i| entry(i, j))));
        let variance: f64 = match k {
            4 => dot([0, 1, 2].map(|i| dot([0, 1, 2].map(|j| entry(i.max(j), i.min(j)))))),
            _ => projected.iter().map(|p| p * p).sum(),
        };
        let of_draw = |d: usize| dot([0, 1, 2].map(|i| columns[i][d]));
        let values: Vec<f64> = (0..DRAWS).map(of_draw).collect();
        let cdf = |x: f64| {
            let z = (x - dot(MEAN)) / variance.sqrt();
            match z == 0.0 {
                true => 0.5,
                false => 0.5 + 0.5 * z.signum() * half_square(0.5 * z * z),
            }
        };
        let report = ks_one_sample(&values, cdf, share).unwrap();
        match k {
            4 => report.assert_failed(),
            _ => report.assert_passed(),
        }
    }
}

type Ad = Autodiff<Flex>;

/// The gradient of `f` at `x` against central differences.
fn check_gradient<const D: usize>(
    x: &[f64],
    shape: [usize; D],
    f: impl Fn(Tensor<Ad, D>) -> Tensor<Ad, 2>,
) {
    let at = |x: &[f64]| f(tensor::<Ad, D>(x, shape).require_grad()).sum();
    let argument = tensor::<Ad, D>(x, shape).require_grad();
    let gradients = f(argument.clone()).sum().backward();
    let found = read(argument.grad(&gradients).expect("a gradient"));
    for i in 0..x.len() {
        let step = |by: f64| {
            let mut to = x.to_vec();
            to[i] += by;
            read(at(&to))[0]
        };
        let expected = (step(1e-5) - step(-1e-5)) / 2e-5;
        assert!(
            (found[i] - expected).abs() < 1e-7 * (1.0 + expected.abs()),
            "{i}"
        );
    }
}

#[test]
fn gradients_are_those_of_the_densities() {
    let alpha = [0.7, 2.0, 1.3];
    let shares = [0.2, 0.5, 0.3];
    let law = |concentration| Dirichlet { concentration };
    check_gradient(&alpha, [1, 3], |a| law(a).log_prob(tensor(&shares, [1, 3])));
    check_gradient(&alpha, [1, 3], |a| law(a).entropy());
    check_gradient(&shares, [1, 3], |x| law(tensor(&alpha, [1, 3])).log_prob(x));
    let factor = FACTOR.map(|l| if l.is_nan() { 0.0 } else { l });
    let x = [0.3, -1.0, 4.0];
    let law = |mean, factor| MultivariateNormal { mean, factor };
    let (mean, of_factor) = (|| tensor(&MEAN, [1, 3]), || tensor(&factor, [1, 3, 3]));
    check_gradient(&MEAN, [1, 3], |m| {
        law(m, of_factor()).log_prob(tensor(&x, [1, 3]))
    });
    check_gradient(&x, [1, 3], |x| law(mean(), of_factor()).log_prob(x));
    check_gradient(&factor, [1, 3, 3], |l| {
        law(mean(), l).log_prob(tensor(&x, [1, 3]))
    });
    check_gradient(&factor, [1, 3, 3], |l| law(mean(), l).entropy());
}
