//! The scoreboard: every published number beside ours, and one word.
//!
//! | file | holds |
//! |---|---|
//! | [`line`] | a published number, ours, and the word |
//! | [`likelihoods`], [`samplers`] | the lines of tables by net and method, and of amortized population Gibbs |
//! | [`document`] | the lines as tables, a summary first |

mod document;
mod likelihoods;
mod line;
mod samplers;

use crate::records::Record;

pub use document::{document, section};
pub use line::Line;

/// The lines of all published tables, as far as these runs came.
pub fn lines(records: &[Record]) -> Vec<Line> {
    let mut lines = likelihoods::lines(records);
    lines.extend(samplers::lines(records));
    lines
}
