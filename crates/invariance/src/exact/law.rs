//! A distribution over listed states.

use crate::InvarianceError;

/// Probabilities of the states of a [`TransitionMatrix`](crate::TransitionMatrix), in the same order. They sum to one.
#[derive(Clone, Debug, PartialEq)]
pub struct Law(Vec<f64>);

impl Law {
    /// exp(`log_weights`), normalised: -inf is an impossible state.
    ///
    /// # Errors
    /// [`InvarianceError::NoStates`] without weights; [`InvarianceError::NoLaw`] on a NaN or +inf, or if all are -inf.
    ///
    /// ```
    /// use helmholtz_invariance::Law;
    /// let law = Law::from_log_weights(&[1000.0, 1000.0 + 3f64.ln(), f64::NEG_INFINITY])?;
    /// assert!((law.probabilities()[1] - 0.75).abs() < 1e-12);
    /// # Ok::<(), helmholtz_invariance::InvarianceError>(())
    /// ```
    pub fn from_log_weights(log_weights: &[f64]) -> Result<Self, InvarianceError> {
        if let Some((index, &weight)) =
            (log_weights.iter().enumerate()).find(|(_, l)| l.is_nan() || **l == f64::INFINITY)
        {
            let needs = "log-weights that are finite or -inf";
            return Err(InvarianceError::NoLaw {
                index,
                weight,
                needs,
            });
        }
        let max = log_weights
            .iter()
            .copied()
            .fold(f64::NEG_INFINITY, f64::max);
        if max == f64::NEG_INFINITY && !log_weights.is_empty() {
            let needs = "a log-weight that is finite";
            return Err(InvarianceError::NoLaw {
                index: 0,
                weight: max,
                needs,
            });
        }
        Self::from_weights(
            &log_weights
                .iter()
                .map(|l| (l - max).exp())
                .collect::<Vec<_>>(),
        )
    }

    /// `weights`, normalised.
    ///
    /// # Errors
    /// [`InvarianceError::NoStates`] without weights; [`InvarianceError::NoLaw`] on one that is negative or not finite,
    /// or if all are 0.
    pub fn from_weights(weights: &[f64]) -> Result<Self, InvarianceError> {
        if weights.is_empty() {
            return Err(InvarianceError::NoStates);
        }
        let total: f64 = weights.iter().sum();
        let bad = weights.iter().position(|w| !w.is_finite() || *w < 0.0);
        if let Some(index) = bad.or((total <= 0.0 || !total.is_finite()).then_some(0)) {
            let needs = "finite weights of which none is negative and one is positive";
            return Err(InvarianceError::NoLaw {
                index,
                weight: weights[index],
                needs,
            });
        }
        Ok(Self(weights.iter().map(|w| w / total).collect()))
    }

    /// The law over `states` with this log-density (nats, up to a constant).
    ///
    /// # Errors
    /// As [`from_log_weights`](Self::from_log_weights).
    pub fn of<S>(states: &[S], log_density: impl Fn(&S) -> f64) -> Result<Self, InvarianceError> {
        Self::from_log_weights(&states.iter().map(log_density).collect::<Vec<_>>())
    }

    /// These probabilities, which sum to one.
    pub(super) fn of_probabilities(probabilities: Vec<f64>) -> Self {
        Self(probabilities)
    }

    /// The probabilities, in the order of the states.
    pub fn probabilities(&self) -> &[f64] {
        &self.0
    }

    /// The total variation distance Σ |a - b| / 2, between 0 and 1.
    ///
    /// # Errors
    /// [`InvarianceError::Length`] if the laws have different numbers of states.
    pub fn total_variation(&self, other: &Self) -> Result<f64, InvarianceError> {
        if other.0.len() != self.0.len() {
            return Err(InvarianceError::Length {
                what: "the other law",
                found: other.0.len(),
                expected: self.0.len(),
            });
        }
        Ok(0.5
            * self
                .0
                .iter()
                .zip(&other.0)
                .map(|(a, b)| (a - b).abs())
                .sum::<f64>())
    }

    /// The states of positive probability.
    pub(crate) fn support(&self) -> Vec<usize> {
        (0..self.0.len()).filter(|&x| self.0[x] > 0.0).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NINF: f64 = f64::NEG_INFINITY;

    #[test]
    fn what_is_no_law_is_refused_with_its_place() {
        let refused = |weights: &[f64]| match Law::from_log_weights(weights) {
            Err(InvarianceError::NoLaw { index, .. }) => index,
            other => panic!("{other:?}"),
        };
        assert_eq!(refused(&[0.0, f64::NAN]), 1);
        assert_eq!(refused(&[0.0, 1.0, f64::INFINITY]), 2);
        assert_eq!(refused(&[NINF, NINF]), 0);
        assert!(matches!(
            Law::from_log_weights(&[]),
            Err(InvarianceError::NoStates)
        ));
        assert!(Law::from_weights(&[1.0, -0.1]).is_err());
        assert!(Law::from_weights(&[0.0]).is_err());
    }

    #[test]
    fn total_variation_is_half_the_sum_of_differences() {
        let (a, b) = (
            Law::from_weights(&[1.0, 1.0, 2.0]).unwrap(),
            Law::from_weights(&[1.0, 1.0, 0.0]).unwrap(),
        );
        assert_eq!(a.total_variation(&b).unwrap(), 0.5);
        assert_eq!(a.total_variation(&a).unwrap(), 0.0);
        assert!(a.total_variation(&Law(vec![1.0])).is_err());
    }
}
