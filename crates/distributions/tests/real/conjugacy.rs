//! The normal-gamma's algebra: natural parameters, the posterior and the evidence.

use burn::tensor::{DType, Tensor};
use burn_flex::Flex;
use helmholtz_distributions::{LogProb, Normal, NormalGamma, SampleReal};

use crate::numbers::{assert_close, read, stream, vector};

type Law = NormalGamma<Flex, 1>;

/// (μ₀, ν, α, β): that of the mixture, others with μ₀ away from 0 and from ν, and one with μ₀ = ν.
const PRIORS: [[f64; 4]; 4] = [
    [0.0, 0.1, 2.0, 2.0],
    [-1.3, 0.7, 2.5, 0.4],
    [40.0, 3.0, 0.6, 9.0],
    [0.5, 0.5, 1.0, 1.0],
];

const X: [f64; 7] = [0.3, -1.1, 2.4, 0.9, -0.2, 3.3, 1.7];

/// All once, some of them, parts of them.
const WEIGHTS: [[f64; 7]; 3] = [
    [1.0; 7],
    [1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0],
    [0.2, 0.9, 0.0, 0.4, 1.0, 0.3, 0.05],
];

fn law([mean, nu, alpha, beta]: [f64; 4]) -> Law {
    let [mean, nu, alpha, beta] = [mean, nu, alpha, beta].map(|x| vector(&[x]));
    NormalGamma {
        mean,
        nu,
        alpha,
        beta,
    }
}

fn parameters(law: &Law) -> Vec<f64> {
    let NormalGamma {
        mean,
        nu,
        alpha,
        beta,
    } = law.clone();
    [mean, nu, alpha, beta].into_iter().flat_map(read).collect()
}

fn sums(x: &[f64], weights: &[f64]) -> [f64; 3] {
    let sum = |power: i32| -> f64 { x.iter().zip(weights).map(|(x, w)| w * x.powi(power)).sum() };
    [sum(0), sum(1), sum(2)]
}

fn statistics(x: &[f64], weights: &[f64]) -> [Tensor<Flex, 1>; 3] {
    sums(x, weights).map(|sum| vector(&[sum]))
}

/// Whether Σ w_n ln p(x_n | η) + ln p(η) − ln p(η | x) is the log-evidence at each of 60 η, to 1e-12 of its largest term.
fn bayes(prior: &Law, posterior: &Law, weights: &[f64; 7], test: u64) -> Result<(), String> {
    let evidence = read(prior.log_evidence(statistics(&X, weights)))[0];
    let wide = law([0.5, 0.1, 1.0, 1.0]);
    let (mu, tau) = wide.sample([60], &mut stream(test));
    let given = Normal {
        mean: mu.clone(),
        deviation: tau.clone().sqrt().recip(),
    };
    let likelihood = X
        .iter()
        .zip(weights)
        .fold(mu.zeros_like(), |sum, (&x, &w)| {
            sum + given.log_prob(vector(&[x])) * w
        });
    let prior = read(prior.log_prob((mu.clone(), tau.clone())));
    let posterior = read(posterior.log_prob((mu, tau)));
    let terms = read(likelihood).into_iter().zip(prior).zip(posterior);
    for (i, ((likelihood, prior), posterior)) in terms.enumerate() {
        let found = likelihood + prior - posterior;
        let size = likelihood.abs() + prior.abs() + posterior.abs() + evidence.abs();
        if (found - evidence).abs() > 1e-12 * size {
            return Err(format!("η {i}: {found}, not {evidence}"));
        }
    }
    Ok(())
}

#[test]
fn joint_over_posterior_is_the_evidence_whatever_the_parameters() {
    for (p, parameters) in PRIORS.into_iter().enumerate() {
        for (w, weights) in WEIGHTS.iter().enumerate() {
            let prior = law(parameters);
            let posterior = prior.posterior(statistics(&X, weights));
            bayes(&prior, &posterior, weights, 100 + (3 * p + w) as u64).unwrap();
        }
    }
}

/// The posterior from (μ₀, ν, α, β) and the three sums.
type Update = fn([f64; 4], [f64; 3]) -> Law;

fn right(prior: [f64; 4], sums: [f64; 3]) -> Law {
    law(prior).posterior(sums.map(|sum| vector(&[sum])))
}

/// The rate of a released code, with (x̄ − ν)² for (x̄ − μ₀)².
fn released([mean, nu, alpha, beta]: [f64; 4], [count, sum, squares]: [f64; 3]) -> Law {
    let average = sum / count;
    let rate = beta
        + 0.5 * (squares - sum * average)
        + 0.5 * count * nu / (count + nu) * (average - nu).powi(2);
    NormalGamma {
        beta: vector(&[rate]),
        ..right([mean, nu, alpha, beta], [count, sum, squares])
    }
}

