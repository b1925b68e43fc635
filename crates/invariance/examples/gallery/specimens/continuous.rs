//! Kernels on real states.

use helmholtz_invariance::{
    Calibration, Geweke, InvarianceError, OneStep, ProbabilityCalibration, Report, Share, step_fn,
};
use helmholtz_random::{Chance, Draws, Stream};

use super::{Check, Specimen};

pub fn specimens() -> Vec<Specimen> {
    let specimen = |defect, found_by, check| Specimen {
        defect,
        found_by,
        check: Check::Sampled(check),
    };
    vec![
        specimen(
            "no Jacobian for a step on ln x",
            "one step, Kolmogorov-Smirnov",
            no_jacobian,
        ),
        specimen(
            "step size that adapts for ever",
            "30 steps, Kolmogorov-Smirnov",
            keeps_adapting,
        ),
        specimen(
            "a block drawn from its marginal, not its conditional",
            "one step, energy distance",
            marginal_for_conditional,
        ),
        specimen(
            "rate of a gamma law taken for its scale",
            "Geweke's joint test",
            rate_for_scale,
        ),
        specimen(
            "variance taken for the standard deviation",
            "Geweke's joint test",
            variance_for_sd,
        ),
        specimen(
            "prior left out of the posterior",
            "calibration of ranks",
            no_prior,
        ),
        specimen(
            "filtered probabilities given out as smoothed ones",
            "calibration of probabilities",
            filtered,
        ),
    ]
}

/// A gamma draw with this whole shape and rate, as a sum of exponentials.
fn gamma(shape: usize, rate: f64, rng: &mut Stream) -> f64 {
    -(0..shape).map(|_| (1.0 - rng.uniform()).ln()).sum::<f64>() / rate
}

/// τ ~ Gamma(2, 2), moved by a random walk in ln τ.
fn no_jacobian(repaired: bool, samples: usize, share: Share) -> Result<Report, InvarianceError> {
    let kernel = step_fn(|tau: &mut f64, rng: &mut Stream| {
        let to = *tau * rng.normal().exp();
        let log_p = |t: f64| t.ln() - 2.0 * t;
        let jacobian = if repaired { (to / *tau).ln() } else { 0.0 };
        if rng.accept(log_p(to) - log_p(*tau) + jacobian) {
            *tau = to;
        }
    });
    OneStep::new(|rng| gamma(2, 2.0, rng), |tau| vec![*tau])
        .samples(samples)
        .marginals(&kernel, share)
}

/// A narrow and a wide normal, half and half; the scale of the walk follows the last acceptance.
fn keeps_adapting(repaired: bool, samples: usize, share: Share) -> Result<Report, InvarianceError> {
    let log_p = |x: f64| {
        let normal = |sd: f64| (-0.5 * (x / sd).powi(2)).exp() / sd;
        (normal(0.1) + normal(3.0)).ln()
    };
    let kernel = step_fn(|(x, scale): &mut (f64, f64), rng: &mut Stream| {
        let to = *x + *scale * rng.normal();
        let accepted = rng.accept(log_p(to) - log_p(*x));
        if accepted {
            *x = to;
        }
        if !repaired {
            *scale *= if accepted { 1.5 } else { 0.7 };
        }
    });
    let draw = |rng: &mut Stream| {
        let sd = if rng.below(2) == 0 { 0.1 } else { 3.0 };
        (sd * rng.normal(), 1.0)
    };
    OneStep::new(draw, |(x, _)| vec![*x])
        .samples(samples)
        .steps(30)
        .marginals(&kernel, share)
}

/// Two standard normals with correlation 0.7. Every marginal stays right.
fn marginal_for_conditional(
    repaired: bool,
    samples: usize,
    share: Share,
) -> Result<Report, InvarianceError> {
    let rho: f64 = 0.7;
    let conditional =
        move |given: f64, rng: &mut Stream| rho * given + (1.0 - rho * rho).sqrt() * rng.normal();
    let kernel = step_fn(move |x: &mut [f64; 2], rng: &mut Stream| {
        x[0] = if repaired {
            conditional(x[1], rng)
        } else {
            rng.normal()
        };
    });
    let draw = |rng: &mut Stream| {
        let first = rng.normal();
        [first, conditional(first, rng)]
    };
    // The cost of the energy test grows as the square.
    OneStep::new(draw, |x| x.to_vec())
        .samples(samples.min(4000))
        .joint(&kernel, share)
}

