//! New values for all sites at once, and the test that accepts them.

use helmholtz_random::Chance;

use super::super::neighbourhood::log_acceptance;
use super::super::{DifferenceTarget, Site};
use super::around::Around;
use crate::Info;

/// The proposal of one step size.
pub struct Proposal<'a, T, G> {
    pub target: &'a T,
    /// ln t to ln g(t).
    pub log_g: G,
    /// α.
    pub step_size: f64,
}

/// A proposal, before the coin is tossed.
pub struct Move<V> {
    to: Vec<V>,
    /// ln of the acceptance probability, not cut at 0; -inf for a proposal that must be rejected.
    log_ratio: f64,
    non_finite: u64,
    changes: usize,
}

impl<V> Move<V> {
    /// The probability with which it is accepted.
    pub fn acceptance(&self) -> f64 {
        self.log_ratio.min(0.0).exp()
    }

    /// The accepted changes that are to be expected.
    pub fn accepted_changes(&self) -> f64 {
        self.changes as f64 * self.acceptance()
    }
}

impl<T, G: Fn(f64) -> f64> Proposal<'_, T, G> {
    /// ln of the weight of a change relative to staying, by the difference that it makes.
    fn log_weight(&self) -> impl Fn(f64) -> f64 {
        let change = -0.5 / self.step_size - (self.log_g)(0.0);
        move |difference| match difference == f64::NEG_INFINITY {
            true => f64::NEG_INFINITY,
            false => (self.log_g)(difference) + change,
        }
    }

    /// Draws y, and compares both ways.
    pub fn propose<V: Site>(
        &self,
        around: &mut Around,
        state: &[V],
        chance: &mut (impl Chance + ?Sized),
    ) -> Move<V>
    where
        T: DifferenceTarget<V>,
    {
        around.come_to(self.target, state, self.log_weight());
        let mut to = state.to_vec();
        around.draw(&mut to, chance);
        let ends = [state, &to];
        let (log_p, non_finite, log_q_ratio) =
            around.look_back(self.target, ends, self.log_weight());
        Move {
            log_ratio: log_acceptance(log_p, log_q_ratio),
            to,
            non_finite: around.non_finite() + non_finite,
            changes: around.changes(),
        }
    }

    /// Draws y, and goes there.
    pub fn unadjusted<V: Site>(
        &self,
        around: &mut Around,
        state: &mut [V],
        chance: &mut (impl Chance + ?Sized),
    ) -> Info
    where
        T: DifferenceTarget<V>,
    {
        around.come_to(self.target, state, self.log_weight());
        around.draw(state, chance);
        Info::of_move(true, around.non_finite())
    }
}

/// Tosses the coin, and goes where it says.
pub fn settle<V: Site>(
    proposed: Move<V>,
    around: &mut Around,
    state: &mut Vec<V>,
    chance: &mut (impl Chance + ?Sized),
) -> Info {
    let accepted = chance.accept(proposed.log_ratio);
    if accepted {
        around.arrive(&proposed.to);
        *state = proposed.to;
    }
    Info::of_move(accepted, proposed.non_finite)
}
