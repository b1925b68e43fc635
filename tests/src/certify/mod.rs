//! Certificates of estimators, by the names of the catalogue: what each claims, held against enumeration.
//!
//! An estimate is the mean over 2,000 copies of a datum, and 100 of them, each with its own named noise, make Student's t of
//! every coordinate of the gradient. All certificates of a table together fail a correct implementation with probability
//! below 1e-6. Seeds are fixed.

mod subject;
pub mod twins;
mod unconditional;

use std::ops::Range;

use helmholtz_estimators::{Entry, Method, Model, Nvil, Reinforce, Target, Weighted};
use helmholtz_random::{Purpose, Stream};

pub use subject::Subject;

use crate::Tape;
use crate::statistics::{BATCHES, STUDENT_LIMIT_OF_MANY, batch_means};

/// What was found of one estimator on one model.
#[derive(Clone, Debug)]
pub struct Certificate {
    /// The largest |mean − claimed| of a coordinate, in standard errors, where something is claimed.
    pub t: Option<f64>,
    /// ‖mean − exact‖ / ‖exact‖ in φ, against ∇ ELBO or, for those that climb it, the inclusive gradient.
    pub bias: f64,
    /// Σ Var over φ of one estimate of one datum.
    pub variance: f64,
    /// Evaluations of f.
    pub evaluations: usize,
}

impl Certificate {
    /// Whether what it claims holds.
    pub fn holds(&self) -> bool {
        self.t.is_none_or(|t| t < STUDENT_LIMIT_OF_MANY)
    }
}

/// The mean over draws of an estimate, and its standard error.
pub fn mean_of(mut estimate: impl FnMut(&mut Stream) -> Vec<f64>) -> (Vec<f64>, Vec<f64>) {
    let purpose = Purpose::new("certify");
    let draw = |batch| estimate(&mut Stream::new(20_261_121, purpose, [batch, 1]));
    let series: Vec<Vec<f64>> = (0..BATCHES as u64).map(draw).collect();
    batch_means(&series)
}

/// The largest |mean − exact| in standard errors; a coordinate that never varies must be exact to rounding.
pub fn largest_t((mean, error): &(Vec<f64>, Vec<f64>), exact: &[f64], among: Range<usize>) -> f64 {
    let scale = exact.iter().fold(1e-3f64, |max, e| max.max(e.abs()));
    among
        .map(|i| (mean[i] - exact[i]).abs() / error[i].max(1e-9 * scale))
        .fold(0.0, |max, t| if t > max || t.is_nan() { t } else { max })
}

/// The mean of one entry's estimates with K = 2, where it can, and the number of particles.
fn estimated<M: Model<Tape>>(entry: &Entry, subject: &Subject<M>) -> ((Vec<f64>, Vec<f64>), usize) {
    let method = match entry.method {
        // The division by a running deviation scales the gradient: off, where it is held to be unbiased.
        Method::Nvil(_) => Method::Nvil(Nvil { normalise: false }),
        other => other,
    };
    let particles = method.least_particles(method.keeps_chains()).max(2);
    let learned = subject.learned(&method);
    let found = mean_of(|stream| subject.estimate(&method, &learned, particles, stream));
    (found, particles)
}

/// What an entry claims its mean to be, and of which coordinates, if of any.
fn claimed<M: Model<Tape>>(target: Target, subject: &Subject<M>) -> Option<(&[f64], Range<usize>)> {
    let all = 0..subject.elbo.len();
    let theta = subject.phi.end..subject.elbo.len();
    match target {
        Target::Elbo => Some((&subject.elbo, all)),
        Target::Bound => Some((&subject.bound_of_two, all)),
        Target::Inclusive => Some((&subject.inclusive, all)),
        Target::ElbosTheta => Some((&subject.elbo, theta)),
        Target::InclusiveAsymptotically
        | Target::LikelihoodsTheta
        | Target::Relaxed
        | Target::Nothing => None,
    }
}

/// Certifies one entry of the catalogue.
pub fn certify<M: Model<Tape>>(entry: &Entry, subject: &Subject<M>) -> Certificate {
    let (found, particles) = estimated(entry, subject);
    let reference = match entry.target {
        Target::Bound => &subject.bound_of_two,
        Target::Inclusive
        | Target::InclusiveAsymptotically
        | Target::LikelihoodsTheta
        | Target::ElbosTheta => &subject.inclusive,
        _ if entry.method.keeps_chains() => &subject.inclusive,
        _ => &subject.elbo,
    };
    let phi = subject.phi.clone();
    let norm = |vector: &mut dyn Iterator<Item = f64>| vector.map(|v| v * v).sum::<f64>().sqrt();
    let off = norm(&mut phi.clone().map(|i| found.0[i] - reference[i]));
    let squares = phi.clone().map(|i| found.1[i] * found.1[i]).sum::<f64>();
    Certificate {
        t: claimed(entry.target, subject).map(|(exact, among)| largest_t(&found, exact, among)),
        bias: off / norm(&mut phi.map(|i| reference[i])),
        variance: squares * (BATCHES * subject.copies()) as f64,
        evaluations: entry.method.evaluations(
            particles,
            subject.model.layers().len(),
            entry.method.keeps_chains(),
        ),
    }
}

/// Σ Var over φ of REINFORCE with as many particles: what variances are stated relative to.
pub fn reinforce_variance<M: Model<Tape>>(subject: &Subject<M>) -> f64 {
    let reinforce = Method::Weighted(Weighted::Reinforce(Reinforce { centred: false }));
    let learned = subject.learned(&reinforce);
    let (_, error) = mean_of(|stream| subject.estimate(&reinforce, &learned, 2, stream));
    let squares = subject
        .phi
        .clone()
        .map(|i| error[i] * error[i])
        .sum::<f64>();
    squares * (BATCHES * subject.copies()) as f64
}
