//! Amortized population Gibbs on bouncing digits (Wu et al. 2020, section 6.4).
//!
//! The nets that find digits, read off what they look like and draw them learn from sequences that are made as they are needed. At
//! the end the sampler is run for many sweeps on sequences of test images, longer and of more digits than those that it learned
//! from.
//!
//! | file | holds |
//! |---|---|
//! | [`Settings`] | `experiments/apg-bmnist.toml`, one of its profiles |
//! | [`Digits`] | MNIST's images at the size that the canvas has |
//! | [`Training`](training) | a gradient step, and a check |
//! | `watched` | a population after each sweep |
//! | [`Evaluation`] | the numbers of the table, and what is shown |
//! | `hamiltonian` | Hamiltonian Monte Carlo on all latents |
//! | [`Outcome`] | the numbers of a run, and its table |

mod digits;
pub mod evaluation;
pub(crate) mod figures;
mod hamiltonian;
mod outcome;
mod pictures;
mod run;
mod settings;
pub mod training;
mod watched;

pub use digits::Digits;
pub use evaluation::Evaluation;
pub use outcome::{Outcome, squared_errors};
pub use settings::Settings;

/// Draws of Hamiltonian Monte Carlo.
pub(crate) const DRAWS: helmholtz_random::Purpose = helmholtz_random::Purpose::new("tr-hmc");
