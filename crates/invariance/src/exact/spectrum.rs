//! How fast a chain forgets: eigenvalues and spectral gap.

use crate::InvarianceError;
use crate::exact::matrix::product;
use crate::exact::{Law, TOLERANCE, TransitionMatrix};

impl TransitionMatrix {
    /// The eigenvalues of a reversible kernel on the states of positive probability, in decreasing order: the first is
    /// 1, all are real and in [-1, 1].
    ///
    /// Under detailed balance P is similar to the symmetric matrix √(P(x, y) P(y, x)). Its eigenvalues are found by
    /// Jacobi's rotations (Jacobi, 1846; Golub and Van Loan, 2013, §8.5), to about 1e-14.
    ///
    /// # Errors
    /// [`InvarianceError::NotReversible`] without detailed balance; [`InvarianceError::Length`] if the law does not
    /// fit.
    pub fn eigenvalues(&self, law: &Law) -> Result<Vec<f64>, InvarianceError> {
        self.check_reversible(law, TOLERANCE)?;
        let support = law.support();
        let symmetric = (support.iter())
            .flat_map(|&x| {
                support
                    .iter()
                    .map(move |&y| (self.row(x)[y] * self.row(y)[x]).sqrt())
            })
            .collect();
        let mut eigenvalues = jacobi(symmetric, support.len());
        eigenvalues.sort_by(|a, b| b.total_cmp(a));
        Ok(eigenvalues)
    }

    /// The largest modulus of an eigenvalue beside the one of the law, for any kernel that leaves `law` invariant. In
    /// the long run the distance to the law shrinks by this factor a step. The modulus is 1 if the kernel is reducible
    /// or periodic.
    ///
    /// For a reversible kernel it comes from [`eigenvalues`](Self::eigenvalues). For others eigenvalues may be complex,
    /// and it is lim ‖(P - 1π)^k‖^(1/k) (Gelfand, 1941), at k = 2³⁰ by repeated squaring. This value is accurate to
    /// about 1e-8, the square root of the rounding, as eigenvalues of matrices that are not symmetric are.
    ///
    /// # Errors
    /// [`InvarianceError::NotInvariant`] if the law is not invariant; [`InvarianceError::Length`] if it does not fit.
    pub fn second_modulus(&self, law: &Law) -> Result<f64, InvarianceError> {
        self.check_invariant(law, TOLERANCE)?;
        if let Ok(eigenvalues) = self.eigenvalues(law) {
            return Ok(eigenvalues[1..]
                .iter()
                .fold(0.0, |m, l| f64::max(m, l.abs())));
        }
        let support = law.support();
        let p = law.probabilities();
        let mut power: Vec<f64> = (support.iter())
            .flat_map(|&x| support.iter().map(move |&y| self.row(x)[y] - p[y]))
            .collect();
        const SQUARINGS: i32 = 30;
        // ln ‖B^(2^j)‖ / 2^j, kept beside the matrix, which is scaled to norm one.
        let mut log_rate = 0.0;
        for j in 0..=SQUARINGS {
            let norm = power.iter().map(|b| b * b).sum::<f64>().sqrt();
            if norm == 0.0 {
                return Ok(0.0);
            }
            log_rate += norm.ln() * 0.5f64.powi(j);
            power.iter_mut().for_each(|b| *b /= norm);
            if j < SQUARINGS {
                power = product(&power, &power, support.len());
            }
        }
        Ok(log_rate.exp().min(1.0))
    }

    /// The absolute spectral gap, 1 - [`second_modulus`](Self::second_modulus). About 1 / gap steps make a state
    /// forgotten.
    ///
    /// # Errors
    /// As [`second_modulus`](Self::second_modulus).
    pub fn spectral_gap(&self, law: &Law) -> Result<f64, InvarianceError> {
        Ok(1.0 - self.second_modulus(law)?)
    }
}

