//! Chains from a kernel and starts: on threads, with draws kept, and in a folder from which a run goes on after a kill.
//!
//! ```
//! use helmholtz_samplers::sampling::sample;
//! use helmholtz_samplers::{MetropolisHastings, RandomWalk};
//!
//! let target = |x: &Vec<f64>| -0.5 * x[0] * x[0] - (x[1] - x[0]).abs();
//! let kernel = MetropolisHastings::new(target, RandomWalk::new(1.5)?);
//! let starts = [-3.0, -1.0, 1.0, 3.0].map(|x| vec![x, x]);
//! let chains = sample(&kernel, starts.to_vec(), 500, 2000, 7)?;
//! for (name, summary) in chains.summaries(&["x0", "x1"], |x, values| values.clone_from(x))? {
//!     assert!(summary.r_hat < 1.05, "{name}");
//! }
//! assert!(chains.info().acceptance_rate() > Some(0.2));
//! # Ok::<(), helmholtz_samplers::SamplerError>(())
//! ```
//!
//! [`Sampling`] has what that call leaves out: threads, progress and cancelling, kernels that are tuned for each chain,
//! and [`run_in`](Sampling::run_in) or [`run_tuned_in`](Sampling::run_tuned_in) a folder. With the feature `zarr`,
//! `Chains::write_inference_data` writes them for ArviZ.
//!
//! **Randomness.** Transition t of chain i draws from a stream of its own, named by (seed, i, t). So the chains are the
//! same bits on any number of threads. A run of more draws begins with those of a run of fewer, and a run that was
//! killed goes on as if it had not been.

mod chains;
mod driver;
mod folder;
#[cfg(feature = "zarr")]
mod inference_data;
mod record;
mod trace;
#[cfg(feature = "zarr")]
mod zarr;

pub use chains::Chains;
pub(crate) use driver::tell;
pub use driver::{Progress, Sampling, sample};
#[cfg(feature = "zarr")]
pub use inference_data::Variable;
pub use record::Record;
