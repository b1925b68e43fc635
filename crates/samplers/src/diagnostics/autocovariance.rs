//! Autocovariances of a chain.

/// γ_t = 1/N Σ_i (x_i - m)(x_{i+t} - m) for lags t = 0..=`max_lag`, with the chain's own mean m.
///
/// The divisor is N at every lag, which makes the sequence positive definite (Geyer, 1992, §3.1). Lags from N on have
/// no terms: the result stops before them.
///
/// ```
/// use helmholtz_samplers::diagnostics::autocovariance;
/// assert_eq!(autocovariance(&[1.0, -1.0, 1.0, -1.0], 2), [1.0, -0.75, 0.5]);
/// ```
pub fn autocovariance(chain: &[f64], max_lag: usize) -> Vec<f64> {
    let centred = centred(chain);
    (0..=max_lag)
        .take(chain.len())
        .map(|lag| at_lag(&centred, lag))
        .collect()
}

/// The draws without their mean.
pub(super) fn centred(chain: &[f64]) -> Vec<f64> {
    let mean = mean(chain);
    chain.iter().map(|x| x - mean).collect()
}

/// γ_t of a centred chain.
pub(super) fn at_lag(centred: &[f64], lag: usize) -> f64 {
    let products = centred.iter().zip(centred.iter().skip(lag));
    products.map(|(a, b)| a * b).sum::<f64>() / centred.len() as f64
}

pub(super) fn mean(draws: &[f64]) -> f64 {
    draws.iter().sum::<f64>() / draws.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_sum_of_the_formula() {
        let chain = [2.0, 3.0, 7.0, 0.0]; // mean 3: -1, 0, 4, -3
        assert_eq!(autocovariance(&chain, 9), [6.5, -3.0, -1.0, 0.75]);
        assert_eq!(autocovariance(&chain, 0), [6.5]);
        assert_eq!(autocovariance(&[], 3), [0.0; 0]);
    }
}
