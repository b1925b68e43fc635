//! Table 1 of the amortized population Gibbs paper: the log joint of each sampler on each model, from the runs of the models' own
//! experiments.
//!
//! | file | holds |
//! |---|---|
//! | [`Settings`] | `experiments/apg-table1.toml`: which runs are columns, what is published |
//! | [`Table`] | what the runs reached, side by side |

mod experiment;
mod settings;
mod table;

pub use experiment::open;
pub use settings::Settings;
pub use table::{READER, Table};
