//! Finished runs, evaluated again with several numbers of samples.
//!
//! | file | holds |
//! |---|---|
//! | `experiment` | `experiments/table1-samples.toml`, and it as an experiment |
//! | `document` | the evaluations of several runs, side by side |

mod document;
mod experiment;

pub use document::{Evaluated, document};
pub use experiment::{Settings, open};
