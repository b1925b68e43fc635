//! Kernels that have the state itself, and ask for its log-density.

mod cycle;
mod discrete;
pub(crate) mod dual_averaging;
mod dynamics;
mod finite_gibbs;
mod gibbs;
pub(crate) mod hmc;
mod independence;
mod metropolis_hastings;
pub(crate) mod mixture;
mod random_walk;
mod repeat;
pub(crate) mod turns;
pub(crate) mod warm_up;

pub use cycle::Cycle;
pub use discrete::*;
pub use finite_gibbs::FiniteGibbs;
pub use gibbs::Gibbs;
pub use hmc::Hmc;
pub use independence::Independence;
pub use metropolis_hastings::MetropolisHastings;
pub use mixture::Mixture;
pub use random_walk::RandomWalk;
pub use repeat::Repeat;
