//! The inclusive KL of the mixtures' proposals during training, for several numbers of sweeps and particles.
//!
//! | file | holds |
//! |---|---|
//! | [`Settings`], [`Division`] | `experiments/apg-kl.toml`: how a budget is divided |
//! | [`end`] | where a finished run ended, for the scoreboard |
//! | [`figure`] | the runs' checks, drawn |
//! | `ends` | where the runs end, side by side |

mod end;
mod ends;
mod experiment;
mod figure;
mod settings;

pub use end::end;
pub use ends::READER;
pub use experiment::open;
pub use figure::{Trained, figure};
pub use settings::{Division, Settings};
