//! Certificates of gradient estimators: what each claims, held against enumeration.
//!
//! A [`Subject`] is a model whose latents can be listed, and one datum of it. [`Subject::enumerated`] sums over all latents with
//! the model's own densities, on a tape: ∇ELBO, the gradient of the two-sample bound, ∇ log p(x) and −∇KL(p ‖ q). It needs no
//! second implementation of the model, and therefore says nothing of the densities themselves.
//!
//! [`certify`] makes 100 means of many estimates, each with its own named noise, and Student's t of every coordinate of the
//! gradient. A correct estimator fails with probability below 1e-9 a coordinate ([`LIMIT`]); seeds are fixed. Beside a
//! certificate belongs a twin of the estimator, wrong in one place, that must fail.

mod certificate;
mod enumerate;
mod means;
mod subject;

pub use certificate::{Certificate, certify, certify_claim, claim, estimated};
pub use means::{BATCHES, LIMIT, batch_means, largest_t, mean_of};
pub use subject::{Facts, Subject, Tape, flat_gradient, held};
