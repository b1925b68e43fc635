//! What the distributions of real numbers are held to: their densities by quadrature, their draws by statistical tests, their
//! gradients by differences, and the normal-gamma's algebra.

use helmholtz_invariance::Suite;

mod conjugacy;
mod counts;
mod densities;
mod divergence;
mod draws;
mod gradients;
mod laws;
mod tails;
mod vectors;

mod numbers;

/// One false alarm in a million runs of everything here.
static SUITE: Suite = Suite::new(1911, 14);
