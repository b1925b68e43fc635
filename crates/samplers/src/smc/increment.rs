//! The incremental weight of one move.

/// The four log-densities (nats) that weigh a move from x to x' (Del Moral, Doucet and Jasra, 2006, eq. 12):
///
/// > log v = log γ_t(x') + log L_t(x' → x) - log γ_{t-1}(x) - log K_t(x → x').
///
/// Zero densities in the numerator make the weight zero. One in the denominator cannot be: the particle was at x, and
/// did move to x'. It gives NaN or +inf, which a [`Population`](super::Population) refuses.
///
/// ```
/// use helmholtz_samplers::smc::Increment;
/// let log_v = Increment {
///     log_target: -3.0,
///     log_reverse: -1.0,
///     log_previous: -2.5,
///     log_forward: -0.5,
/// }
/// .log_weight();
/// assert_eq!(log_v, -1.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Increment {
    /// log γ_t(x'), of the new state under the new target.
    pub log_target: f64,
    /// log L_t(x' → x), of the way back.
    pub log_reverse: f64,
    /// log γ_{t-1}(x), of the old state under the old target.
    pub log_previous: f64,
    /// log K_t(x → x'), of the way taken.
    pub log_forward: f64,
}

impl Increment {
    /// log v (nats).
    pub fn log_weight(&self) -> f64 {
        (self.log_target + self.log_reverse) - (self.log_previous + self.log_forward)
    }
}
