//! A table trained at several values of one setting, and each cell at its best.
//!
//! | file | holds |
//! |---|---|
//! | `settings` | `experiments/rates.toml`, and the table's file with each of its values |
//! | `experiment` | the tables of all values as one experiment |
//! | `document` | validation NLL by value, and the test NLL at the best |

mod document;
mod experiment;
mod settings;

pub use document::READER;
pub use experiment::open;
