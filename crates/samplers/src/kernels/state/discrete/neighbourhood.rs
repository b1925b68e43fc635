//! A state with the weights of all changes of one site.

use super::memory::Remembered;
use super::surroundings::Surroundings;
use super::urn::Urn;
use super::{DifferenceTarget, Site};

/// A state with the weights g(p(x with x_i = v) / p(x)) of the [`Change`] of site i to each other value v; 0 for impossible
/// values.
#[derive(Debug, Default)]
pub(super) struct Neighbourhood {
    differences: Surroundings,
    urn: Urn,
    /// The sites whose weights are others after what was proposed, and the rows of ln g that they had before.
    changed: Vec<usize>,
    before: Vec<f64>,
    after: Vec<f64>,
}

impl Remembered for Neighbourhood {
    fn is_of<V: Site>(&self, state: &[V]) -> bool {
        self.differences.is_of(state)
    }
}

impl Neighbourhood {
    /// Around this state from now on: nothing new is computed where it was that before.
    ///
    /// Around a state of probability zero all changes weigh the same, as nothing is known of them.
    pub fn come_to<V: Site>(
        &mut self,
        target: &impl DifferenceTarget<V>,
        state: &[V],
        log_g: &impl Fn(f64) -> f64,
    ) {
        if !self.differences.come_to(target, state) {
            let differences = self.differences.differences().iter();
            let log_weights = differences.map(|d| log_weight(*d, log_g));
            self.urn.fill(log_weights, self.differences.values() - 1);
        }
    }

    /// What was not finite around the state: differences that were NaN or +inf, and ln p.
    pub fn non_finite(&self) -> u64 {
        self.differences.non_finite()
    }

    /// The changes by their weights.
    pub fn urn(&mut self) -> &mut Urn {
        &mut self.urn
    }

    /// Has the weights of `to`, which differs from the state `from` at `sites`, in order. Returns ln p of both up to a
    /// constant, and what was not finite there. [`arrive`](Self::arrive) or [`go_back`](Self::go_back) comes next.
    pub fn look_back<V: Site>(
        &mut self,
        target: &impl DifferenceTarget<V>,
        ends: [&[V]; 2],
        sites: &[usize],
        log_g: &impl Fn(f64) -> f64,
    ) -> ([f64; 2], u64) {
        let found = self.differences.look(target, ends, sites);
        self.changed.clear();
        self.changed.extend(self.differences.changed());
        self.before.clear();
        for &site in &self.changed {
            self.before.extend_from_slice(self.urn.row(site));
        }
        let after = self.differences.changed_differences().iter();
        self.after.clear();
        self.after.extend(after.map(|d| log_weight(*d, log_g)));
        self.urn.set_rows(&self.changed, &self.after);
        found
    }

    /// Around `to` from now on, around which it has looked, and which differs at these sites.
    pub fn arrive<V: Site>(&mut self, to: &[V], sites: &[usize]) {
        self.differences.arrive(to, sites);
    }

    /// Has the weights of the state again.
    pub fn go_back(&mut self) {
        self.urn.set_rows(&self.changed, &self.before);
    }
}

fn log_weight(difference: f64, log_g: &impl Fn(f64) -> f64) -> f64 {
    match difference == f64::NEG_INFINITY {
        true => f64::NEG_INFINITY,
        false => log_g(difference),
    }
}

/// ln of the probability with which a proposal is accepted, not cut at 0, given ln p of the state and of the proposal, and
/// ln q(state | proposal) - ln q(proposal | state); -inf for what must be rejected. A state of probability zero is left,
/// whatever the way back.
pub(super) fn log_acceptance([log_p, log_p_there]: [f64; 2], log_q_ratio: f64) -> f64 {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_finite_on_the_way_is_rejected_and_zero_probability_is_left() {
        let (zero, nan) = (f64::NEG_INFINITY, f64::NAN);
        assert_eq!(log_acceptance([1.0, 3.0], -0.5), 1.5);
        assert_eq!(log_acceptance([zero, 3.0], nan), f64::INFINITY);
        for (ends, log_q_ratio) in [
            ([1.0, zero], 0.0),
            ([zero, zero], 0.0),
            ([1.0, 3.0], nan),
            ([1.0, 3.0], f64::INFINITY),
        ] {
            assert_eq!(log_acceptance(ends, log_q_ratio), zero);
        }
    }
}
