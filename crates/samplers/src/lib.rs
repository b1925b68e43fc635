//! MCMC kernels, resampling and SMC samplers, diagnostics, and a store that keeps one chain state a datum. Plain Rust:
//! no tensors, no framework.
//!
//! ```
//! use helmholtz_samplers::diagnostics::summary;
//! use helmholtz_samplers::random::{Purpose, Stream};
//! use helmholtz_samplers::{Kernel, MetropolisHastings, RandomWalk};
//!
//! // A target is any function of the state that gives ln p up to a constant (nats).
//! let target = |x: &Vec<f64>| -0.5 * x[0] * x[0] - (x[1] - x[0]).abs();
//! let kernel = MetropolisHastings::new(target, RandomWalk::new(1.5)?);
//!
//! let chain = |i| -> Vec<f64> {
//!     let (mut x, mut stream) = (vec![0.0; 2], Stream::new(7, Purpose::new("chain"), [i, 0]));
//!     let draw = |_| {
//!         kernel.step(&mut x, &mut stream); // one transition
//!         x[1]
//!     };
//!     (0..2000).map(draw).collect()
//! };
//! let summary = summary(&[chain(0), chain(1)])?;
//! assert!(summary.r_hat < 1.05 && summary.mean.abs() < 6.0 * summary.monte_carlo_error);
//! # Ok::<(), helmholtz_samplers::SamplerError>(())
//! ```
//!
//! # Two kinds of kernels
//!
//! A Metropolis independence move needs two numbers and a coin. So the core is the [`IndexKernel`]: it is given the
//! log-weights ln p(x, h) - ln q(h | x) of a current state and of K proposals, and answers with *indices*. The model
//! computes log-weights wherever it likes, in batches or on another device; states are moved by their index.
//!
//! ```
//! use helmholtz_samplers::random::{Purpose, Stream};
//! use helmholtz_samplers::{IndexKernel, Mis, Visits};
//!
//! // One datum: the cached state's log-weight, and those of three proposals.
//! let mut visits = Vec::new();
//! let mut coins = Stream::new(7, Purpose::new("accept"), [0, 12]);
//! let info = Mis.run(-88.1, &[-90.3, -87.0, -94.9], &mut coins, &mut visits);
//!
//! let visits = Visits::new(&visits);
//! let alpha = visits.coefficients(4); // weights of the four states in the gradient
//! assert!((alpha.iter().sum::<f64>() - 1.0).abs() < 1e-12);
//! assert!(visits.last() < 4); // the state to write back
//! assert_eq!(info.moves, 3);
//! ```
//!
//! A [`Kernel`] has the state itself, and computes what it needs from a [`Target`], a [`GradientTarget`] and a proposal.
//!
//! # Which index kernel
//!
//! w = p / q are the importance weights, and K the number of proposals.
//!
//! | kernel | a run | when |
//! |---|---|---|
//! | [`Mis`] | K moves, each accepted with min(1, w' / w) | the default: every proposal may be visited, which suits gradients averaged over visits |
//! | [`Mtmis`] | one move, to one of the K picked by weight | only the final state is wanted |
//! | [`Cis`] | one choice among all K + 1 by weight | conditional SMC, Markovian score climbing; its weights can be Rao-Blackwellised; below [`Mtmis`] in Peskun's order |
//! | [`Barker`] | K moves, each accepted with w' / (w + w') | acceptance must be smooth in the weights; below [`Mis`] in Peskun's order |
//! | [`FrozenReferenceMis`] | a defect of released code | to explain published figures; it does **not** sample the target |
//!
//! # Which state kernel
//!
//! | kernel | transition | when |
//! |---|---|---|
//! | [`Independence`] | an index kernel on K draws of q | q is close to p, as a trained inference model is; uniformly ergodic iff p / q is bounded |
//! | [`FiniteGibbs`] | x_i ~ p(x_i given the rest), by trying its values | discrete components with few values |
//! | [`BlockGibbs`] | several discrete components jointly, by trying all configurations | components that hold each other fast |
//! | [`HammingBall`] | a block within m changes of an auxiliary state | blocks too large for all their configurations |
//! | [`LocallyBalanced`] | one change, with weights g(p(y) / p(x)) of all changes; Gibbs with gradients | discrete states in many dimensions, by all [differences](DifferenceTarget) or a gradient |
//! | [`PathAuxiliary`] | several such changes, at the price of one | the same, where changes interact little |
//! | [`DiscreteLangevin`] | all sites at once, independently, with the Metropolis test (DMALA) or without (DULA, biased) | the same, with a step size; [cycles](AutomaticCycle) of them for several modes |
//! | [`Gibbs`] | a part from its conditional, by the user's function | conjugate conditionals |
//! | [`MetropolisHastings`] | min(1, p(x') q(x given x') / (p(x) q(x' given x))) | any proposal that can be scored both ways; [`RandomWalk`] for a few real coordinates without a gradient |
//! | [`Hmc`] | a leapfrog trajectory, min(1, exp(H - H')) | many real coordinates with a gradient, by hand or by burn (feature `burn`), after [`Hmc::warm_up`]; constrained ones after a change of variables with its Jacobian |
//! | `BatchedHmc` (feature `burn`) | the same for the rows of a tensor | many chains at once, one gradient by burn for all |
//! | the crate `nuts-rs`, on our streams | the no-U-turn sampler | purely continuous targets: `examples/nuts.rs` (feature `nuts-rs`) |
//! | [`Mixture`] | one of several kernels, Σ π_k P_k | random-scan Metropolis-within-Gibbs; bold and timid moves together |
//! | [`Cycle`] | several in turn, P_1 P_2 ... P_n | systematic-scan Metropolis-within-Gibbs |
//! | [`Repeat`] | Pⁿ | thinning; moves inside an SMC sampler |
//!
//! Metropolis-within-Gibbs is a mixture or a cycle of kernels that change one component each. They may be of different
//! kinds: box them, as `Box<dyn Kernel<S, C, Info = Info>>` is a kernel too.
//!
//! All kernels of this table but DULA leave the target invariant. All but DULA, [`Cycle`] and [`AutomaticCycle`] are
//! reversible too, if their parts are. Only reversible kernels have a spectrum on the real line
//! and a place in Peskun's order, while averages converge for kernels of both kinds. No kernel adapts while it samples:
//! what adapts ([`Hmc::warm_up`]) takes a kernel and gives back one that is fixed.
//!
//! # What is impossible, and what is wrong
//!
//! A log-density or log-weight of -inf is an impossible state: never moved to, and left at once by a chain that was
//! started there. NaN and +inf are mistakes of the caller. They are treated the same, so that they cannot trap a chain,
//! and counted in [`Info::non_finite`]. Arguments that cannot work are a [`SamplerError`].
//!
//! # Proving a kernel
//!
//! Coins and choices come from [`Chance`](crate::random::Chance): sampled in production, enumerated in proofs. A row
//! of the transition matrix of a kernel of one's own, exactly, from the code that runs:
//!
//! ```
//! use helmholtz_samplers::random::{Enumerator, enumerate};
//! use helmholtz_samplers::{FiniteGibbs, Kernel};
//!
//! let p = |x: &Vec<bool>| if x[0] == x[1] { 0.3f64.ln() } else { 0.2f64.ln() };
//! let kernel = FiniteGibbs::new(p, 1, vec![false, true]);
//! let row = enumerate(|chance: &mut Enumerator| {
//!     let mut x = vec![true, true];
//!     kernel.step(&mut x, chance);
//!     x
//! });
//! assert_eq!(row.len(), 2);
//! let stays: f64 = row.iter().filter(|(_, x)| x[1]).map(|(probability, _)| probability).sum();
//! assert!((stays - 0.6).abs() < 1e-15);
//! ```
//!
//! The crate `helmholtz-invariance` is the test kit that goes on from here. It has whole matrices, `assert_invariant!`
//! on random targets in one line, and tests with a stated false-alarm rate for kernels that draw real numbers.
//!
//! # Contents
//!
//! * index kernels, with [`Visits`] and [`Info`], and state kernels: the tables above;
//! * [`diagnostics`] of chains: effective sample sizes, R̂, Monte-Carlo errors;
//! * [`sampling`]: chains on threads, with progress, in folders from which they go on after a kill, and as InferenceData;
//! * [`coupling`] of chains: bounds on the distance to the target, estimates without burn-in bias;
//! * [`resampling`] of weighted particles, and the SMC samplers of [`smc`] on top;
//! * chain stores, one packed state a datum: [`MemoryStore`], which goes into a checkpoint as a whole, and
//!   `MappedStore`, for more rows than fit in memory;
//! * [`Latents`] of [`Layer`]s and their [`Values`] for what the stores hold, [`pack_bits`] and [`unpack_bits`] for
//!   bits alone;
//! * [`Scan`], the order in which data are visited;
//! * [`log_sum_exp`] and [`effective_sample_size`] of weights;
//! * [`random`]: the streams and the chance that all of this draws from, so that this crate alone is enough to depend on.
//!
//! # Features
//!
//! | feature | default | what it adds |
//! |---|---|---|
//! | `mmap` | yes | `MappedStore` and its `Mark`: a chain store on disk; without it the crate needs no memory-mapped files |
//! | `burn` | no | `BurnTarget` and `BatchedHmc`: log-densities that burn differentiates |
//! | `nuts-rs` | no | nothing but the example `nuts` |
//! | `zarr` | no | `Chains::write_inference_data`: draws, statistics and diagnostics that ArviZ opens |
//! | `serde` | no | `Serialize` and `Deserialize` for `Mark`, which a checkpoint records |

