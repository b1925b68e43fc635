//! Proofs: transition matrices over finite spaces, from the code that runs in production.
//!
//! A kernel that takes its randomness from [`Chance`](helmholtz_random::Chance) is run once a branch from every state,
//! and its [`TransitionMatrix`] P is known exactly. On a few states everything one wants to know about it is linear
//! algebra or graph search:
//!
//! | question | method | formula |
//! |---|---|---|
//! | is the law π invariant? | [`check_invariant`](TransitionMatrix::check_invariant) | max_y \|Σ_x π(x) P(x,y) - π(y)\| |
//! | is it reversible? | [`check_reversible`](TransitionMatrix::check_reversible) | max \|π(x) P(x,y) - π(y) P(y,x)\| |
//! | does it come everywhere? | [`check_irreducible`](TransitionMatrix::check_irreducible) | a path between any two states with π > 0 |
//! | does it settle? | [`check_aperiodic`](TransitionMatrix::check_aperiodic) | gcd of the lengths of its cycles is 1 |
//! | how fast? | [`spectral_gap`](TransitionMatrix::spectral_gap) | 1 - max\|λ\| over the eigenvalues λ beside the first |
//! | which of two is better? | [`peskun_cmp`](TransitionMatrix::peskun_cmp) | P(x,y) >= P'(x,y) for all x ≠ y |
//! | is an estimator unbiased? | [`expectation`] | Σ over branches, probability × value |
//!
//! Invariance alone is weak: the kernel that never moves has it. Irreducibility, aperiodicity and the gap say that a
//! kernel is of use. And a proof is about the targets it was made on: make it on many, with extremes, by the strategies
//! of the `families` chapter (feature `proptest`).
//!
//! States of probability zero are allowed. A kernel may leave them as it likes, but must not enter them.
//!
//! Code that draws uniforms instead of coins has no matrix, but [`on_grid`] feeds it every uniform on a grid and both
//! ends of the interval.
//!
//! Sources: Levin and Peres, *Markov chains and mixing times* (2017), chapters 1 and 12; Peskun (1973); Tierney (1998).

mod expectation;
mod graph;
mod index_step;
mod law;
mod matrix;
mod peskun;
mod spectrum;
mod uniforms;

pub use expectation::expectation;
pub use law::Law;
pub use matrix::{TOLERANCE, TransitionMatrix};
pub use uniforms::{Uniforms, on_grid};
