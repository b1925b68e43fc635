//! The inclusive KL of the mixtures' proposals during training, for several numbers of sweeps and particles.
//!
//! | file | holds |
//! |---|---|
//! | [`Settings`], [`Division`] | `experiments/apg-kl.toml`: how a budget is divided |
//! | [`end`] | where a finished run ended, for the scoreboard |
//! | [`figure`], [`document`] | the runs' checks, drawn and at their end |

mod end;
mod experiment;
mod figure;
mod settings;

pub use end::end;
pub use experiment::open;
pub use figure::{Trained, document, figure};
pub use settings::{Division, Settings};
