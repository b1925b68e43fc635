//! Variates that are whole numbers, from uniforms, gamma and beta variates.

use helmholtz_random::Draws;

/// A Poisson variate of this mean (Ahrens and Dieter, 1974): the time of the m-th of its events is a gamma variate; what
/// is left of the time has a Poisson or a binomial number of them. NaN for a mean that is negative or not finite.
pub(crate) fn poisson(mean: f64, draws: &mut impl Draws) -> f64 {
    if !(mean >= 0.0 && mean.is_finite()) {
        return f64::NAN;
    }
    let (mut left, mut events) = (mean, 0.0);
    while left > 12.0 {
        let m = (0.875 * left).floor();
        let time = draws.gamma(m);
        if time > left {
            return events + binomial(m - 1.0, left / time, draws);
        }
        events += m;
        left -= time;
    }
    // Events until the product of uniforms is below e^-left.
    let (least, mut product) = ((-left).exp(), draws.uniform());
    while product > least {
        events += 1.0;
        product *= draws.uniform();
    }
    events
}

/// A binomial variate of `n` trials (Relles, 1972): the middle one of n uniforms is a beta variate, and leaves half of
/// them to be counted. NaN for an `n` that is negative or not finite, and a `p` outside [0, 1].
pub(crate) fn binomial(n: f64, p: f64, draws: &mut impl Draws) -> f64 {
    if !(n >= 0.0 && n.is_finite() && (0.0..=1.0).contains(&p)) {
        return f64::NAN;
    }
    let (mut n, mut p, mut successes) = (n.floor(), p, 0.0);
    while n > 24.0 {
        let middle = 1.0 + (0.5 * n).floor();
        let least = draws.beta(middle, n + 1.0 - middle);
        if least <= p {
            successes += middle;
            n -= middle;
            p = ((p - least) / (1.0 - least)).clamp(0.0, 1.0);
        } else {
            n = middle - 1.0;
            p /= least;
        }
    }
    successes + (0..n as usize).filter(|_| draws.uniform() < p).count() as f64
}
