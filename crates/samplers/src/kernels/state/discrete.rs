//! Kernels on many sites with few values each, guided by what each single change would do.

mod automatic_cycle;
mod balancing;
mod block_gibbs;
mod cyclical;
mod differences;
mod discrete_langevin;
mod hamming_ball;
mod locally_balanced;
mod memory;
mod neighbourhood;
mod path_auxiliary;
mod site;
mod surroundings;
#[cfg(test)]
mod tests;
mod urn;

pub mod balancing_functions {
    //! Balancing functions g, given by ln g as a function of ln t (Zanella, 2020).
    pub use super::balancing::{barker, maximum, metropolis, square_root};
}

pub use automatic_cycle::{AutomaticCycle, Scale};
pub use block_gibbs::BlockGibbs;
pub use cyclical::cyclical_step_sizes;
pub use differences::{DifferenceTarget, EachChange, FirstOrder};
pub use discrete_langevin::DiscreteLangevin;
pub use hamming_ball::HammingBall;
pub use locally_balanced::LocallyBalanced;
pub use path_auxiliary::PathAuxiliary;
pub use site::Site;
