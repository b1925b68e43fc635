//! Commands of the program, a file for each.

#[cfg(feature = "cpu")]
pub mod certify;
pub mod evaluate;
pub mod report;
pub mod reproduce;
pub mod scoreboard;
pub mod shell;
pub mod status;
pub mod variance;
