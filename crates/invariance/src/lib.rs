//! A test kit for Markov kernels and Monte Carlo estimators. It has proofs where the space is finite, statistical tests
//! with a stated false-alarm rate where it is not, and property tests over random targets.
//!
//! Sampling code fails silently: a wrong kernel still gives plausible numbers. Published libraries, well tested by their
//! own lights, had weights that counted the prior twice, no reverse density, a Jacobian missing, and resampling that
//! picked impossible particles. The parts were right; what was wrong was their composition. So test compositions,
//! against exact answers.
//!
//! ```
//! use helmholtz_invariance::{OneStep, Suite, assert_invariant, step_fn};
//! use helmholtz_invariance::random::{Chance, Draws, Stream};
//! use helmholtz_invariance::samplers::Kernel;
//!
//! // A kernel of your own: a walk on numbered states with the Metropolis test.
//! struct Walk<'a> { log_p: &'a [f64] }
//!
//! impl<C: Chance> Kernel<usize, C> for Walk<'_> {
//!     type Info = ();
//!     fn step(&self, x: &mut usize, chance: &mut C) {
//!         let n = self.log_p.len();
//!         let to = (*x + if chance.accept(0.5f64.ln()) { 1 } else { n - 1 }) % n;
//!         let (new, old) = (self.log_p[to], self.log_p[*x]);
//!         if new.is_finite() && (!old.is_finite() || chance.accept(new - old)) {
//!             *x = to;
//!         }
//!     }
//! }
//!
//! // One line proves it, exactly, on 64 random targets with ties, extremes and impossible states.
//! assert_invariant!(|problem| Walk { log_p: problem.log_p() });
//!
//! // A kernel on real numbers: a standard normal must stay one. One false alarm in a million suites.
//! static SUITE: Suite = Suite::new(7, 1);
//! let autoregression = step_fn(|x: &mut f64, rng: &mut Stream| *x = 0.6 * *x + 0.8 * rng.normal());
//! let report = OneStep::new(|rng| rng.normal(), |x| vec![*x, x * x])
//!     .marginals(&autoregression, SUITE.share("autoregression")?)?;
//! report.assert_passed();
//! println!("{report}"); // statistics, thresholds, and the smallest defect it would have seen
//! # Ok::<(), helmholtz_invariance::InvarianceError>(())
//! ```
//!
//! # Which test when
//!
//! 1. **The randomness is discrete** (coins and choices, through [`Chance`](crate::random::Chance)): *prove it*. Take a
//!    small space, and the code that runs in production is enumerated. `assert_invariant!` is one line,
//!    `assert_ergodic!` asks for convergence too, and `assert_not_invariant!` is for wrong twins. [`TransitionMatrix`]
//!    also has detailed balance, irreducibility, period, spectral gap and Peskun's order. [`expectation`] is the mean
//!    of an estimator over all its branches. Chapter [`exact`].
//! 2. **The target can be drawn from exactly**: [`OneStep`]. A kernel in production has a target that cannot, but the
//!    kernel does not know: test it on one that can.
//! 3. **The target is a posterior, and prior and data can be simulated**: [`Geweke`] for a kernel, and [`Calibration`]
//!    for posterior draws, or for a reversible kernel. [`ProbabilityCalibration`] is for the exact probabilities of a
//!    class.
//! 4. **An estimator has a known mean**: [`Unbiased`]; for an evidence, [`Evidence`].
//!
//!    [`Report::to_svg`] draws the ranks of a calibration; [`sequential`] looks several times, with more samples each.
//! 5. **Uniforms are compared with thresholds**: [`on_grid`] and [`Uniforms`], with both ends of the interval.
//!
//! Chapter [`statistical`] has 2 to 4, what a false-alarm rate is, and what each test can see.
#![cfg_attr(
    feature = "proptest",
    doc = "Random targets, models and log-weights are in chapter [`families`]."
)]
//!
//! # What a test should come with
//!
//! * **A twin that is wrong.** A certificate is worth what it refuses. For each test of a kernel keep a broken copy of the
//!   kernel that must fail: [`Report::assert_failed`]. The crate's gallery (`examples/gallery`) has defects of many
//!   kinds with their repaired twins; the README lists them all, and how many samples each took.
//! * **A seed that nobody chose by looking**, and no retries: see [`Suite`].
//! * **A space that can tell.** On two states every kernel is reversible; at a symmetric target a missing reverse density
//!   is invisible; with uniform weights everything is accepted. Take five uneven states rather than two even ones.
//!
//! # What the tests mean
//!
//! A kernel P leaves π *invariant* if π P = π: started from π, the chain stays there. That, and that it comes everywhere
//! (*irreducibility*), makes averages along the chain converge to those under π; with *aperiodicity* the law of the state
//! converges too. *Detailed balance*, π(x) P(x, y) = π(y) P(y, x), is sufficient for invariance and not necessary. The
//! *spectral gap* says how fast.
//!
//! # Sources
//!
//! * Besag and Clifford (1989), Generalized Monte Carlo significance tests; (1991), Sequential Monte Carlo p-values.
//! * Dvoretzky, Kiefer and Wolfowitz (1956); Massart (1990), The tight constant in the Dvoretzky-Kiefer-Wolfowitz
//!   inequality.
//! * Geweke (2004), Getting it right: joint distribution tests of posterior simulators.
//! * Gnedenko and Korolyuk (1951), On the maximum discrepancy between two empirical distributions.
//! * Jing, Shao and Wang (2003), Self-normalized Cramér-type large deviations; Wang (2005), Limit theorems for
//!   self-normalized large deviation.
//! * Maurer and Pontil (2009), Empirical Bernstein bounds and sample variance penalization.
//! * Modrák, Moon, Kim, Bürkner, Huurre, Faltejsková, Gelman and Vehtari (2023), Simulation-based calibration checking
//!   for Bayesian computation: the choice of test quantities shapes sensitivity.
//! * Peskun (1973), Optimum Monte-Carlo sampling using Markov chains; Tierney (1998), A note on Metropolis-Hastings
//!   kernels for general state spaces.
//! * Székely and Rizzo (2013), Energy statistics: a class of statistics based on distances.
//! * Talts, Betancourt, Simpson, Vehtari and Gelman (2018), Validating Bayesian inference algorithms with
//!   simulation-based calibration.
//!
//! # Features
//!
//! `proptest` (on by default): the `families` chapter and `assert_invariant!`, `assert_ergodic!`, `assert_not_invariant!`.
//!
//! `gradients`: the `gradients` chapter, certificates of gradient estimators against enumeration. It brings burn.

#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod exact;
#[cfg(feature = "proptest")]
pub mod families;
#[cfg(feature = "gradients")]
pub mod gradients;
pub mod statistical;

mod error;
mod leak;
mod special;
mod step_fn;

#[doc(no_inline)]
pub use exact::{Law, TOLERANCE, TransitionMatrix, Uniforms, expectation, on_grid};
#[doc(no_inline)]
pub use statistical::{
    Calibration, Comparison, Evidence, Geweke, OneStep, POWER, ProbabilityCalibration, Ranks,
    Report, Share, Suite, Unbiased, energy_distance, ks_one_sample, ks_two_sample, sequential,
};

pub use error::InvarianceError;
pub use leak::Leak;
pub use step_fn::{StepFn, step_fn};

pub use helmholtz_random as random;
pub use helmholtz_samplers as samplers;
#[cfg(feature = "proptest")]
pub use proptest;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
