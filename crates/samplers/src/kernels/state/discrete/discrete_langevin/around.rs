//! A state with the laws by which its sites change.

use helmholtz_random::{Chance, Coins};

use super::super::memory::Remembered;
use super::super::surroundings::Surroundings;
use super::super::{DifferenceTarget, Site};
use crate::exponential::exp_each;

/// The laws of some sites.
#[derive(Debug, Default)]
struct Laws {
    /// ln of the weight of each change relative to staying, `[sites, C - 1]`.
    log_weights: Vec<f64>,
    /// 1 + Σ of the weights.
    normalisers: Vec<f64>,
    /// Whether a site changes.
    coins: Coins,
    /// The sums of a site's weights.
    sums: Vec<f64>,
}

/// The largest log-weight: a change of this weight is sure to be made, and its weight and a product with others fit f64.
const LARGEST: f64 = 300.0;

impl Laws {
    /// By the differences of some sites, `[sites, C - 1]`.
    ///
    /// A site whose largest log-weight is above [`LARGEST`] has all of its changes less likely by one factor, so that it is
    /// LARGEST: a proposal like any other.
    fn set(&mut self, differences: &[f64], shifts: usize, log_weight: impl Fn(f64) -> f64) {
        let log_weights = differences.iter().map(|d| log_weight(*d));
        self.log_weights.clear();
        if shifts == 1 {
            self.log_weights.extend(log_weights.map(|l| l.min(LARGEST)));
        } else {
            self.log_weights.extend(log_weights);
            for row in self.log_weights.chunks_exact_mut(shifts) {
                let largest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                if largest > LARGEST {
                    row.iter_mut().for_each(|l| *l -= largest - LARGEST);
                }
            }
        }
        // Weights, then their sums.
        self.sums.clone_from(&self.log_weights);
        exp_each(&mut self.sums);
        if shifts > 1 {
            for site in 0..self.sums.len() / shifts {
                self.sums[site] = self.sums[site * shifts..][..shifts].iter().sum();
            }
            self.sums.truncate(differences.len() / shifts);
        }
        self.normalisers.clear();
        self.normalisers
            .extend(self.sums.iter().map(|sum| 1.0 + sum));
        self.coins.clear();
        let ends = self.sums.iter().zip(&self.normalisers);
        self.coins.extend(ends.map(|(sum, all)| sum / all));
    }
}

/// What is known around a state, and around what is proposed from it.
#[derive(Debug, Default)]
pub struct Around {
    differences: Surroundings,
    laws: Laws,
    /// Whether the laws are those of the state.
    has_laws: bool,
    /// The sites that change, in order.
    heads: Vec<usize>,
    /// Of the sites whose differences are others there.
    changed_laws: Laws,
}

impl Remembered for Around {
    fn is_of<V: Site>(&self, state: &[V]) -> bool {
        self.differences.is_of(state)
    }
}

impl Around {
    /// The laws are those of other weights from now on.
    pub fn forget_laws(&mut self) {
        self.has_laws = false;
    }

    /// Of this state from now on: nothing new is computed where it was that before.
    pub fn come_to<V: Site>(
        &mut self,
        target: &impl DifferenceTarget<V>,
        state: &[V],
        log_weight: impl Fn(f64) -> f64,
    ) {
        let known = self.differences.come_to(target, state);
        if !(known && self.has_laws) {
            let shifts = self.differences.values() - 1;
            let differences = self.differences.differences();
            self.laws.set(differences, shifts, log_weight);
            self.has_laws = true;
        }
    }

    /// What was not finite around the state.
    pub fn non_finite(&self) -> u64 {
        self.differences.non_finite()
    }

    /// How many sites change.
    pub fn changes(&self) -> usize {
        self.heads.len()
    }

    /// Changes each site of `state` by its law.
    pub fn draw<V: Site>(&mut self, state: &mut [V], chance: &mut (impl Chance + ?Sized)) {
        let values = self.differences.values();
        let shifts = values - 1;
        self.heads.clear();
        chance.toss(&self.laws.coins, &mut self.heads);
        for &site in &self.heads {
            let shift = match shifts {
                1 => 0,
                // The coin has found something to choose from.
                _ => chance
                    .choose(&self.laws.log_weights[site * shifts..][..shifts])
                    .unwrap_or(0),
            };
            let x = &mut state[site];
            *x = V::of_code(wrapped(x.code() + shift + 1, values));
        }
    }

    /// Looks around `to`, which was drawn from `from`, and returns ln p of both up to a constant, what was not finite there,
    /// and ln q(from | to) - ln q(to | from). What is the same at both ends cancels: sites far from all changes.
    pub fn look_back<V: Site>(
        &mut self,
        target: &impl DifferenceTarget<V>,
        [from, to]: [&[V]; 2],
        log_weight: impl Fn(f64) -> f64,
    ) -> ([f64; 2], u64, f64) {
        let (ends, non_finite) = self.differences.look(target, [from, to], &self.heads);
        let values = self.differences.values();
        let shifts = values - 1;
        self.changed_laws
            .set(self.differences.changed_differences(), shifts, log_weight);
        let mut log_q_ratio = 0.0;
        let mut found = self.differences.changed().iter().enumerate().peekable();
        for &site in &self.heads {
            let ahead = values + to[site].code() - self.differences.code(site);
            let shift = wrapped(ahead, values);
            let back = values - shift;
            while found.next_if(|(_, other)| **other < site).is_some() {}
            let (laws, row) = match found.peek() {
                Some(&(row, &other)) if other == site => (&self.changed_laws, row),
                _ => (&self.laws, site),
            };
            log_q_ratio += laws.log_weights[row * shifts + back - 1]
                - self.laws.log_weights[site * shifts + shift - 1];
        }
        log_q_ratio += self.log_normaliser_ratio();
        (ends, non_finite, log_q_ratio)
    }

    /// Σ ln(normaliser here / normaliser there), by two products that are turned into logarithms before they overflow.
    fn log_normaliser_ratio(&self) -> f64 {
        const FLUSH: f64 = 1e150;
        let (mut sum, mut above, mut below) = (0.0, 1.0, 1.0);
        let changed = self.differences.changed().iter();
        for (&site, there) in changed.zip(&self.changed_laws.normalisers) {
            above *= self.laws.normalisers[site];
            below *= there;
            if above > FLUSH || below > FLUSH {
                sum += f64::ln(above / below);
                (above, below) = (1.0, 1.0);
            }
        }
        sum + f64::ln(above / below)
    }

    /// Of `to` from now on, around which it has looked.
    pub fn arrive<V: Site>(&mut self, to: &[V]) {
        self.differences.arrive(to, &self.heads);
        let shifts = self.differences.values() - 1;
        for (row, &site) in self.differences.changed().iter().enumerate() {
            self.laws.normalisers[site] = self.changed_laws.normalisers[row];
            let probability = self.changed_laws.coins.probabilities()[row];
            self.laws.coins.set(site, probability);
            let own = &self.changed_laws.log_weights[row * shifts..][..shifts];
            self.laws.log_weights[site * shifts..][..shifts].copy_from_slice(own);
        }
    }
}

/// `code` modulo `values`, for less than twice as much: a division would take longer than all else that is done for a site.
fn wrapped(code: usize, values: usize) -> usize {
    if code < values { code } else { code - values }
}
