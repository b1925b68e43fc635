//! Running sums over the samples of one datum, and over data.

/// ln Σ_s w_s and Σ_s ln w_s of the log-weights seen so far, in f64.
#[derive(Clone, Copy, Debug)]
pub struct LogMean {
    largest: f64,
    /// Σ_s exp(ℓ_s − largest).
    scaled: f64,
    sum: f64,
    count: usize,
}

impl LogMean {
    pub const EMPTY: Self = Self {
        largest: f64::NEG_INFINITY,
        scaled: 0.0,
        sum: 0.0,
        count: 0,
    };

    /// Takes in a log-weight. A NaN makes every result NaN.
    pub fn push(&mut self, log_w: f64) {
        if log_w > self.largest {
            self.scaled = self.scaled * (self.largest - log_w).exp() + 1.0;
            self.largest = log_w;
        } else if log_w != f64::NEG_INFINITY {
            self.scaled += (log_w - self.largest).exp();
        }
        self.sum += log_w;
        self.count += 1;
    }

    /// ln (1/S) Σ_s w_s.
    pub fn log_mean(&self) -> f64 {
        self.largest + (self.scaled / self.count as f64).ln()
    }

    /// (1/S) Σ_s ln w_s.
    pub fn mean_log(&self) -> f64 {
        self.sum / self.count as f64
    }
}

/// The mean of some numbers and its standard error sd / √n, sd with n − 1; the error of a single number is infinite.
pub fn mean_and_error(numbers: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let count = numbers.clone().count() as f64;
    let mean = numbers.clone().sum::<f64>() / count;
    if count < 2.0 {
        return (mean, f64::INFINITY);
    }
    let squares: f64 = numbers.map(|x| (x - mean).powi(2)).sum();
    (mean, (squares / (count - 1.0) / count).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn collect(log_w: &[f64]) -> LogMean {
        let mut sums = LogMean::EMPTY;
        log_w.iter().for_each(|&l| sums.push(l));
        sums
    }

    #[test]
    fn the_running_log_mean_is_the_log_of_the_mean() {
        let sums = collect(&[0.0, 3f64.ln(), 2f64.ln()]);
        assert!((sums.log_mean() - 2f64.ln()).abs() < 1e-15);
        assert!((sums.mean_log() - 6f64.ln() / 3.0).abs() < 1e-15);
    }

    #[test]
    fn far_apart_and_impossible_weights_are_no_trouble() {
        assert!(
            (collect(&[-1000.0, -300.0, -1000.0]).log_mean() - (-300.0 - 3f64.ln())).abs() < 1e-12
        );
        assert!(
            (collect(&[f64::NEG_INFINITY, -5.0]).log_mean() - (-5.0 - 2f64.ln())).abs() < 1e-14
        );
        assert_eq!(
            collect(&[f64::NEG_INFINITY; 2]).log_mean(),
            f64::NEG_INFINITY
        );
        assert!(collect(&[0.0, f64::NAN]).log_mean().is_nan());
    }

    #[test]
    fn the_error_of_a_mean_uses_the_sample_deviation() {
        let (mean, error) = mean_and_error([1.0, 2.0, 3.0, 6.0].into_iter());
        assert_eq!(mean, 3.0);
        assert!((error - (14.0f64 / 3.0 / 4.0).sqrt()).abs() < 1e-15);
        assert_eq!(mean_and_error([1.0].into_iter()), (1.0, f64::INFINITY));
    }

    #[test]
    fn two_numbers_are_enough_for_an_error() {
        assert_eq!(mean_and_error([1.0, 3.0].into_iter()), (2.0, 1.0));
    }
}
