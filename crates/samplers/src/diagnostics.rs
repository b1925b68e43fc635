//! How far to trust the averages of chains.
//!
//! A chain's draws are dependent and start somewhere, so an average over them has its own kinds of error, and each
//! diagnostic looks at one:
//!
//! | question | look at |
//! |---|---|
//! | Do the chains agree, and each with itself? | [`r_hat`] below 1.01 |
//! | How many independent draws is the centre worth? | [`bulk_ess`] above 100 a chain |
//! | And the tails, from which intervals come? | [`tail_ess`] above 100 a chain |
//! | How wrong is the mean, then? | [`monte_carlo_error`], in the units of the draws |
//! | All of these | [`summary`] |
//! | How fast does the chain forget? | [`autocovariance`] |
//! | Do importance weights degenerate? | [`effective_sample_size`](crate::effective_sample_size) |
//! | Does a kernel move at all? | [`Info::acceptance_rate`](crate::Info::acceptance_rate) |
//!
//! Draws are of one real quantity, as one slice a chain, after burn-in; give several chains from dispersed starts, since
//! one chain that never left a mode looks perfect. Each chain is split in halves first (an odd draw in the middle is
//! in neither), so that a drift within a chain shows as disagreement. Rank-normalised diagnostics replace draws by normal
//! scores of their ranks: they need no finite variance, and do not change under any increasing transformation. (Vehtari,
//! Gelman, Simpson, Carpenter and Bürkner, 2021, "Rank-normalization, folding, and localization: an improved R̂", whose
//! thresholds these are.)
//!
//! Chains of different lengths or with fewer than 4 draws, values that are not finite and draws that never vary are
//! typed errors. The cost is that of sorting and of Fourier transforms, O(S log S) for S draws. The numbers are those of
//! ArviZ 0.23.4, beside which they are tested; not those of another program. An indicator of [`tail_ess`] that never varies
//! is the exception: ArviZ counts it as S independent draws.
//!
//! ```
//! use helmholtz_samplers::random::{Draws, Purpose, Stream};
//! use helmholtz_samplers::diagnostics::summary;
//!
//! // Two chains with x' = 0.5 x + noise, whose draws are worth a third each.
//! let chain = |i| -> Vec<f64> {
//!     let (mut x, mut stream) = (0.0, Stream::new(7, Purpose::new("chain"), [i, 0]));
//!     let step = |_| {
//!         x = 0.5 * x + stream.normal();
//!         x
//!     };
//!     (0..3000).map(step).collect()
//! };
//! let summary = summary(&[chain(0), chain(1)])?;
//! assert!(summary.r_hat < 1.01);
//! assert!((1500.0..2600.0).contains(&summary.bulk_ess));
//! assert!(summary.mean.abs() < 6.0 * summary.monte_carlo_error);
//! # Ok::<(), helmholtz_samplers::SamplerError>(())
//! ```

mod autocovariance;
mod chains;
mod ess;
mod fourier;
mod normal_quantile;
mod r_hat;
mod ranks;
mod summary;

pub use autocovariance::autocovariance;
pub use ess::{bulk_ess, ess, monte_carlo_error, tail_ess};
pub use r_hat::r_hat;
pub use summary::{Summary, summary};
