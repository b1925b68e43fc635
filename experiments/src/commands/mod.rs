//! What the program does, a file for each command.

mod apg_kl;
mod apg_table;
mod arm_toy;
pub mod curves;
mod joint;
pub mod loading;
pub mod plan_text;
pub mod report;
pub mod reproduce;
pub mod stepwise;
pub mod streams;
pub mod variance;
pub mod variance_curve;
