//! A state with the weights of all changes of one site.

use super::{DifferenceTarget, Site};

/// ln p of a state, and ln g of the differences to its neighbours.
pub(super) struct Neighbourhood {
    pub log_p: f64,
    /// ln g(p(x with x_i = v) / p(x)) of the [`Change`] of site i to each other value v; -inf for impossible values.
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
        let mut differences = vec![0.0; values * state.len()];
        let log_p = target.log_density_and_differences(state, &mut differences);
        if !log_p.is_finite() {
            return Self {
                log_p,
                log_weights: vec![0.0; (values - 1) * state.len()],
                non_finite: 1,
            };
        }
        let mut non_finite = 0;
        let mut weight = |difference: f64| match difference.is_finite() {
            true => log_g(difference),
            false => {
                non_finite += u64::from(difference != f64::NEG_INFINITY);
                f64::NEG_INFINITY
            }
        };
        let rows = state.iter().zip(differences.chunks_exact(values));
        let log_weights = match values {
            2 => rows.map(|(x, row)| weight(row[1 - x.code()])).collect(),
            _ => {
                let mut log_weights = Vec::with_capacity((values - 1) * state.len());
                for (x, row) in rows {
                    let (below, above) = row.split_at(x.code());
                    let others = above[1..].iter().chain(below);
                    log_weights.extend(others.map(|d| weight(*d)));
                }
                log_weights
            }
        };
        Self {
            log_p,
            log_weights,
            non_finite,
        }
    }
}

/// ln of the probability with which a proposal is accepted, not cut at 0, given ln p of the state and of the proposal, and
/// ln q(state | proposal) - ln q(proposal | state); -inf for what must be rejected. A state of probability zero is left,
/// whatever the way back.
pub(super) fn log_acceptance(log_p: f64, log_p_there: f64, log_q_ratio: f64) -> f64 {
    match (log_p.is_finite(), log_p_there.is_finite()) {
        (true, true) if log_q_ratio.is_finite() => log_p_there - log_p + log_q_ratio,
        (false, true) => f64::INFINITY,
        _ => f64::NEG_INFINITY,
    }
}

/// A change of one site, from value u to (u + s) mod C with a shift s from 1 to C - 1: number i (C - 1) + s - 1.
#[derive(Clone, Copy)]
pub(super) struct Change {
    pub site: usize,
    shift: usize,
}

impl Change {
    pub fn of(number: usize, values: usize) -> Self {
        Self {
            site: number / (values - 1),
            shift: number % (values - 1) + 1,
        }
    }

    /// Makes it.
    pub fn make<V: Site>(self, state: &mut [V], values: usize) {
        let x = &mut state[self.site];
        *x = V::of_code((x.code() + self.shift) % values);
    }

    /// The change that takes it back.
    pub fn back(self, values: usize) -> Self {
        Self {
            site: self.site,
            shift: values - self.shift,
        }
    }

    /// Its number.
    pub fn number(self, values: usize) -> usize {
        self.site * (values - 1) + self.shift - 1
    }
}
