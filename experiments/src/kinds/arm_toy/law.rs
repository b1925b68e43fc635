//! Variances of an estimate for one bit, K = 1, in closed form.
//!
//! In each, σ is the probability of a one, Δ = f(1) − f(0), and s = σ(|a|) − ½. The workspace's proofs hold the estimators
//! to them.

/// s at the largest variance of [`arm`]: (√5 − 1)/4. There its two values of f agree with a probability that is to that of
/// differing as (1 + √5)/2 to one (Yin & Zhou 2019).
pub fn arm_peak() -> f64 {
    (5f64.sqrt() - 1.0) / 4.0
}

/// The largest variance of [`arm`] over all logits, divided by Δ²: 0.0397881.
pub fn arm_supremum() -> f64 {
    arm(0.5 + arm_peak(), [0.0, 1.0])
}

/// ARM: Δ² ((2/3)(1/8 − s³) − (1/4 − s²)²) (Yin & Zhou 2019); at most Δ²/25.
pub fn arm(sigma: f64, f: [f64; 2]) -> f64 {
    let s = (sigma - 0.5).abs();
    let unit = 2.0 / 3.0 * (0.125 - s.powi(3)) - (0.25 - s.powi(2)).powi(2);
    (f[1] - f[0]).powi(2) * unit
}

/// DisARM: Δ² σ⁺² (1 − σ⁺)(σ⁺ − ½), σ⁺ = σ(|a|) (from equation 6 of Dong, Mnih & Tucker 2020); at most ARM's.
pub fn disarm(sigma: f64, f: [f64; 2]) -> f64 {
    let likely = 0.5 + (sigma - 0.5).abs();
    (f[1] - f[0]).powi(2) * likely.powi(2) * (1.0 - likely) * (likely - 0.5)
}

/// REINFORCE: σ(1 − σ) ((1 − σ) f(1) + σ f(0))²; (f(0) + f(1))²/16 at σ = ½, which its supremum is not below.
pub fn reinforce(sigma: f64, f: [f64; 2]) -> f64 {
    sigma * (1.0 - sigma) * ((1.0 - sigma) * f[1] + sigma * f[0]).powi(2)
}

/// An upper bound of the ratio of the suprema, of ARM's variance to REINFORCE's: (16/25)(1 − 2 f(0)/(f(0) + f(1)))²
/// (Yin & Zhou 2019).
pub fn ratio_bound(f: [f64; 2]) -> f64 {
    16.0 / 25.0 * (1.0 - 2.0 * f[0] / (f[0] + f[1])).powi(2)
}
