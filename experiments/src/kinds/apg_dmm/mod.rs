//! Amortized population Gibbs on deep mixtures (Wu et al. 2020, section 6.3).
//!
//! The rings' common shape and the nets that propose centres, rings and places on them learn from rings that are drawn as they are
//! needed. At the end the samplers are compared by the log joint density that they reach. They are compared too by how many data are put on
//! their own rings, on instances of other sizes too.
//!
//! | file | holds |
//! |---|---|
//! | [`Settings`] | `experiments/apg-dmm.toml` |
//! | [`Training`](training) | a gradient step, and a check |
//! | `watched` | a population after each sweep |
//! | [`Evaluation`], `OfSize` | the numbers of the table, and what is shown, on instances of each size |
//! | [`Outcome`] | the numbers of a run, and its table |

pub mod evaluation;
pub(crate) mod figures;
mod hamiltonian;
mod instances;
mod of_size;
mod outcome;
mod rows;
mod run;
mod settings;
pub mod training;
mod watched;

pub use evaluation::Evaluation;
pub use outcome::Outcome;
pub use settings::Settings;

/// The draws of Hamiltonian Monte Carlo.
pub(crate) const DRAWS: helmholtz_random::Purpose = helmholtz_random::Purpose::new("dmm-hmc");
