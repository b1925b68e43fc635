//! How features become those of all frames.

use serde::{Deserialize, Serialize};

/// How the features of a digit in all frames become one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Aggregation {
    /// Their mean, as in the released code: its size does not depend on how many frames there are.
    #[default]
    Mean,
    /// Their sum, as in the paper's text.
    Sum,
}