#[test]
fn a_rate_with_nu_in_place_of_the_mean_is_caught_unless_they_are_equal() {
    for (p, parameters) in PRIORS.into_iter().enumerate() {
        for (w, weights) in WEIGHTS.iter().enumerate() {
            let wrong = released(parameters, sums(&X, weights));
            let outcome = bayes(&law(parameters), &wrong, weights, 200 + (3 * p + w) as u64);
            let [mean, nu, ..] = parameters;
            assert_eq!(outcome.is_ok(), mean == nu, "prior {p}: {outcome:?}");
        }
    }
}

/// Moving the data and μ₀ by 12.5 moves the posterior's mean by that, and nothing else.
fn equivariant(update: Update) -> bool {
    let moved = X.map(|x| x + 12.5);
    PRIORS.into_iter().all(|[mean, nu, alpha, beta]| {
        let before = update([mean, nu, alpha, beta], sums(&X, &WEIGHTS[2]));
        let after = update([mean + 12.5, nu, alpha, beta], sums(&moved, &WEIGHTS[2]));
        let expected = NormalGamma {
            mean: before.mean + 12.5,
            ..before
        };
        (parameters(&after).iter().zip(parameters(&expected)))
            .all(|(after, expected)| (after - expected).abs() <= 1e-12 * expected.abs())
    })
}

#[test]
fn the_posterior_moves_with_its_data_and_the_released_rate_does_not() {
    assert!(equivariant(right));
    assert!(!equivariant(released));
}

#[test]
fn one_observation_after_another_is_all_at_once() {
    for prior in PRIORS.map(law) {
        for weights in &WEIGHTS {
            let all = prior.posterior(statistics(&X, weights));
            let evidence = read(prior.log_evidence(statistics(&X, weights)))[0];
            let (mut now, mut sum) = (prior.clone(), 0.0);
            for (x, w) in X.iter().zip(weights) {
                let one = || statistics(&[*x], &[*w]);
                sum += read(now.log_evidence(one()))[0];
                now = now.posterior(one());
            }
            assert_close(&parameters(&now), &parameters(&all), 1e-12, 0.0);
            assert_close(&[sum], &[evidence], 1e-12, 1.0);
        }
    }
}

#[test]
fn without_observations_the_posterior_is_the_prior_in_the_same_bits() {
    for dtype in [DType::F32, DType::F64] {
        let cast = |law: Law| NormalGamma {
            mean: law.mean.cast(dtype),
            nu: law.nu.cast(dtype),
            alpha: law.alpha.cast(dtype),
            beta: law.beta.cast(dtype),
        };
        for prior in PRIORS.map(law).map(cast) {
            let nothing = || [0.0; 3].map(|zero| vector(&[zero]).cast(dtype));
            let posterior = prior.posterior(nothing());
            assert_eq!(parameters(&posterior), parameters(&prior));
            assert_eq!(read(prior.log_evidence(nothing())), [0.0]);
        }
    }
}

#[test]
fn natural_parameters_there_and_back() {
    for parameters_ in PRIORS {
        let law = law(parameters_);
        let back = NormalGamma::from_natural(law.natural());
        assert_close(&parameters(&back), &parameters_, 1e-12, 0.0);
    }
}

/// ln p(η) − ln p(η') = λ · (T(η) − T(η')) with T = (ln τ, τ, τ μ, τ μ²); and the posterior adds its statistics to λ.
#[test]
fn natural_parameters_are_those_of_the_density_and_the_posterior_adds_to_them() {
    for (p, prior) in PRIORS.map(law).into_iter().enumerate() {
        let (mu, tau) = law([0.5, 0.1, 1.0, 1.0]).sample([50], &mut stream(300 + p as u64));
        let features = [
            tau.clone().log(),
            tau.clone(),
            tau.clone() * mu.clone(),
            tau.clone() * mu.clone().square(),
        ];
        let product = prior.natural().into_iter().zip(features);
        let product = read(product.map(|(l, t)| l * t).reduce(|a, b| a + b).unwrap());
        let log_prob = read(prior.log_prob((mu, tau)));
        let norms: Vec<f64> = log_prob.iter().zip(&product).map(|(a, b)| a - b).collect();
        for (norm, (a, b)) in norms.iter().zip(log_prob.iter().zip(&product)) {
            let size = a.abs() + b.abs() + norms[0].abs();
            assert!((norm - norms[0]).abs() <= 1e-12 * size);
        }

        for weights in &WEIGHTS {
            let posterior = prior.posterior(statistics(&X, weights));
            let [count, sum, squares] = sums(&X, weights);
            let added = [0.5 * count, -0.5 * squares, sum, -0.5 * count];
            for ((after, before), added) in posterior
                .natural()
                .into_iter()
                .zip(prior.natural())
                .zip(added)
            {
                let before = read(before)[0];
                assert_close(&read(after), &[before + added], 1e-12, before.abs());
            }
        }
    }
}
