//! Log-densities, entropies and divergences against central differences, in parameters and values.

use burn::backend::Autodiff;
use burn::tensor::Tensor;
use burn_flex::Flex;
use helmholtz_distributions::{Beta, Entropy, Gamma, LogProb, Normal, NormalGamma};

use crate::numbers::{read, tensor};

type Argument = Tensor<Autodiff<Flex>, 1>;

/// Holds the gradient of Σ c f in each argument, of three elements, to four-point differences: 1e-7 of itself.
fn check<const N: usize>(
    point: [[f64; 3]; N],
    f: impl Fn([Argument; N]) -> Argument,
) -> Result<(), String> {
    const H: f64 = 1e-3;
    let at = |point: [[f64; 3]; N]| {
        let arguments = point.map(|x| tensor(&x, [3]).require_grad());
        let sum = (f(arguments.clone()) * tensor(&[1.0, -0.5, 2.0], [3])).sum();
        (arguments, sum)
    };
    let (arguments, sum) = at(point);
    let gradients = sum.backward();
    for (n, argument) in arguments.iter().enumerate() {
        let found = read(argument.grad(&gradients).ok_or("no gradient")?);
        for i in 0..3 {
            let step = |steps: f64| {
                let mut point = point;
                point[n][i] += steps * H;
                read(at(point).1)[0]
            };
            let expected = (8.0 * (step(1.0) - step(-1.0)) - (step(2.0) - step(-2.0))) / (12.0 * H);
            if (found[i] - expected).abs() > 1e-7 * (expected.abs() + 1e-2) {
                return Err(format!(
                    "argument {n}, element {i}: {}, not {expected}",
                    found[i]
                ));
            }
        }
    }
    Ok(())
}

const ANY: [f64; 3] = [-1.2, 0.4, 3.0];
const POSITIVE: [f64; 3] = [0.5, 1.7, 20.0];
const ALSO_POSITIVE: [f64; 3] = [2.2, 0.6, 1.1];
const BETWEEN: [f64; 3] = [0.15, 0.5, 0.83];

fn normal_gamma([mean, nu, alpha, beta]: [Argument; 4]) -> NormalGamma<Autodiff<Flex>, 1> {
    NormalGamma {
        mean,
        nu,
        alpha,
        beta,
    }
}

#[test]
fn of_log_densities() {
    check([ANY, POSITIVE, ALSO_POSITIVE], |[mean, deviation, x]| {
        Normal { mean, deviation }.log_prob(x)
    })
    .unwrap();
    check(
        [POSITIVE, ALSO_POSITIVE, ALSO_POSITIVE],
        |[shape, rate, x]| Gamma { shape, rate }.log_prob(x),
    )
    .unwrap();
    check([POSITIVE, ALSO_POSITIVE, BETWEEN], |[a, b, x]| {
        Beta { a, b }.log_prob(x)
    })
    .unwrap();
    check(
        [ANY, ALSO_POSITIVE, POSITIVE, POSITIVE, BETWEEN, POSITIVE],
        |[mean, nu, alpha, beta, mu, tau]| {
            normal_gamma([mean, nu, alpha, beta]).log_prob((mu, tau))
        },
    )
    .unwrap();
}

#[test]
fn of_entropies() {
    check([POSITIVE], |[deviation]| {
        let mean = deviation.zeros_like();
        Normal { mean, deviation }.entropy()
    })
    .unwrap();
    check([POSITIVE, ALSO_POSITIVE], |[shape, rate]| {
        Gamma { shape, rate }.entropy()
    })
    .unwrap();
    check([POSITIVE, ALSO_POSITIVE], |[a, b]| Beta { a, b }.entropy()).unwrap();
    check([POSITIVE, ALSO_POSITIVE, POSITIVE], |[nu, alpha, beta]| {
        let mean = nu.zeros_like();
        normal_gamma([mean, nu, alpha, beta]).entropy()
    })
    .unwrap();
}

#[test]
fn of_the_divergence() {
    check(
        [
            ANY,
            POSITIVE,
            ALSO_POSITIVE,
            BETWEEN,
            BETWEEN,
            ALSO_POSITIVE,
            POSITIVE,
            ALSO_POSITIVE,
        ],
        |[m, n, a, b, mean, nu, alpha, beta]| {
            normal_gamma([m, n, a, b]).kl(&normal_gamma([mean, nu, alpha, beta]))
        },
    )
    .unwrap();
}

/// As a neural proposal is trained: the log-density of fixed values under the posterior, in the sufficient statistics.
#[test]
fn of_a_posterior_in_its_statistics() {
    check(
        [POSITIVE, BETWEEN, [60.0, 80.0, 90.0]],
        |[count, sum, squares]| {
            let prior = normal_gamma([ANY, BETWEEN, POSITIVE, POSITIVE].map(|x| tensor(&x, [3])));
            let posterior = prior.posterior([count, sum, squares]);
            posterior.log_prob((tensor(&ANY, [3]), tensor(&POSITIVE, [3])))
        },
    )
    .unwrap();
}

#[test]
fn a_gradient_that_is_not_that_of_the_density_is_caught() {
    // The normaliser without its gradient.
    let outcome = check(
        [POSITIVE, ALSO_POSITIVE, ALSO_POSITIVE],
        |[shape, rate, x]| {
            let gamma = Gamma {
                shape: shape.clone(),
                rate: rate.clone(),
            };
            let fixed =
                helmholtz_ops::log_gamma(shape.clone()) - helmholtz_ops::log_gamma(shape.detach());
            gamma.log_prob(x) + fixed
        },
    );
    assert!(outcome.is_err());
}