/// The eigenvalues of a symmetric n-by-n matrix, by sweeps of Jacobi rotations.
fn jacobi(mut a: Vec<f64>, n: usize) -> Vec<f64> {
    for _ in 0..100 {
        let off_diagonal: f64 = (0..n)
            .flat_map(|i| (0..i).map(move |j| (i, j)))
            .map(|(i, j)| a[n * i + j] * a[n * i + j])
            .sum();
        if off_diagonal < 1e-32 {
            break;
        }
        for p in 0..n {
            for q in p + 1..n {
                let entry = a[n * p + q];
                if entry.abs() < 1e-300 {
                    continue;
                }
                // The smaller rotation that makes the entry zero.
                let theta = (a[n * q + q] - a[n * p + p]) / (2.0 * entry);
                let t = theta.signum() / (theta.abs() + theta.hypot(1.0));
                let c = 1.0 / t.hypot(1.0);
                let s = t * c;
                for k in 0..n {
                    let (kp, kq) = (a[n * k + p], a[n * k + q]);
                    (a[n * k + p], a[n * k + q]) = (c * kp - s * kq, s * kp + c * kq);
                }
                for k in 0..n {
                    let (pk, qk) = (a[n * p + k], a[n * q + k]);
                    (a[n * p + k], a[n * q + k]) = (c * pk - s * qk, s * pk + c * qk);
                }
            }
        }
    }
    (0..n).map(|i| a[n * i + i]).collect()
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use helmholtz_random::{Chance, Enumerator};

    use super::*;
    use crate::step_fn;

    fn matrix(n: usize, row: impl Fn(usize) -> Vec<f64>) -> TransitionMatrix {
        let kernel = step_fn(|x: &mut usize, chance: &mut Enumerator| {
            let log_p: Vec<f64> = row(*x).iter().map(|p| p.ln()).collect();
            *x = chance.choose(&log_p).unwrap();
        });
        TransitionMatrix::of(&kernel, &(0..n).collect::<Vec<_>>()).unwrap()
    }

    fn uniform(n: usize) -> Law {
        Law::from_weights(&vec![1.0; n]).unwrap()
    }

    #[test]
    fn a_walk_on_a_ring_has_cosines_as_eigenvalues() {
        let n = 9;
        let ring = matrix(n, |x| {
            (0..n)
                .map(|y| {
                    let steps = (y + n - x) % n;
                    if steps == 1 || steps == n - 1 {
                        0.5
                    } else {
                        0.0
                    }
                })
                .collect()
        });
        let mut expected: Vec<f64> = (0..n)
            .map(|k| (2.0 * PI * k as f64 / n as f64).cos())
            .collect();
        expected.sort_by(|a, b| b.total_cmp(a));
        let found = ring.eigenvalues(&uniform(n)).unwrap();
        for (a, b) in found.iter().zip(&expected) {
            assert!((a - b).abs() < 1e-13, "{a} {b}");
        }
        // The negative one is the larger: -cos(π / 9).
        assert!((ring.second_modulus(&uniform(n)).unwrap() - (PI / 9.0).cos()).abs() < 1e-13);
    }

    #[test]
    fn complex_eigenvalues_give_their_modulus() {
        // A ring that is stepped round with probability a, else kept: eigenvalues 1 - a + a exp(2πik/3).
        let a: f64 = 0.7;
        let drift = matrix(3, |x| {
            let mut row = vec![0.0; 3];
            row[x] = 1.0 - a;
            row[(x + 1) % 3] = a;
            row
        });
        let expected = (1.0 - 3.0 * a + 3.0 * a * a).sqrt();
        let found = drift.second_modulus(&uniform(3)).unwrap();
        assert!((found - expected).abs() < 1e-8, "{found} {expected}");
        assert!(drift.eigenvalues(&uniform(3)).is_err());
    }

    #[test]
    fn the_ends_of_the_scale() {
        let law = Law::from_weights(&[0.2, 0.5, 0.3, 0.0]).unwrap();
        let p = law.probabilities().to_vec();
        let fresh = matrix(4, |_| p.clone());
        assert!((fresh.spectral_gap(&law).unwrap() - 1.0).abs() < 1e-12);
        let still = matrix(3, |x| (0..3).map(|y| f64::from(u8::from(x == y))).collect());
        assert!(still.spectral_gap(&uniform(3)).unwrap() < 1e-12);
        let round = matrix(3, |x| {
            (0..3)
                .map(|y| f64::from(u8::from((x + 1) % 3 == y)))
                .collect()
        });
        assert!(round.spectral_gap(&uniform(3)).unwrap() < 1e-8);
        assert_eq!(
            matrix(1, |_| vec![1.0]).spectral_gap(&uniform(1)).unwrap(),
            1.0
        );
    }

    #[test]
    fn a_gap_without_an_invariant_law_is_refused() {
        let drift = matrix(2, |_| vec![0.9, 0.1]);
        assert!(matches!(
            drift.spectral_gap(&uniform(2)),
            Err(InvarianceError::NotInvariant { .. })
        ));
    }
}
