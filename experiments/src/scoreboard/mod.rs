//! The scoreboard: every published number beside ours, and one word.
//!
//! | file | holds |
//! |---|---|
//! | [`lines`] | a line for each published number, from recorded runs |
//! | [`document`] | the lines as tables, a summary first |

mod document;
mod line;
mod samplers;

pub use document::{document, section};
pub use line::lines;
