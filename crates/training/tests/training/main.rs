//! Runs of small nets, in one program: what they are compiled for is the same.

mod forged;
mod objective;
mod open;
mod protocols;
