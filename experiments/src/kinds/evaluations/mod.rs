//! Finished runs, evaluated again with several numbers of samples.
//!
//! | file | holds |
//! |---|---|
//! | `experiment` | `experiments/table1-samples.toml`, and it as an experiment |

mod experiment;

pub use experiment::open;
