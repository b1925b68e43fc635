//! Sequential Monte Carlo samplers: a population that follows a sequence of targets, and weighs how well it does.
//!
//! There are targets γ_0, γ_1, … , γ_T, each known up to its constant Z_t = Σ γ_t (or ∫ γ_t). The population at t has
//! states x_i and weights W_i, and a running estimate Ẑ_t of Z_t. One step from t-1 to t (Del Moral, Doucet and Jasra,
//! 2006):
//!
//! 1. where the weights have become uneven, resample ([`Policy`](crate::resampling::Policy)) and set W_i = 1/N;
//! 2. move every particle, x_i' ~ K_t(x_i → ·);
//! 3. weigh the move against a *reverse* kernel L_t, any normalised one that covers where the particle came from:
//!
//! > v_i = γ_t(x_i') L_t(x_i' → x_i) / (γ_{t-1}(x_i) K_t(x_i → x_i')),  Ẑ_t = Ẑ_{t-1} Σ W_i v_i,  W_i ∝ W_i v_i.
//!
//! Ẑ_t is unbiased, E\[Ẑ_t\] = Z_t, and so is every average under it, E\[Ẑ_t Σ W_i f(x_i)\] = Z_t E_γt\[f\]. This holds
//! at any N, with any resampling scheme of this crate, applied at every step or when a look at the weights asks for it.
//! (Not so log Ẑ_t, which is low on average by about half the relative variance of Ẑ_t.) `tests/smc` proves these
//! equations for this code by enumerating all that can happen to a small population, and that almost-right samplers
//! fail them.
//!
//! # The parts
//!
//! * [`Population`]: states, normalised log-weights, log Ẑ. Its three moves, [`extend`](Population::extend),
//!   [`reweight`](Population::reweight) and [`resample`](Population::resample), are what every sampler here is made of;
//! * [`Increment`]: log v from the four log-densities, by name;
//! * [`Smc`]: a resampling scheme and a policy, and the step above;
//! * [`Tempered`]: the ready-made sampler from an easy density to a hard one through any [`Kernel`](crate::Kernel);
//! * [`Tempered::step_waste_free`]: the same, with every state of the chains kept;
//! * [`run_in`] a folder, and [`Tempered::run_in`]: samplers that go on after a kill, to the same bits; by [`InFolder`] with
//!   progress and cancelling;
//! * [`Ancestry`]: who descends from whom, and from it [`relative_variance`], the variance of Ẑ from one run;
//! * [`ConditionalSmc`]: a kernel on whole paths of a [`PathModel`], for particle Gibbs, with ancestor or backward sampling.
//!
//! # Which reverse kernel
//!
//! | K_t | L_t | v |
//! |---|---|---|
//! | leaves γ_t invariant | its reversal, L(x' → x) = γ_t(x) K_t(x → x') / γ_t(x') | γ_t(x) / γ_{t-1}(x): of the state *before* the move. This is tempering |
//! | a block drawn from a proposal q | the same proposal at the old value | γ_t(x') q(x) / (γ_{t-1}(x) q(x')): amortised Gibbs |
//! | adds a new coordinate y ~ q(· given x) | forgets it: 1 | γ_t(x, y) / (γ_{t-1}(x) q(y)): a particle filter |
//!
//! # Randomness
//!
//! One generator, in order: the resampling draws first, then the particles' by index, those of weight zero left out. So
//! a step is a function of the population and the generator. Give each step a stream of its own, named by (seed,
//! purpose, run, step), and a sampler resumed at any step goes on bit for bit. Populations are independent of each
//! other if their streams are. One population is moved on one thread, unless what moves its particles uses more; run
//! several populations on several.
//!
//! ```
//! use helmholtz_samplers::random::{Draws, Purpose, Stream};
//! use helmholtz_samplers::resampling::{Policy, Systematic};
//! use helmholtz_samplers::smc::{Population, Smc};
//!
//! // A random walk seen through noise: y_t = x_t + e_t, both noises standard normal.
//! let seen = [0.3, 1.1, 0.8, 2.0];
//! let log_likelihood = |x: f64, y: f64| -0.5 * (x - y).powi(2) - 0.5 * (2.0 * std::f64::consts::PI).ln();
//!
//! let mut stream = Stream::new(1, Purpose::new("smc"), [0, 0]);
//! let mut population = Population::draw(1000, &mut stream, |draws| {
//!     let x = draws.normal();
//!     (x, log_likelihood(x, seen[0]))
//! })?;
//! let smc = Smc::new(Systematic, Policy::EssBelow(0.5))?;
//! for (t, &y) in (1..).zip(&seen[1..]) {
//!     let mut stream = Stream::new(1, Purpose::new("smc"), [0, t]);
//!     smc.step(&mut population, &mut stream, |x, draws| {
//!         *x += draws.normal();
//!         log_likelihood(*x, y)
//!     })?;
//! }
//! assert!((population.log_evidence() - -5.9328).abs() < 0.3); // the Kalman filter's value
//! # Ok::<(), helmholtz_samplers::SamplerError>(())
//! ```

mod ancestry;
mod conditional;
mod folder;
mod increment;
mod path;
mod path_model;
mod population;
mod record;
mod run;
mod sampler;
mod tempered;
mod variance;

pub use ancestry::Ancestry;
pub use conditional::{AncestorSampling, BackwardSampling, ConditionalSmc, Traced};
pub use increment::Increment;
pub use path::TemperedPath;
pub use path_model::{PathModel, ScoredPathModel};
pub use population::Population;
pub use run::{InFolder, run_in};
pub use sampler::{Smc, StepInfo};
pub use tempered::{Tempered, TemperedInfo};
pub use variance::relative_variance;
