//! The engine on models small enough to be certain: evidence and averages by enumeration of every branch, gradients by
//! finite differences, gathering by tags. Each stands beside twins that are broken on purpose and must fail.

mod choices;
mod errors;
mod evidence;
mod forgetful;
mod gradients;
mod groups;
mod moved;
mod parts;
mod stationarity;
mod statistics;
mod threads;
mod toy;
mod tracker;
mod tracking;
