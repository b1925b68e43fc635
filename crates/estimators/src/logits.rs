//! Estimates of the gradient in the logits of each layer, from values of f.

mod analytic_kl;
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

use crate::family::*;

pub use analytic_kl::estimate_logits_with_kl;
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
pub use unordered::Unordered;

family! {
    /// An estimator of gradients in the logits chosen at run time.
    Logits {
        Unordered(Unordered): discrete, [Unordered];
        Arm(Arm): bits, [Arm];
        Disarm(Disarm): bits, [Disarm];
        Arms(Arms): bits, [Arms];
        DisarmBound(DisarmBound): bits, [DisarmBound];
        ArmsBound(ArmsBound): bits, [ArmsBound::DEFAULT];
        Ar(Ar): discrete, [Ar];
        Ars(Ars): discrete, [Ars { reference: 0 }];
        Arsm(Arsm): discrete, [Arsm];
        DisarmTree(DisarmTree): discrete, [false, true].map(|balanced| DisarmTree { balanced });
        DisarmIw(DisarmIw): discrete, [DisarmIw];
        Rebar(Rebar): discrete, Rebar::FORMS;
    }
}
