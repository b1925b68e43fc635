//! Finished runs, evaluated again with several numbers of samples.
//!
//! | file | holds |
//! |---|---|
//! | [`Settings`], [`Evaluations`] | `experiments/table1-samples.toml`, and it as an experiment |
//! | [`Work`] | the evaluation of a run's parameters |

mod experiment;
mod work;

pub use experiment::{Evaluations, Settings, open};
pub(crate) use work::Work;
