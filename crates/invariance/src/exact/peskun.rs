//! Peskun's order: which of two kernels moves more.

use std::cmp::Ordering;

use crate::InvarianceError;
use crate::exact::{TOLERANCE, TransitionMatrix};

impl TransitionMatrix {
    /// Compares the probabilities of moving: `Greater` if P(x, y) >= P'(x, y) for all x ≠ y and somewhere more, by more
    /// than [`TOLERANCE`]; `None` if neither kernel dominates.
    ///
    /// Take two kernels that are reversible with respect to the same law. The average of any function along the chain has
    /// an asymptotic variance that is not larger under the greater one. (Peskun, 1973; for general states Tierney, 1998.)
    ///
    /// # Errors
    /// [`InvarianceError::Length`] if they have different numbers of states.
    ///
    /// ```
    /// use std::cmp::Ordering;
    /// use helmholtz_invariance::{Law, TransitionMatrix};
    /// use helmholtz_invariance::samplers::{Cis, Mtmis};
    ///
    /// let (q, log_w) = (Law::from_weights(&[1.0, 2.0, 3.0])?, [0.0, -1.0, 0.7]);
    /// let mtmis = TransitionMatrix::of_index_kernel(&Mtmis, &q, &log_w, 3)?;
    /// let cis = TransitionMatrix::of_index_kernel(&Cis, &q, &log_w, 3)?;
    /// assert_eq!(mtmis.peskun_cmp(&cis)?, Some(Ordering::Greater));
    /// # Ok::<(), helmholtz_invariance::InvarianceError>(())
    /// ```
    pub fn peskun_cmp(&self, other: &Self) -> Result<Option<Ordering>, InvarianceError> {
        self.fits_matrix(other)?;
        let n = self.states();
        let (mut more, mut less) = (false, false);
        for x in 0..n {
            for y in (0..n).filter(|&y| y != x) {
                let difference = self.row(x)[y] - other.row(x)[y];
                more |= difference > TOLERANCE;
                less |= difference < -TOLERANCE;
            }
        }
        Ok(match (more, less) {
            (true, true) => None,
            (true, false) => Some(Ordering::Greater),
            (false, true) => Some(Ordering::Less),
            (false, false) => Some(Ordering::Equal),
        })
    }
}

#[cfg(test)]
mod tests {
    use helmholtz_random::{Chance, Enumerator};

    use super::*;
    use crate::step_fn;

    #[test]
    fn the_order_is_partial() {
        let walk = |rows: [[f64; 2]; 2]| {
            let kernel = step_fn(|x: &mut usize, chance: &mut Enumerator| {
                *x = chance.choose(&rows[*x].map(f64::ln)).unwrap();
            });
            TransitionMatrix::of(&kernel, &[0, 1]).unwrap()
        };
        let (low, high) = (
            walk([[0.9, 0.1], [0.1, 0.9]]),
            walk([[0.8, 0.2], [0.1, 0.9]]),
        );
        let other = walk([[0.95, 0.05], [0.3, 0.7]]);
        assert_eq!(high.peskun_cmp(&low).unwrap(), Some(Ordering::Greater));
        assert_eq!(low.peskun_cmp(&high).unwrap(), Some(Ordering::Less));
        assert_eq!(low.peskun_cmp(&low).unwrap(), Some(Ordering::Equal));
        assert_eq!(low.peskun_cmp(&other).unwrap(), None);
    }
}
