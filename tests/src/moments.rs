//! The moments of a random vector that decide how its sample variance scatters.

/// Mean μ, covariance C and E‖d‖⁴ with d the deviation from μ.
#[derive(Clone, Debug)]
pub struct VectorMoments {
    /// C, row by row.
    covariance: Vec<Vec<f64>>,
    fourth: f64,
}

impl VectorMoments {
    /// Of these vectors with these probabilities.
    pub fn of(points: &[(f64, Vec<f64>)]) -> Self {
        let pairs = points.iter().map(|(p, vector)| (*p, vector.as_slice()));
        let mean = crate::vectors::weighted_sum(points[0].1.len(), pairs);
        let mut covariance = vec![vec![0.0; mean.len()]; mean.len()];
        let mut fourth = 0.0;
        for (probability, vector) in points {
            let deviation: Vec<f64> = vector.iter().zip(&mean).map(|(v, m)| v - m).collect();
            for (row, d) in covariance.iter_mut().zip(&deviation) {
                crate::vectors::add_scaled(row, probability * d, &deviation);
            }
            let square: f64 = deviation.iter().map(|d| d * d).sum();
            fourth += probability * square * square;
        }
        Self { covariance, fourth }
    }

    /// Of the mean of independent vectors with these moments.
    pub fn of_mean(parts: &[Self]) -> Self {
        let share = 1.0 / parts.len() as f64;
        let dimension = parts[0].covariance.len();
        let mut sum = Self {
            covariance: vec![vec![0.0; dimension]; dimension],
            fourth: 0.0,
        };
        for part in parts {
            for (row, own) in sum.covariance.iter_mut().zip(&part.covariance) {
                crate::vectors::add_scaled(row, share * share, own);
            }
            // E‖Σd‖⁴ is that of independent normals with these covariances, and each part's excess over its own.
            sum.fourth += share.powi(4) * (part.fourth - part.fourth_of_normal());
        }
        sum.fourth += sum.fourth_of_normal();
        sum
    }

    /// E‖d‖⁴ of a normal vector: (tr C)² + 2 tr C².
    fn fourth_of_normal(&self) -> f64 {
        self.variance().powi(2) + 2.0 * self.squares()
    }

    /// tr C², C being symmetric.
    fn squares(&self) -> f64 {
        self.covariance.iter().flatten().map(|c| c * c).sum()
    }

    /// tr C, the variances of all components.
    pub fn variance(&self) -> f64 {
        (0..self.covariance.len())
            .map(|i| self.covariance[i][i])
            .sum()
    }

    /// The standard deviation of the sample variance (with n − 1, summed over components) of n independent draws:
    /// √((E‖d‖⁴ − (tr C)²)/n + 2 tr C² / (n (n−1))).
    pub fn deviation_of_sample_variance(&self, n: usize) -> f64 {
        let n = n as f64;
        let excess = self.fourth - self.variance().powi(2);
        (excess / n + 2.0 * self.squares() / (n * (n - 1.0))).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sample variance, summed over components.
    fn sample_variance(draws: &[&Vec<f64>]) -> f64 {
        let n = draws.len() as f64;
        let component = |i: usize| {
            let mean = draws.iter().map(|v| v[i]).sum::<f64>() / n;
            draws.iter().map(|v| (v[i] - mean).powi(2)).sum::<f64>() / (n - 1.0)
        };
        (0..draws[0].len()).map(component).sum()
    }

    #[test]
    fn the_sample_variance_of_three_draws_has_these_moments_by_enumeration() {
        let points = [
            (0.5, vec![1.0, 0.0]),
            (0.3, vec![-2.0, 0.7]),
            (0.2, vec![0.3, 4.0]),
        ];
        let moments = VectorMoments::of(&points);
        let (mut mean, mut square) = (0.0, 0.0);
        for (a, x) in &points {
            for (b, y) in &points {
                for (c, z) in &points {
                    let variance = sample_variance(&[x, y, z]);
                    mean += a * b * c * variance;
                    square += a * b * c * variance * variance;
                }
            }
        }
        assert!((mean - moments.variance()).abs() < 1e-13);
        let deviation = (square - mean * mean).sqrt();
        assert!((deviation - moments.deviation_of_sample_variance(3)).abs() < 1e-13);
    }

    #[test]
    fn the_mean_of_two_has_these_moments_by_enumeration() {
        let a = [(0.4, vec![1.0, -1.0]), (0.6, vec![0.0, 3.0])];
        let b = [(0.9, vec![2.0, 0.5]), (0.1, vec![-7.0, 1.0])];
        let mut both = Vec::new();
        for (p, x) in &a {
            for (q, y) in &b {
                let mean = x.iter().zip(y).map(|(x, y)| (x + y) / 2.0).collect();
                both.push((p * q, mean));
            }
        }
        let expected = VectorMoments::of(&both);
        let moments = VectorMoments::of_mean(&[VectorMoments::of(&a), VectorMoments::of(&b)]);
        assert!((moments.variance() - expected.variance()).abs() < 1e-13);
        assert!((moments.fourth - expected.fourth).abs() < 1e-12);
    }
}
