//! What the program does, a file for each command.

#[cfg(feature = "cpu")]
pub mod certify;
pub mod evaluate;
pub mod report;
pub mod reproduce;
pub mod scoreboard;
pub mod shell;
pub mod status;
pub mod variance;
