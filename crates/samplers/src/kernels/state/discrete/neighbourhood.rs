//! A state with the weights of all changes of one site.

use super::{DifferenceTarget, Site};

/// ln p of a state, and ln g of the differences to its neighbours.
pub(super) struct Neighbourhood {
    pub log_p: f64,
    /// ln g(p(x with x_i = v) / p(x)) at i C + v; -inf for present and for impossible values.
    pub log_weights: Vec<f64>,
    /// Differences that were NaN or +inf, and ln p if it is not finite.
    pub non_finite: u64,
}

impl Neighbourhood {
    /// Around a state of probability zero all changes weigh the same, as nothing is known of them.
    pub fn of<V: Site>(
        target: &impl DifferenceTarget<V>,
        log_g: &impl Fn(f64) -> f64,
        state: &[V],
    ) -> Self {
        let values = target.values();
        let mut log_weights = vec![0.0; values * state.len()];
        let log_p = target.log_density_and_differences(state, &mut log_weights);
        let mut non_finite = u64::from(!log_p.is_finite());
        for weight in &mut log_weights {
            *weight = match (log_p.is_finite(), weight.is_finite()) {
                (false, _) => 0.0,
                (true, true) => log_g(*weight),
                (true, false) => {
                    non_finite += u64::from(*weight != f64::NEG_INFINITY);
                    f64::NEG_INFINITY
                }
            };
        }
        for (row, x) in log_weights.chunks_mut(values).zip(state) {
            row[x.code()] = f64::NEG_INFINITY;
        }
        Self {
            log_p,
            log_weights,
            non_finite,
        }
    }
}
