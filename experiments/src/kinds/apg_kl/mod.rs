//! The inclusive KL of the mixtures' proposals during training, for several numbers of sweeps and particles.
//!
//! | file | holds |
//! |---|---|
//! | [`Settings`], [`Division`] | `experiments/apg-kl.toml`: how a budget is divided |
//! | [`figure`], [`document`] | the runs' checks, drawn and at their end |

mod experiment;
mod figure;
mod settings;

pub use experiment::open;
pub use figure::{Trained, document, figure};
pub use settings::{Division, Settings};
