//! Score functions with a learning signal of its own for each layer, less learned baselines.

mod muprop;
mod nvil;

use crate::family::*;

pub use muprop::MuProp;
pub use nvil::Nvil;

family! {
    /// An estimator of local signals chosen at run time.
    Signals {
        Nvil(Nvil): any, [Nvil { normalise: true }];
        MuProp(MuProp): any, [MuProp];
    }
}
