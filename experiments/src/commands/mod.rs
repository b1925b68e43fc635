//! What the program does, a file for each command.

pub mod evaluate;
pub mod report;
pub mod reproduce;
pub mod scoreboard;
pub mod shell;
pub mod status;
pub mod variance;

pub(crate) use helmholtz_harness::engine::job::quoted;
