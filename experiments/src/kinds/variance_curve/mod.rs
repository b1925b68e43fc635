//! The variance of gradient estimates during training: the protocol of Ou & Song (2020), figure 3.
//!
//! A run trains as a cell of a table does, and stops to measure. Before the updates of an epoch the estimate of the whole
//! gradient is repeated on the first training images, at the same parameters and chains, with fresh noise. What is
//! reported is ln V, V being the sample variance of each parameter's gradient (with R − 1), summed over θ or over φ.
//!
//! [`Settings`] are `experiments/fig3.toml`. [`Track`](crate::works::track::Track) trains and measures, on any backend; an
//! [`Outcome`] of [`Point`]s comes of it. [`show`] makes the figure and the table, with the scales of released code beside the
//! right ones.

pub mod document;
mod experiment;
mod settings;

pub use crate::works::outcome::{Outcome, Point};
pub use experiment::open;
pub use settings::{Profile, Settings};
