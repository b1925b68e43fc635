//! What an estimator claims, held against what is known.

use std::ops::Range;

use burn::module::Module;
use helmholtz_estimators::{Estimator, Layered, Learned, Target};

use super::means::{BATCHES, LIMIT, largest_t, mean_of};
use super::subject::{Subject, Tape};

/// What was found of one estimator on one model.
#[derive(Clone, Debug)]
pub struct Certificate {
    /// The largest |mean − claimed| of a coordinate, in standard errors, where something is claimed.
    pub t: Option<f64>,
    /// ‖mean − exact‖ / ‖exact‖ in φ. Exact is the gradient of the bound with two samples for [`Target::Bound`]; the inclusive
    /// gradient for targets of the likelihood, of wake-sleep, and for estimators with chains; else ∇ ELBO.
    pub bias: f64,
    /// Σ Var over φ of one estimate of one datum.
    pub variance: f64,
    /// Evaluations of f.
    pub evaluations: usize,
}

impl Certificate {
    /// Whether what it claims holds.
    pub fn holds(&self) -> bool {
        self.t.is_none_or(|t| t < LIMIT)
    }
}

/// The mean of an estimator's estimates with K = 2, where it can, its standard error, and K.
pub fn estimated<M, E>(
    estimator: &E,
    learned: &Learned<Tape>,
    subject: &Subject<M>,
) -> ((Vec<f64>, Vec<f64>), usize)
where
    M: Module<Tape>,
    E: Estimator<Tape, M>,
{
    let particles = estimator.least_particles(estimator.keeps_chains()).max(2);
    let found = mean_of(|stream| subject.estimate(estimator, learned, particles, stream));
    (found, particles)
}

/// What a target says the mean is, and of which coordinates, if of any.
pub fn claim<M>(target: Target, subject: &Subject<M>) -> Option<(&[f64], Range<usize>)> {
    let (all, phi) = (subject.elbo.len(), &subject.phi);
    // θ is what stands beside φ, on one side.
    let theta = if phi.start == 0 {
        phi.end..all
    } else {
        0..phi.start
    };
    match target {
        Target::Elbo => Some((&subject.elbo, 0..all)),
        Target::Bound => Some((&subject.bound_of_two, 0..all)),
        Target::Likelihood | Target::Inclusive => Some((&subject.inclusive, 0..all)),
        Target::ElbosTheta => Some((&subject.elbo, theta)),
        Target::InclusiveAsymptotically
        | Target::LikelihoodsTheta
        | Target::Relaxed
        | Target::Nothing => None,
    }
}

/// Certifies what an estimator claims of itself, with K = 2 or the least K that it takes if that is more, and with what it learns
/// at random values.
///
/// # Panics
/// If the estimator returns an error on this subject.
pub fn certify<M, E>(estimator: &E, subject: &Subject<M>) -> Certificate
where
    M: Module<Tape> + Layered<Tape>,
    E: Estimator<Tape, M>,
{
    let claimed = claim(estimator.description().target, subject);
    certify_claim(estimator, &subject.learned(estimator), claimed, subject)
}

/// Certifies a claim of an estimator: the mean in these coordinates, with what it has learned.
pub fn certify_claim<M, E>(
    estimator: &E,
    learned: &Learned<Tape>,
    claimed: Option<(&[f64], Range<usize>)>,
    subject: &Subject<M>,
) -> Certificate
where
    M: Module<Tape> + Layered<Tape>,
    E: Estimator<Tape, M>,
{
    let (found, particles) = estimated(estimator, learned, subject);
    let reference = match estimator.description().target {
        Target::Bound => &subject.bound_of_two,
        Target::Likelihood
        | Target::Inclusive
        | Target::InclusiveAsymptotically
        | Target::LikelihoodsTheta
        | Target::ElbosTheta => &subject.inclusive,
        _ if estimator.keeps_chains() => &subject.inclusive,
        _ => &subject.elbo,
    };
    let phi = subject.phi.clone();
    let norm = |vector: &mut dyn Iterator<Item = f64>| vector.map(|v| v * v).sum::<f64>().sqrt();
    let off = norm(&mut phi.clone().map(|i| found.0[i] - reference[i]));
    let squares = phi.clone().map(|i| found.1[i] * found.1[i]).sum::<f64>();
    Certificate {
        t: claimed.map(|(exact, among)| largest_t(&found, exact, among)),
        bias: off / norm(&mut phi.map(|i| reference[i])),
        variance: squares * (BATCHES * subject.copies()) as f64,
        evaluations: estimator.evaluations(
            particles,
            subject.model.layers().len(),
            estimator.keeps_chains(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::super::subject::tests::without_model;
    use super::*;

    #[test]
    fn what_is_claimed_of_the_parameters_of_p_is_of_those_beside_qs() {
        for (phi, theta) in [(0..3, 3..5), (2..5, 0..2)] {
            let subject = without_model(phi);
            let (exact, among) = claim(Target::ElbosTheta, &subject).expect("a claim");
            assert_eq!((exact, among), (&subject.elbo[..], theta));
        }
    }
}
