//! Finished runs, evaluated again with several numbers of samples.
//!
//! | file | holds |
//! |---|---|
//! | `experiment` | `experiments/table1-samples.toml`, and it as an experiment |
//! | [`Work`] | the evaluation of a run's parameters |

mod experiment;
mod work;

pub use experiment::open;
pub(crate) use work::{Evaluated, Tempered, Work};