/// τ ~ Gamma(2, 2), four observations x ~ N(0, 1/τ): the posterior is Gamma(4, 2 + Σ x²/2).
fn rate_for_scale(repaired: bool, samples: usize, share: Share) -> Result<Report, InvarianceError> {
    Geweke::new(
        |rng| gamma(2, 2.0, rng),
        |tau, rng| [(); 4].map(|()| rng.normal() / tau.sqrt()),
        |tau, x| vec![*tau, tau.ln(), tau * x.iter().map(|x| x * x).sum::<f64>()],
    )
    .chains(samples)
    .length(5)
    .test(
        |tau, x, rng| {
            let rate = 2.0 + 0.5 * x.iter().map(|x| x * x).sum::<f64>();
            *tau = gamma(4, if repaired { rate } else { 1.0 / rate }, rng);
        },
        share,
    )
}

/// μ ~ N(0, 1), x ~ N(μ, 1): the posterior is N(x/2, 1/2).
fn variance_for_sd(
    repaired: bool,
    samples: usize,
    share: Share,
) -> Result<Report, InvarianceError> {
    let sd = if repaired { 0.5f64.sqrt() } else { 0.5 };
    Geweke::new(
        |rng| rng.normal(),
        |mu, rng| mu + rng.normal(),
        |mu, x| vec![*mu, mu * mu, mu * x],
    )
    .chains(samples)
    .length(5)
    .test(move |mu, x, rng| *mu = 0.5 * x + sd * rng.normal(), share)
}

/// The same model, sampled by a random walk, three draws a replicate.
fn no_prior(repaired: bool, samples: usize, share: Share) -> Result<Report, InvarianceError> {
    let prior = if repaired { 1.0 } else { 0.0 };
    let log_p = |mu: f64, x: f64, prior: f64| -0.5 * (prior * mu * mu + (x - mu).powi(2));
    Calibration::new(
        |rng| rng.normal(),
        |mu, rng| mu + rng.normal(),
        move |mu, x| vec![*mu, log_p(*mu, *x, 1.0)],
    )
    .replicates(samples)
    .test_kernel(
        move |mu, x, rng| {
            let to = *mu + 1.5 * rng.normal();
            if rng.accept(log_p(to, *x, prior) - log_p(*mu, *x, prior)) {
                *mu = to;
            }
        },
        share,
    )
}

/// Two steps of a chain on two states that stays with probability 0.9, each seen as itself plus N(0, 1): the probability
/// of the first state given both observations, or given the first alone.
fn filtered(repaired: bool, samples: usize, share: Share) -> Result<Report, InvarianceError> {
    let likelihood = |z: usize, y: f64| (-0.5 * (y - z as f64).powi(2)).exp();
    let stays = |a: usize, b: usize| if a == b { 0.9 } else { 0.1 };
    ProbabilityCalibration::new(
        |rng| {
            let first = usize::from(rng.accept(0.5f64.ln()));
            let moves = rng.accept(0.1f64.ln());
            [first, if moves { 1 - first } else { first }]
        },
        |z, rng| z.map(|z| z as f64 + rng.normal()),
        |z| z[0],
        |y| vec![y[1]],
    )
    .replicates(samples)
    .test(
        |y| {
            let later = |first: usize| match repaired {
                true => (0..2).map(|z| stays(first, z) * likelihood(z, y[1])).sum(),
                false => 1.0,
            };
            let joint = [0, 1].map(|z| likelihood(z, y[0]) * later(z));
            joint.map(|p: f64| p / (joint[0] + joint[1])).to_vec()
        },
        share,
    )
}
