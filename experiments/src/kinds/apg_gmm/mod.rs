//! Amortized population Gibbs on Gaussian mixtures (Wu et al. 2020, section 6.2).
//!
//! The nets that propose (μ, τ) and c learn from mixtures that are drawn as they are needed. What is watched is the inclusive
//! divergence of the exact conditionals from them. At the end the samplers are compared by the log joint density that they
//! reach on fresh mixtures, whose expectation is known.
//!
//! | file | holds |
//! |---|---|
//! | [`Settings`] | `experiments/apg-gmm.toml` |
//! | [`Training`](training) | a gradient step, and a check |
//! | [`samplers`] | what is compared |
//! | [`Evaluation`] | the numbers of the table and of the figures |
//! | [`figures`] | the figures of a run |
//! | [`Outcome`] | the numbers of a run, and its table |

pub mod evaluation;
pub mod figures;
mod outcome;
mod run;
pub mod samplers;
mod settings;
pub mod training;

pub use evaluation::Evaluation;
pub use outcome::Outcome;
pub use settings::Settings;

use helmholtz_random::Purpose;

/// The instance of the figures.
pub(crate) const FIGURE: u64 = 0x0066_6967;

/// The draws of evaluations.
pub(crate) const DRAWS: Purpose = Purpose::new("gmm-eval");
