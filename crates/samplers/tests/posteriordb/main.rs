//! The documented call on posteriors of posteriordb, held against its reference draws.
//!
//! Three of the four need data from a folder `posteriordb` in the folder that the variable `HELMHOLTZ_DATA` names; without
//! them the tests say SKIPPED.

mod models;

use std::sync::atomic::{AtomicU64, Ordering};

use helmholtz_samplers::diagnostics::{Summary, summary};
use helmholtz_samplers::random::{Draws, Purpose, Stream};
use helmholtz_samplers::sampling::{Chains, Sampling};
use helmholtz_samplers::{GradientTarget, Hmc, SamplerError};
use models::{Posterior, posteriors};

const CHAINS: usize = 4;

/// Four starts, uniform on (-2, 2) in each coordinate, as Stan's.
fn starts(dimension: usize, seed: u64) -> Vec<Vec<f64>> {
    let start = |c: u64| {
        let mut stream = Stream::new(seed, Purpose::new("start"), [c, 0]);
        (0..dimension)
            .map(|_| 4.0 * stream.uniform() - 2.0)
            .collect()
    };
    (0..CHAINS as u64).map(start).collect()
}

fn with_posteriors(check: impl Fn(&dyn Posterior)) {
    let (found, missing) = posteriors();
    for name in missing {
        eprintln!("SKIPPED: $HELMHOLTZ_DATA/posteriordb/{name}.json is not there");
    }
    found.iter().for_each(|posterior| check(posterior.as_ref()));
}

#[test]
fn the_gradients_are_those_of_the_densities() {
    with_posteriors(|posterior| {
        for x in starts(posterior.dimension(), 3) {
            let mut gradient = vec![0.0; x.len()];
            posterior.log_density_and_gradient(&x, &mut gradient);
            for (i, g) in gradient.iter().enumerate() {
                let at = |shift: f64| {
                    let mut to = x.clone();
                    to[i] += shift;
                    posterior.log_density_and_gradient(&to, &mut vec![0.0; x.len()])
                };
                let numeric = (at(1e-5) - at(-1e-5)) / 2e-5;
                let off = (g - numeric).abs() / (1.0 + g.abs());
                assert!(off < 1e-6, "{} {i}: {g}, {numeric}", posterior.name());
            }
        }
    });
}

/// The chains of the documented call, and how many gradients the draws took.
fn chains(posterior: &dyn Posterior, seed: u64) -> Result<(Chains<Vec<f64>>, f64), SamplerError> {
    let (counted, of_warm_up) = (AtomicU64::new(0), AtomicU64::new(0));
    let target = |x: &[f64], gradient: &mut [f64]| {
        counted.fetch_add(1, Ordering::Relaxed);
        posterior.log_density_and_gradient(x, gradient)
    };
    let tune = |_, x: &mut Vec<f64>, stream: &mut Stream| {
        let before = counted.load(Ordering::Relaxed);
        let hmc = Hmc::new(target, 0.1, 10)?.warm_up(0.8, 1000, x, stream)?;
        of_warm_up.fetch_add(counted.load(Ordering::Relaxed) - before, Ordering::Relaxed);
        Ok(hmc)
    };
    let sampling = Sampling::new(seed, 1000).threads(1);
    let chains = sampling.run_tuned(tune, starts(posterior.dimension(), seed))?;
    let gradients = counted.load(Ordering::Relaxed) - of_warm_up.load(Ordering::Relaxed);
    println!(
        "{}: {} gradients of warm-up, {gradients} of draws, acceptance {:.2}",
        posterior.name(),
        of_warm_up.load(Ordering::Relaxed),
        chains.info().acceptance_rate().unwrap_or(f64::NAN),
    );
    Ok((chains, gradients as f64))
}

/// The summaries of one parameter, and of its squared distance from `centre`.
fn of_parameter(
    posterior: &dyn Posterior,
    chains: &Chains<Vec<f64>>,
    index: usize,
    centre: f64,
) -> [Summary; 2] {
    let value = |x: &Vec<f64>| {
        let mut parameters = Vec::new();
        posterior.parameters(x, &mut parameters);
        parameters[index]
    };
    let of = |f: &dyn Fn(f64) -> f64| {
        summary(&chains.quantity(|x| f(value(x)))).expect("draws that vary")
    };
    [of(&|v| v), of(&|v| (v - centre).powi(2))]
}

/// Forty-six comparisons at 5.5 standard errors each: 2e-6 in all, if the errors are normal. The reference draws count as
/// 10,000 independent ones, which their makers thinned them to be.
const ERRORS: f64 = 5.5;

#[test]
fn means_and_deviations_are_those_of_the_reference_draws() {
    with_posteriors(|posterior| {
        let (chains, gradients) = chains(posterior, 1).expect("chains");
        let mut least = f64::INFINITY;
        for (i, (name, mean, sd)) in posterior.reference().iter().enumerate() {
            let [value, square] = of_parameter(posterior, &chains, i, *mean);
            let errors = |found: Summary, expected: f64| {
                let of_reference = found.sd / 10_000f64.sqrt();
                (found.mean - expected) / found.monte_carlo_error.hypot(of_reference)
            };
            let off = [errors(value, *mean), errors(square, sd * sd)];
            println!(
                "{name}: {:.4} ± {:.4} ({mean}), {:.4} ({sd}), {off:.1?} errors, R̂ {:.4}, ess {:.0} {:.0}",
                value.mean,
                value.monte_carlo_error,
                value.sd,
                value.r_hat,
                value.bulk_ess,
                value.tail_ess,
            );
            assert!(off.iter().all(|z| z.abs() < ERRORS), "{name}: {off:?}");
            assert!(value.r_hat < 1.01, "{name}: {}", value.r_hat);
            least = least.min(value.bulk_ess);
        }
        println!(
            "{:.1} effective draws per 1000 gradients",
            1000.0 * least / gradients
        );
    });
}

/// Twin: chains of the posterior to the power of 0.6.
#[test]
fn a_posterior_that_is_too_wide_is_found() {
    struct Tempered<'a>(&'a dyn Posterior);
    impl GradientTarget for Tempered<'_> {
        fn log_density_and_gradient(&self, x: &[f64], gradient: &mut [f64]) -> f64 {
            let log_p = self.0.log_density_and_gradient(x, gradient);
            gradient.iter_mut().for_each(|g| *g *= 0.6);
            0.6 * log_p
        }
    }
    let (found, _) = posteriors();
    let schools = found[0].as_ref();
    let tune = |_, x: &mut Vec<f64>, stream: &mut Stream| {
        Hmc::new(Tempered(schools), 0.1, 10)?.warm_up(0.8, 1000, x, stream)
    };
    let chains = Sampling::new(1, 1000)
        .run_tuned(tune, starts(schools.dimension(), 1))
        .expect("chains");
    let worst = |(i, (_, mean, sd)): (usize, &models::Reference)| {
        let [_, square] = of_parameter(schools, &chains, i, *mean);
        let error = square.monte_carlo_error.hypot(square.sd / 100.0);
        (square.mean - sd * sd).abs() / error
    };
    let worst = schools.reference().iter().enumerate().map(worst);
    let worst = worst.fold(0.0, f64::max);
    assert!(worst > ERRORS, "{worst}");
}
