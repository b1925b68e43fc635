//! Resampling: which particles live on, and how often.
//!
//! A population of N particles has log-weights ℓ_j (nats), known up to a constant; W_j = exp(ℓ_j) / Σ exp(ℓ).
//! Resampling draws M ancestor indices, and particle j gets #j of them, its copies. Every scheme here has
//!
//! > E\[#j\] = M W_j,
//!
//! so that M equally weighted copies stand for the N weighted particles without bias. They differ in how far #j strays
//! from its mean, and in what they ask of chance:
//!
//! | scheme | copies of j | draws | source |
//! |---|---|---|---|
//! | [`Multinomial`] | binomial: anything from 0 to M | M uniforms | Gordon, Salmond and Smith, 1993 |
//! | [`Residual`] | ⌊M W_j⌋ or more | M - Σ⌊M W_j⌋ uniforms | Liu and Chen, 1998 |
//! | [`Stratified`] | within two of M W_j | M uniforms | Kitagawa, 1996 |
//! | [`Systematic`] | ⌊M W_j⌋ or ⌈M W_j⌉ | one uniform | Carpenter, Clifford and Fearnhead, 1999 |
//! | [`Ssp`] | ⌊M W_j⌋ or ⌈M W_j⌉ | fewer than N coins | Gerber, Chopin and Whiteley, 2019 |
//! | [`MultinomialByChoice`] | binomial | M weighted choices, O(N M) | the reference for proofs |
//!
//! # Which to use
//!
//! * [`Systematic`] by default: the cheapest, and in practice the least noisy. Its weak side is theory. The copies are
//!   a function of one uniform and of the order of the particles. For unlucky orders the variance of an average does
//!   not fall with N (Douc, Cappé and Moulines, 2005).
//! * [`Ssp`] when that matters: the same ⌊M W_j⌋ or ⌈M W_j⌉, but the copies are negatively associated, which gives
//!   consistency whatever the order (Gerber, Chopin and Whiteley, 2019). It needs coins only, so that an algorithm with
//!   it can be proved by enumeration.
//! * [`Residual`] and [`Stratified`] never have a larger conditional variance than [`Multinomial`] (Douc, Cappé and
//!   Moulines, 2005).
//! * [`Multinomial`] where theory asks for independent draws.
//!
//! Residual resampling with a systematic remainder (Bolić, Djurić and Hong, 2003) is not here, as it would be
//! [`Systematic`] under another name. Taking ⌊M W_j⌋ off each particle moves the cumulative sums by whole numbers,
//! under which the systematic grid is invariant.
//!
//! # What all schemes keep
//!
//! * A log-weight of -inf is a weight of zero, and so is one that vanishes beside the largest. A particle of weight zero
//!   is never chosen, whatever the uniforms, 0 and 1 - 2^-53 included.
//! * A NaN or +inf, no log-weights, and all -inf are typed errors. Only differences of log-weights matter.
//! * O(N + M) time and no allocation: the ancestors go into the caller's buffer, whose length is M. M need not be N.
//! * The order of the ancestors is the scheme's own: ascending for [`Multinomial`], [`Stratified`] and [`Systematic`],
//!   the certain copies first for [`Residual`], as they are settled for [`Ssp`]. What needs every slot to descend from j
//!   with probability W_j, as conditional SMC does, uses [`ConditionalResampler`].
//!
//! # When to resample
//!
//! Resampling adds noise now to save particles later, so it is worth it only when the weights are uneven: see [`Policy`].
//!
//! ```
//! use helmholtz_samplers::random::{Purpose, Stream};
//! use helmholtz_samplers::resampling::{Policy, Resampler, Systematic};
//!
//! let log_weights = [-3.0, f64::NEG_INFINITY, -1.0, -1.0];
//! let mut stream = Stream::new(7, Purpose::new("resample"), [0, 12]);
//! assert!(Policy::EssBelow(0.8).wants(&log_weights));
//!
//! let mut ancestors = [0; 4];
//! Systematic.resample(&log_weights, &mut stream, &mut ancestors)?;
//! assert!(!ancestors.contains(&1)); // impossible
//! assert!(ancestors.contains(&2) && ancestors.contains(&3)); // each is due 1.8 copies: one or two
//! # Ok::<(), helmholtz_samplers::SamplerError>(())
//! ```

