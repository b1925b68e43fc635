//! Tests for kernels and estimators on any space, with a false-alarm rate that is stated and kept.
//!
//! **The rate.** A [`Suite`] has a false-alarm rate, one in a million unless said otherwise: the probability that any of
//! its tests fails though everything is right. It is split evenly over a declared number of [`Share`]s; a test spends a
//! share, and splits it further over its comparisons. With a million runs of a correct suite, each with another seed,
//! one would fail. So a failure is never bad luck, and is never retried; and a suite may run a thousand times a day.
//!
//! **The power.** A test that cannot fail proves nothing. Every [`Comparison`] states beside its statistic and threshold
//! the smallest discrepancy that it would have found with probability 0.99, and
//! [`samples_to_see`](Comparison::samples_to_see) tells how many samples another discrepancy needs. A small rate is
//! cheap: thresholds grow with √ln(1/rate), so a rate of 1e-8 costs two to three times the samples of 1e-2.
//!
//! **Which test.**
//!
//! | you have | test | at finite n |
//! |---|---|---|
//! | exact draws from π | [`OneStep`]: x ~ π, step, compare with π | exact |
//! | a simulator of prior and data | [`Geweke`]: two simulators of the joint law | exact (law), CLT (means) |
//! | posterior draws, or a reversible kernel, and the simulator | [`Calibration`]: ranks are uniform | exact |
//! | posterior probabilities of a class, and the simulator | [`ProbabilityCalibration`]: as often as they say, in every group | exact |
//! | an estimator and its exact mean | [`Unbiased`]: z or empirical Bernstein | CLT; exact with bounds |
//! | an SMC sampler and the exact evidence | [`Evidence`]: E\[Ẑ/Z\] = 1 | CLT |
//! | values and their distribution function | [`ks_one_sample`] | exact |
//! | two samples | [`ks_two_sample`], [`energy_distance`] | exact |
//!
//! "Exact" means that the false-alarm rate holds at every sample size by a theorem, not in a limit. "CLT" tests rest on
//! the central limit theorem: see [`Unbiased`] for what is done about it.
//!
//! If the randomness is discrete and the space small, [`exact`](crate::exact) proves what these tests fail to refute.
//!
//! **Randomness** comes from [`Stream`](crate::random::Stream)s keyed by the suite's seed and the share's name. The
//! i-th sample has a stream of its own.

mod calibration;
mod comparison;
mod deviation;
mod energy;
mod evidence;
mod geweke;
mod ks;
mod moments;
mod one_step;
mod probabilities;
mod rank_plot;
mod report;
mod sequential;
mod suite;
mod unbiased;

pub use calibration::Calibration;
pub use comparison::{Comparison, POWER};
pub use energy::energy_distance;
pub use evidence::Evidence;
pub use geweke::Geweke;
pub use ks::{ks_one_sample, ks_two_sample};
pub use one_step::OneStep;
pub use probabilities::ProbabilityCalibration;
pub use rank_plot::Ranks;
pub use report::Report;
pub use sequential::sequential;
pub use suite::{Share, Suite};
pub use unbiased::Unbiased;
