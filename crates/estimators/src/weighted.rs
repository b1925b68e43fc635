//! The weighted family: coefficients on log p and log q from log-weights.

mod coupled;
mod jsa;
mod msc;
mod ovis;
mod reinforce;
mod reinforce_bound;
mod rloo;
pub(crate) mod rws;
pub(crate) mod surrogate;
mod tvo;
mod vargrad;
mod vimco;
mod wake_sleep;

use helmholtz_samplers::{FrozenReferenceMis, Mis, Mtmis};

use crate::family::*;

pub use coupled::CoupledChains;
pub use jsa::{Jsa, JsaKernel};
pub use msc::Msc;
pub use ovis::{Ovis, OvisMonteCarlo};
pub use reinforce::Reinforce;
pub use reinforce_bound::ReinforceBound;
pub use rloo::Rloo;
pub use rws::Rws;
pub use surrogate::{dreams, estimate};
pub use tvo::Tvo;
pub use vargrad::VarGrad;
pub use vimco::Vimco;
pub use wake_sleep::WakeSleep;

family! {
    /// A weighted estimator chosen at run time.
    Weighted {
        Jsa(Jsa<Mis>): weights, [Jsa::MIS];
        JsaMtmis(Jsa<Mtmis>): weights, [Jsa::MTMIS];
        JsaFrozenReference(Jsa<FrozenReferenceMis>): weights, [Jsa::FROZEN_REFERENCE];
        Msc(Msc): weights, [Msc];
        CoupledChains(CoupledChains): discrete, [CoupledChains];
        WakeSleep(WakeSleep): weights, [WakeSleep::BOTH];
        Rws(Rws): weights, [Rws::WAKE, Rws::SLEEP, Rws::WAKE_SLEEP];
        Reinforce(Reinforce): weights, [false, true].map(|centred| Reinforce { centred });
        Rloo(Rloo): weights, [Rloo];
        VarGrad(VarGrad): weights, [VarGrad];
        ReinforceBound(ReinforceBound): weights, [ReinforceBound];
        Vimco(Vimco): weights, [false, true].map(|arithmetic| Vimco { arithmetic });
        Ovis(Ovis): weights, [false, true].map(|many| Ovis { many });
        OvisMonteCarlo(OvisMonteCarlo): weights, [OvisMonteCarlo];
        Tvo(Tvo): weights, [Tvo];
    }
}
