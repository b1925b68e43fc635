//! Pairs of chains that meet: how far a chain is from its target, and estimates without burn-in bias.
//!
//! Two chains are *coupled* if they move with dependent randomness, each by its kernel alone as always; *faithfully*,
//! if they stay together once they have met. Independence kernels meet soon: both chains are offered the same
//! proposals, and where both accept one, they are in the same state. Beside the proposals they share as much as
//! possible: a coin is tossed with a common uniform, and a choice is drawn from the maximal coupling of the two laws.
//!
//! With the chain X ahead of Y by a lag L, and the meeting time τ = inf{t ≥ L : X_t = Y_{t-L}},
//!
//! > ‖law(X_t) - π‖_TV ≤ E\[max(0, ⌈(τ - L - t) / L⌉)\]  ([`LaggedChains::total_variation_bound`]),
//! >
//! > E\[H_k\] = E_π\[h\],  H_k = h(X_k) + Σ_{j≥1, k+jL<τ} \[h(X_{k+jL}) - h(Y_{k+(j-1)L})\]  ([`LaggedChains::estimate`]).
//!
//! Averages over independent pairs estimate both. (Glynn and Rhee, 2014; Jacob, O'Leary and Atchadé, 2020, "Unbiased
//! Markov chain Monte Carlo methods with couplings"; Biswas, Jacob and Vanetti, 2019, "Estimating convergence of Markov
//! chains with L-lag couplings".)
//!
//! ```
//! use helmholtz_samplers::coupling::LaggedChains;
//! use helmholtz_samplers::random::{Draws, Purpose, Stream};
//! use helmholtz_samplers::{Independence, IndependenceProposal, Mis};
//!
//! struct Wide; // N(0, 2²)
//! impl<C: Draws> IndependenceProposal<f64, C> for Wide {
//!     fn propose(&self, chance: &mut C) -> f64 { 2.0 * chance.normal() }
//!     fn log_density(&self, x: &f64) -> f64 { -x * x / 8.0 }
//! }
//!
//! let kernel = Independence::new(|x: &f64| -0.5 * x * x, Wide, Mis, 1)?;
//! let pair = |i| {
//!     let mut stream = Stream::new(7, Purpose::new("pair"), [i, 0]);
//!     LaggedChains::run(&kernel, |chance| 9.0 + chance.normal(), 1, 20, 10_000, &mut stream)
//! };
//! let pairs: Vec<LaggedChains<f64>> = (0..500).map(pair).collect::<Result<_, _>>()?;
//! let mean = |f: &dyn Fn(&LaggedChains<f64>) -> f64| pairs.iter().map(f).sum::<f64>() / 500.0;
//! let bound = mean(&|pair| pair.total_variation_bound(20)); // after 20 steps, from far away
//! assert!(bound < 0.05);
//! let second_moment = mean(&|pair| pair.estimate(5, 20, |x| x * x).unwrap());
//! assert!((second_moment - 1.0).abs() < 0.3);
//! # Ok::<(), helmholtz_samplers::SamplerError>(())
//! ```

mod index;
mod lagged;
mod maximal;

pub use index::CoupledIndexKernel;
pub use lagged::LaggedChains;
pub use maximal::{accept_both, choose_both};

/// A kernel that can move two states with shared randomness.
pub trait CoupledKernel<S, C: ?Sized>: crate::Kernel<S, C> {
    /// One transition of both: each by the law of [`step`](crate::Kernel::step), and equal states stay equal.
    fn step_both(&self, states: [&mut S; 2], chance: &mut C) -> [Self::Info; 2];
}
