//! Kernels on states, one file each.

mod cycle;
pub(crate) mod dual_averaging;
mod dynamics;
mod finite_gibbs;
mod gibbs;
pub(crate) mod hmc;
mod independence;
mod metropolis_hastings;
mod mixture;
mod random_walk;
mod repeat;

pub use cycle::Cycle;
pub use finite_gibbs::FiniteGibbs;
pub use gibbs::Gibbs;
pub use hmc::Hmc;
pub use independence::Independence;
pub use metropolis_hastings::MetropolisHastings;
pub use mixture::Mixture;
pub use random_walk::RandomWalk;
pub use repeat::Repeat;
