//! Balancing functions.
//!
//! A balancing function has g(t) = t g(1/t). It makes the proposal q(y | x) ∝ g(p(y) / p(x)) over the neighbours y of x
//! reversible, up to its normaliser, with respect to p. (Zanella, 2020, "Informed proposals for local MCMC in discrete
//! spaces", eq. 7.) Every function here has this property. Each is a function from ln t to ln g(t), so that no ratio
//! overflows.

/// g(t) = √t: Gibbs with gradients, discrete Langevin.
pub fn square_root(log_t: f64) -> f64 {
    0.5 * log_t
}

/// g(t) = t / (1 + t), bounded by 1: robust where some ratios are huge.
pub fn barker(log_t: f64) -> f64 {
    log_t.min(0.0) - (-log_t.abs()).exp().ln_1p()
}

/// g(t) = min(1, t).
pub fn metropolis(log_t: f64) -> f64 {
    log_t.min(0.0)
}

/// g(t) = max(1, t).
pub fn maximum(log_t: f64) -> f64 {
    log_t.max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_balanced_and_are_what_their_formulas_say() {
        for log_t in [-700.0, -3.0, -1e-9, 0.0, 0.4, 30.0, 700.0f64] {
            for g in [square_root, barker, metropolis, maximum] {
                assert!((g(log_t) - (log_t + g(-log_t))).abs() <= 1e-13 * log_t.abs().max(1.0));
            }
        }
        let t = 2.5f64;
        let pairs = [
            (square_root(t.ln()), t.sqrt()),
            (barker(t.ln()), t / (1.0 + t)),
            (metropolis(t.ln()), 1.0),
            (maximum(t.ln()), t),
        ];
        for (log_g, g) in pairs {
            assert!((log_g.exp() - g).abs() < 1e-15);
        }
    }
}
