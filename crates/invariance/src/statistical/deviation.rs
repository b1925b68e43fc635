//! When a count is too far from its mean.

/// The smallest d >= 1/2 with P(|X - `mean`| >= d) <= `rate` for a variable with the masses `law` on 0, 1, ....
pub(super) fn significant_deviation(mean: f64, law: &[f64], rate: f64) -> f64 {
    // Outwards from both ends, the less likely deviation first, until the next would be too much.
    let (mut low, mut high, mut tail) = (0, law.len().saturating_sub(1), 0.0);
    loop {
        let (below, above) = (mean - low as f64, high as f64 - mean);
        let next = f64::max(below, above);
        let mut mass = 0.0;
        if below >= next {
            mass += law[low];
        }
        if above >= next {
            mass += law[high];
        }
        tail += mass;
        if tail > rate || next < 1.0 {
            return next + 1e-9;
        }
        if below >= next {
            low += 1;
        }
        if above >= next {
            high -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::special::ln_binomial_mass;

    #[test]
    fn a_deviation_is_significant_exactly_at_the_rate() {
        for (n, p, rate) in [(100, 0.05, 1e-3), (1000, 0.05, 1e-8), (50, 0.5, 0.05)] {
            let law: Vec<f64> = (0..=n).map(|k| ln_binomial_mass(k, n, p).exp()).collect();
            let mean = n as f64 * p;
            let d = significant_deviation(mean, &law, rate);
            let mass = |from: f64| -> f64 {
                let far = law.iter().enumerate();
                far.filter(|(k, _)| (*k as f64 - mean).abs() >= from)
                    .map(|(_, mass)| mass)
                    .sum()
            };
            assert!(mass(d) <= rate, "{} {rate}", mass(d));
            assert!(mass(d - 1e-6) > rate, "{} {rate}", mass(d - 1e-6));
        }
    }
}
