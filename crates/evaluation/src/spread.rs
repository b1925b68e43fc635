//! How far random vectors spread, in one pass.

use crate::accumulate::mean_and_error;

/// Batches of [`Spread::standard_error`], at most.
const BATCHES: usize = 50;

/// The running mean ḡ of vectors g_1, g_2, …, and of each vector from the second on its increment
/// d_r = ⟨g_r − ḡ_{r−1}, g_r − ḡ_r⟩ = (r−1)/r ‖g_r − ḡ_{r−1}‖² (Welford 1962), in f64.
///
/// The sum of the sample variances of the components is the mean of the increments, Σ_r d_r / (R−1). Each of them has
/// that expectation where the vectors are independent. No vector of squares is kept.
#[derive(Clone, Debug, Default)]
pub struct Spread {
    mean: Vec<f64>,
    increments: Vec<f64>,
    count: usize,
}

impl Spread {
    /// Takes in a vector, as long as the first.
    pub fn push(&mut self, vector: &[f64]) {
        self.count += 1;
        if self.count == 1 {
            self.mean = vector.to_vec();
            return;
        }
        assert_eq!(self.mean.len(), vector.len(), "vectors of one length");
        let share = 1.0 / self.count as f64;
        let mut increment = 0.0;
        for (mean, &value) in self.mean.iter_mut().zip(vector) {
            let before = value - *mean;
            *mean += before * share;
            increment += before * (value - *mean);
        }
        self.increments.push(increment);
    }

    /// Components of a vector.
    pub fn components(&self) -> usize {
        self.mean.len()
    }

    /// V, the sum over components of the sample variance, with R − 1; NaN before the second vector.
    pub fn variance(&self) -> f64 {
        self.increments.iter().sum::<f64>() / self.increments.len() as f64
    }

    /// The standard error of V, by batch means. The increments are cut into at most 50 equal stretches (stretches of
    /// one where there are fewer), a remainder left out. The error is that of the mean of the stretches' means. Right
    /// for vectors with a memory too, as long as it is short against a stretch.
    pub fn standard_error(&self) -> f64 {
        let length = self.increments.len().div_ceil(BATCHES).max(1);
        let stretches = self.increments.chunks_exact(length);
        mean_and_error(stretches.map(|stretch| stretch.iter().sum::<f64>() / length as f64)).1
    }

    /// √max(0, ‖ḡ‖² − V/R): the norm of the vectors' mean, less what chance alone adds to the square of it.
    pub fn mean_norm(&self) -> f64 {
        let squares: f64 = self.mean.iter().map(|mean| mean * mean).sum();
        (squares - self.variance() / self.count as f64)
            .max(0.0)
            .sqrt()
    }
}

#[cfg(test)]
mod tests {
    use helmholtz_random::{Draws, Purpose, Stream};

    use super::*;

    /// Vectors as an f32 gradient has them: components of very different size, far from zero.
    fn vectors(count: usize) -> Vec<Vec<f64>> {
        let mut stream = Stream::new(1, Purpose::new("spread"), [0, 0]);
        let mut component = |i: usize| {
            let scale = 10f64.powi(i as i32 % 7 - 3);
            f64::from((scale * (1e3 + stream.normal())) as f32)
        };
        (0..count)
            .map(|_| (0..30).map(&mut component).collect())
            .collect()
    }

    fn spread(vectors: &[Vec<f64>]) -> Spread {
        let mut spread = Spread::default();
        vectors.iter().for_each(|vector| spread.push(vector));
        spread
    }

    fn means(vectors: &[Vec<f64>]) -> Vec<f64> {
        let mean = |i| vectors.iter().map(|v| v[i]).sum::<f64>() / vectors.len() as f64;
        (0..vectors[0].len()).map(mean).collect()
    }

    /// Component by component, in two passes.
    fn two_passes(vectors: &[Vec<f64>], ddof: f64) -> f64 {
        let squares = |(i, mean): (usize, f64)| -> f64 {
            vectors.iter().map(|v| (v[i] - mean).powi(2)).sum()
        };
        let means = means(vectors).into_iter().enumerate();
        means.map(squares).sum::<f64>() / (vectors.len() as f64 - ddof)
    }

    fn relative(a: f64, b: f64) -> f64 {
        (a / b - 1.0).abs()
    }

    #[test]
    fn one_pass_gives_the_variances_and_the_means_of_two() {
        for count in [2, 3, 100, 1000] {
            let vectors = vectors(count);
            let spread = spread(&vectors);
            let expected = two_passes(&vectors, 1.0);
            assert!(relative(spread.variance(), expected) < 1e-11);
            for (mean, expected) in spread.mean.iter().zip(means(&vectors)) {
                assert!(relative(*mean, expected) < 1e-13);
            }
        }
    }

    #[test]
    fn dividing_by_the_number_or_accumulating_in_f32_is_seen() {
        let vectors = vectors(100);
        let variance = spread(&vectors).variance();
        assert!(relative(variance, two_passes(&vectors, 0.0)) > 0.009);
        let (mut squares, mut sum) = (0f32, 0f32);
        for v in &vectors {
            (squares, sum) = (squares + v[6] as f32 * v[6] as f32, sum + v[6] as f32);
        }
        let naive = (squares - sum * sum / 100.0) / 99.0;
        let own = vectors.iter().map(|v| vec![v[6]]).collect::<Vec<_>>();
        assert!(relative(f64::from(naive), two_passes(&own, 1.0)) > 0.1);
    }

    #[test]
    fn the_error_is_that_of_the_mean_increment_and_infinite_where_there_is_none() {
        let mut few = Spread {
            increments: vec![1.0, 2.0, 3.0, 6.0],
            ..Spread::default()
        };
        assert_eq!(few.variance(), 3.0);
        assert!(relative(few.standard_error(), (14.0f64 / 3.0 / 4.0).sqrt()) < 1e-14);
        // 120 increments make 40 stretches of 3.
        few.increments = (0..120).map(|i| f64::from(i / 3 % 2)).collect();
        assert!(relative(few.standard_error(), (10.0f64 / 39.0 / 40.0).sqrt()) < 1e-14);
        assert!(spread(&vectors(1)).variance().is_nan());
        assert_eq!(spread(&vectors(2)).standard_error(), f64::INFINITY);
    }

    #[test]
    fn the_norm_is_that_of_the_mean_and_never_of_the_noise() {
        let exact = spread(&[vec![3.0, 4.0], vec![3.0, 4.0]]);
        assert_eq!((exact.mean_norm(), exact.variance()), (5.0, 0.0));
        let noise = spread(&[vec![1.0], vec![-1.0]]);
        assert_eq!(noise.mean_norm(), 0.0);
    }

    #[test]
    fn what_chance_adds_to_the_norm_is_taken_off() {
        let some = spread(&[vec![1.0], vec![2.0], vec![3.0], vec![6.0]]);
        // Mean 3; variance 14/3, a quarter of it in the mean's square.
        assert!(relative(some.mean_norm(), (9.0f64 - 14.0 / 12.0).sqrt()) < 1e-14);
    }
}
