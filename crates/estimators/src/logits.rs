//! Estimates of the gradient in the logits of each layer, from values of f.

mod antithetic;
mod arm;
mod arms;
mod arms_bound;
mod arsm;
mod beam;
mod disarm;
mod disarm_bound;
mod disarm_iw;
mod disarm_tree;
pub(crate) mod logit_gradient;
mod rebar;
mod shares;
mod swaps;
mod unordered;

pub use arm::Arm;
pub use arms::Arms;
pub use arms_bound::ArmsBound;
pub use arsm::{Ar, Ars, Arsm};
pub use disarm::Disarm;
pub use disarm_bound::DisarmBound;
pub use disarm_iw::DisarmIw;
pub use disarm_tree::DisarmTree;
pub use logit_gradient::{LogitGradient, estimate_logits};
pub use rebar::{Control, Rebar};
pub use swaps::Race;
pub use unordered::Unordered;
