//! Where the chain was, and the coefficients that follow.

/// The chain's state index after each transition of a run: 0 is the state it started in, j the j-th proposal (from 1).
///
/// A view of what [`IndexKernel::run`](crate::IndexKernel::run) wrote.
///
/// ```
/// use helmholtz_samplers::Visits;
/// let visits = Visits::new(&[0, 2, 2, 2]);
/// assert_eq!(visits.last(), 2);
/// assert_eq!(visits.coefficients(3), [0.25, 0.0, 0.75]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Visits<'a>(&'a [u32]);

impl<'a> Visits<'a> {
    /// A view of the recorded `indices`.
    pub fn new(indices: &'a [u32]) -> Self {
        Self(indices)
    }

    /// The index the chain ended in; 0 if there was no transition.
    pub fn last(self) -> usize {
        self.0.last().map_or(0, |&i| i as usize)
    }

    /// `α_j = #{t : i_t = j} / #t` for j < `n`; all zero if there was no transition.
    ///
    /// `n` is the number of states, 1 + the number of proposals. The start counts only where the chain stayed in it, a
    /// state visited again counts again, and the coefficients sum to 1. Indices from `n` on are left out.
    pub fn coefficients(self, n: usize) -> Vec<f64> {
        let mut alpha = vec![0.0; n];
        for &i in self.0 {
            if let Some(a) = alpha.get_mut(i as usize) {
                *a += 1.0;
            }
        }
        let transitions = self.0.len().max(1) as f64;
        alpha.iter_mut().for_each(|a| *a /= transitions);
        alpha
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn without_a_transition_the_chain_stays_and_nothing_is_averaged() {
        assert_eq!(Visits::new(&[]).last(), 0);
        assert_eq!(Visits::new(&[]).coefficients(2), [0.0, 0.0]);
    }

    proptest! {
        #[test]
        fn coefficients_average_over_the_chain_states(indices in prop::collection::vec(0u32..6, 1..40), values in prop::array::uniform6(-3.0f64..3.0)) {
            let alpha = Visits::new(&indices).coefficients(6);
            prop_assert!((alpha.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            // Weighting by α is gathering the chain's states (J1).
            let weighted: f64 = alpha.iter().zip(values).map(|(a, v)| a * v).sum();
            let gathered: f64 = indices.iter().map(|&i| values[i as usize]).sum::<f64>() / indices.len() as f64;
            prop_assert!((weighted - gathered).abs() < 1e-12);
        }
    }
}