#![cfg_attr(docsrs, feature(doc_cfg))]

mod arguments;
#[cfg(feature = "burn")]
mod batched_hmc;
mod bit_fields;
mod bits;
#[cfg(feature = "burn")]
mod burn_target;
pub mod coupling;
pub mod diagnostics;
mod error;
mod exponential;
mod info;
mod kernel;
mod kernels;
mod latents;
mod log_space;
pub mod resampling;
pub mod sampling;
mod scan;
pub mod smc;
mod store;
mod targets;

#[cfg(feature = "burn")]
pub use batched_hmc::BatchedHmc;
pub use bits::{pack_bits, unpack_bits};
#[cfg(feature = "burn")]
pub use burn_target::BurnTarget;
pub use error::SamplerError;
pub use helmholtz_random as random;
pub use info::Info;
pub use kernel::Kernel;
pub use kernels::index::{Barker, Cis, FrozenReferenceMis, IndexKernel, Mis, Mtmis, Visits};
pub use kernels::state::{
    AutomaticCycle, BlockGibbs, Cycle, DifferenceTarget, DiscreteLangevin, EachChange, FiniteGibbs,
    FirstOrder, Gibbs, HammingBall, Hmc, Independence, LocallyBalanced, MetropolisHastings,
    Mixture, PathAuxiliary, RandomWalk, Repeat, Scale, Site, balancing_functions,
    cyclical_step_sizes,
};
pub use latents::{Latents, Layer, Values};
pub use log_space::{effective_sample_size, log_sum_exp};
pub use scan::{Scan, ScanOrder};
pub use store::{ChainStore, MemoryStore};
#[cfg(feature = "mmap")]
pub use store::{MappedStore, Mark};
pub use targets::{GradientTarget, IndependenceProposal, Proposal, Target};

#[cfg(all(doctest, feature = "mmap"))]
#[doc = include_str!("../README.md")]
struct Readme;