mod by_choice;
mod multinomial;
mod policy;
mod residual;
mod sorted_uniforms;
mod ssp;
mod stratified;
mod systematic;
mod turned;
mod weights;

pub use by_choice::MultinomialByChoice;
pub use multinomial::Multinomial;
pub use policy::{Policy, Rule};
pub use residual::Residual;
pub use ssp::Ssp;
pub use stratified::Stratified;
pub use systematic::Systematic;

use crate::SamplerError;

/// A resampling scheme: ancestors drawn from log-weights, with E\[#j\] = M W_j (see the [module](self)).
///
/// `C` is the randomness: a scheme that needs uniforms asks for [`Draws`](crate::random::Draws), one that needs only
/// coins and choices for [`Chance`](crate::random::Chance), and the latter can be enumerated in proofs.
pub trait Resampler<C: ?Sized> {
    /// Draws `ancestors.len()` ancestors, indices into `log_weights` (nats, up to a constant), one a slot.
    ///
    /// # Errors
    /// [`SamplerError::NoWeights`], [`SamplerError::LogWeight`] for a NaN or +inf, [`SamplerError::AllWeightsZero`],
    /// [`SamplerError::TooManyParticles`]. The ancestors are then as they were.
    fn resample(
        &self,
        log_weights: &[f64],
        chance: &mut C,
        ancestors: &mut [u32],
    ) -> Result<(), SamplerError>;
}

/// A reference to a scheme is that scheme.
impl<C: ?Sized, R: Resampler<C> + ?Sized> Resampler<C> for &R {
    fn resample(
        &self,
        log_weights: &[f64],
        chance: &mut C,
        ancestors: &mut [u32],
    ) -> Result<(), SamplerError> {
        (**self).resample(log_weights, chance, ancestors)
    }
}

/// A boxed scheme is that scheme: for one that is chosen at run time.
impl<C: ?Sized, R: Resampler<C> + ?Sized> Resampler<C> for Box<R> {
    fn resample(
        &self,
        log_weights: &[f64],
        chance: &mut C,
        ancestors: &mut [u32],
    ) -> Result<(), SamplerError> {
        (**self).resample(log_weights, chance, ancestors)
    }
}

/// A scheme that can be drawn given one slot's ancestor, as conditional SMC (particle Gibbs) does to keep its retained
/// path alive (Andrieu, Doucet and Holenstein, 2010).
///
/// The law is that of the scheme *with its slots turned*, given that the pinned slot descends from the pinned particle.
/// Turned means that the slots are put in a random order, uniform over the M rotations for [`Stratified`] and
/// [`Systematic`], and over all orders for the others. Then each slot has ancestor j with probability W_j, which conditional
/// SMC asks for, and which ascending order would break.
pub trait ConditionalResampler<C: ?Sized> {
    /// Draws `ancestors.len()` ancestors given that slot `slot` descends from particle `ancestor`.
    ///
    /// # Errors
    /// Those of [`Resampler::resample`], and [`SamplerError::Pinned`] for a slot or particle that does not exist or a
    /// particle of weight zero.
    fn resample_given(
        &self,
        slot: usize,
        ancestor: u32,
        log_weights: &[f64],
        chance: &mut C,
        ancestors: &mut [u32],
    ) -> Result<(), SamplerError>;
}

/// A reference to a scheme is that scheme.
impl<C: ?Sized, R: ConditionalResampler<C> + ?Sized> ConditionalResampler<C> for &R {
    fn resample_given(
        &self,
        slot: usize,
        ancestor: u32,
        log_weights: &[f64],
        chance: &mut C,
        ancestors: &mut [u32],
    ) -> Result<(), SamplerError> {
        (**self).resample_given(slot, ancestor, log_weights, chance, ancestors)
    }
}
