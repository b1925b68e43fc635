//! Property tests: random targets, proposals, log-weights and models, with extremes (feature `proptest`).
//!
//! A kernel that is right on one target may be wrong on the next, where weights tie, a state is impossible, or one
//! weight dwarfs the rest. [`assert_invariant!`](crate::assert_invariant) proves a kernel, exactly, on many:
//!
//! ```
//! use helmholtz_samplers::{Independence, Mis, Mtmis};
//!
//! # /*
//! #[test]
//! # */
//! fn mis_is_invariant() {
//!     helmholtz_invariance::assert_invariant!(|problem| Independence::new(problem, problem, Mis, 2).unwrap());
//! }
//! # mis_is_invariant();
//! ```
//!
//! The kernel is any [`Kernel`](helmholtz_samplers::Kernel) on the family's states over
//! [`Chance`](helmholtz_random::Chance). Families are ordinary strategies of the proptest crate, and shrink:
//!
//! | strategy | what it gives |
//! |---|---|
//! | [`finite_problems`] | a target over a few numbered states, and an independence proposal with full support |
//! | [`latent_models`] | a sigmoid belief net with a few binary latents and a recognition net: ln p(x, h), ln q(h given x) |
//! | [`log_weights`] | log-weights with ties, ±300 and -inf |
//! | [`hostile_log_weights`] | those, with NaN and +inf among them |
//!
//! [`assert_ergodic!`](crate::assert_ergodic) also asks that the kernel comes everywhere and settles, and
//! [`assert_not_invariant!`](crate::assert_not_invariant) is for wrong twins.
//!
//! For index kernels [`assert_index_kernel_invariant`] draws the proposals itself. Any other property of random cases is
//! checked by [`for_every`], or by [`for_every_kept`], which keeps the cases that failed in a file and tries them first.
//!
//! A family of your own is a strategy of values that implement [`FiniteTarget`].
//!
//! The cases are the same at every run. There are 64; the environment variable `PROPTEST_CASES` asks for more.

mod check;
mod latent_model;
mod problem;
mod target;
mod weights;

pub use check::{
    assert_index_kernel_invariant, assert_some_leak, check_ergodic, check_invariant, for_every,
    for_every_kept,
};
pub use latent_model::{LatentModel, latent_models};
pub use problem::{FiniteProblem, finite_problems};
pub use target::FiniteTarget;
pub use weights::{hostile_log_weights, log_weights};
