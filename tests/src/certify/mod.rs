//! Certificates of estimators, by the names of the catalogue: what each claims, held against enumeration.
//!
//! An estimate is the mean over 2,000 copies of a datum, and 100 of them, each with its own named noise, make Student's t of
//! every coordinate of the gradient. All certificates of a table together fail a correct implementation with probability
//! below 1e-6. Seeds are fixed.

mod subject;
pub mod twins;
mod unconditional;

use helmholtz_estimators::{Model, Nvil, Reinforce};
use helmholtz_invariance::gradients::{Certificate, Subject, certify_claim, mean_of};

pub use subject::{DATUM, mistaken, of_counts, subject_of};
pub use unconditional::Unconditional;

use crate::Tape;
use crate::statistics::BATCHES;

/// Certifies NVIL as it is shipped, with a running variance of 4 in each layer: θ's gradient is that of the ELBO, and φ's half of
/// it.
pub fn certify_normalised_nvil<M: Model<Tape>>(subject: &Subject<M>) -> Certificate {
    let nvil = Nvil { normalise: true };
    let mut learned = subject.learned(&nvil);
    for moments in &mut learned.moments {
        moments.variance = 4.0;
    }
    let mut halved = subject.elbo.clone();
    halved[subject.phi.clone()]
        .iter_mut()
        .for_each(|g| *g /= 2.0);
    let all = 0..halved.len();
    certify_claim(&nvil, &learned, Some((&halved, all)), subject)
}

/// Σ Var over φ of REINFORCE with as many particles: what variances are stated relative to.
pub fn reinforce_variance<M: Model<Tape>>(subject: &Subject<M>) -> f64 {
    let reinforce = Reinforce { centred: false };
    let learned = subject.learned(&reinforce);
    let (_, error) = mean_of(|stream| subject.estimate(&reinforce, &learned, 2, stream));
    let squares = subject
        .phi
        .clone()
        .map(|i| error[i] * error[i])
        .sum::<f64>();
    squares * (BATCHES * subject.copies()) as f64
}
