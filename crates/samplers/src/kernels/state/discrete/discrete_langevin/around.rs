//! A state with the laws by which its sites change.

use helmholtz_random::{Chance, Coins};

use super::super::{DifferenceTarget, Site};
use crate::exponential::exp_each;

/// ln p of a state, and the differences to its neighbours.
#[derive(Debug, Default)]
struct Differences {
    log_p: f64,
    /// ln p(x with x_i + s) - ln p(x) for the shifts s = 1, ..., C - 1, `[n, C - 1]`; -inf for impossible values. All are 0
    /// where p(x) is zero, as nothing is known of them.
    of_shifts: Vec<f64>,
    /// Differences that were NaN or +inf, and ln p if it is not finite.
    non_finite: u64,
    /// As the target writes them.
    written: Vec<f64>,
}

impl Differences {
    fn look<V: Site>(&mut self, target: &impl DifferenceTarget<V>, state: &[V]) {
        let values = target.values();
        self.written.resize(values * state.len(), 0.0);
        self.log_p = target.log_density_and_differences(state, &mut self.written);
        self.of_shifts.clear();
        if !self.log_p.is_finite() {
            self.of_shifts.resize((values - 1) * state.len(), 0.0);
            self.non_finite = 1;
            return;
        }
        by_shift(
            state.iter().copied(),
            &self.written,
            values,
            &mut self.of_shifts,
        );
        self.non_finite = self.of_shifts.iter().map(|d| u64::from(is_wrong(d))).sum();
        if self.non_finite > 0 {
            let wrong = self.of_shifts.iter_mut().filter(|d| is_wrong(d));
            wrong.for_each(|d| *d = f64::NEG_INFINITY);
        }
    }
}

/// No difference can be that.
fn is_wrong(difference: &f64) -> bool {
    difference.is_nan() || *difference == f64::INFINITY
}

/// Appends the differences of sites, `[sites, C]`, in the order of their shifts, `[sites, C - 1]`.
fn by_shift<V: Site>(
    sites: impl Iterator<Item = V>,
    written: &[f64],
    values: usize,
    of_shifts: &mut Vec<f64>,
) {
    if values == 2 {
        let other = |(x, [zero, one]): (V, &[f64; 2])| match x.code() {
            0 => *one,
            _ => *zero,
        };
        return of_shifts.extend(sites.zip(written.as_chunks::<2>().0).map(other));
    }
    for (x, row) in sites.zip(written.chunks_exact(values)) {
        let (below, above) = row.split_at(x.code());
        of_shifts.extend_from_slice(&above[1..]);
        of_shifts.extend_from_slice(below);
    }
}

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
    /// The values of the state.
    codes: Vec<u32>,
    values: usize,
    here: Differences,
    laws: Laws,
    /// Whether the laws are those of `here`.
    has_laws: bool,
    /// The sites that change, in order.
    heads: Vec<usize>,
    there: Differences,
    /// Whether the target told what is other there; `there` is then not that.
    told: bool,
    /// The sites whose differences are others there, in order, these differences, and the laws by them.
    changed: Vec<usize>,
    changed_differences: Vec<f64>,
    changed_laws: Laws,
}

impl Around {
    /// Whether it is this state.
    pub fn is_of<V: Site>(&self, state: &[V]) -> bool {
        let codes = self.codes.iter().zip(state);
        self.codes.len() == state.len() && codes.fold(true, |is, (c, x)| is & (*c == code(*x)))
    }

    /// Whether it is of no state.
    pub fn is_empty(&self) -> bool {
        self.codes.is_empty()
    }

    /// Is of no state from now on.
    pub fn clear(&mut self) {
        self.codes.clear();
        self.has_laws = false;
    }

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
        if self.is_empty() || !self.is_of(state) {
            self.codes.clear();
            self.codes.extend(state.iter().map(|x| code(*x)));
            self.values = target.values();
            self.here.look(target, state);
            self.has_laws = false;
        }
        if !self.has_laws {
            let shifts = self.values - 1;
            self.laws.set(&self.here.of_shifts, shifts, log_weight);
            self.has_laws = true;
        }
    }

    /// What was not finite around the state.
    pub fn non_finite(&self) -> u64 {
        self.here.non_finite
    }

    /// How many sites change.
    pub fn changes(&self) -> usize {
        self.heads.len()
    }

    /// Changes each site of `state` by its law.
    pub fn draw<V: Site>(&mut self, state: &mut [V], chance: &mut (impl Chance + ?Sized)) {
        let shifts = self.values - 1;
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
            *x = V::of_code(wrapped(x.code() + shift + 1, self.values));
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
        let ends = match self.ask(target, [from, to]) {
            Some(log_p_ratio) => [0.0, log_p_ratio],
            None => {
                self.there.look(target, to);
                self.find_changed();
                [self.here.log_p, self.there.log_p]
            }
        };
        let non_finite = if self.told { 0 } else { self.there.non_finite };
        let shifts = self.values - 1;
        self.changed_laws
            .set(&self.changed_differences, shifts, log_weight);
        let mut log_q_ratio = 0.0;
        let mut found = self.changed.iter().enumerate().peekable();
        for &site in &self.heads {
            let ahead = self.values + to[site].code() - self.codes[site] as usize;
            let shift = wrapped(ahead, self.values);
            let back = self.values - shift;
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

    /// Has the target tell what is other there, if it can and all is finite here and there.
    fn ask<V: Site>(
        &mut self,
        target: &impl DifferenceTarget<V>,
        [from, to]: [&[V]; 2],
    ) -> Option<f64> {
        self.told = false;
        if self.here.non_finite > 0 {
            return None;
        }
        self.changed.clear();
        self.there.written.clear();
        let (sites, written) = (&mut self.changed, &mut self.there.written);
        let ratio =
            target.log_density_ratio_and_differences(from, to, &self.heads, sites, written)?;
        self.changed_differences.clear();
        let there = self.changed.iter().map(|site| to[*site]);
        by_shift(
            there,
            &self.there.written,
            self.values,
            &mut self.changed_differences,
        );
        self.told = !self.changed_differences.iter().any(is_wrong);
        self.told.then_some(ratio)
    }

    fn find_changed(&mut self) {
        let shifts = self.values - 1;
        let (here, there) = (&self.here.of_shifts, &self.there.of_shifts);
        self.changed.resize(self.codes.len(), 0);
        let mut count = 0;
        // Without a branch: where many sites change, it would often be taken for the other.
        match shifts {
            1 => {
                for (site, (a, b)) in here.iter().zip(there).enumerate() {
                    self.changed[count] = site;
                    count += usize::from(a != b);
                }
            }
            _ => {
                let rows = here.chunks_exact(shifts).zip(there.chunks_exact(shifts));
                for (site, (a, b)) in rows.enumerate() {
                    self.changed[count] = site;
                    count += usize::from(a != b);
                }
            }
        }
        self.changed.truncate(count);
        self.changed_differences.clear();
        match shifts {
            1 => {
                let own = self.changed.iter().map(|site| there[*site]);
                self.changed_differences.extend(own);
            }
            _ => {
                for site in &self.changed {
                    let own = &there[site * shifts..][..shifts];
                    self.changed_differences.extend_from_slice(own);
                }
            }
        }
    }

    /// Σ ln(normaliser here / normaliser there), by two products that are turned into logarithms before they overflow.
    fn log_normaliser_ratio(&self) -> f64 {
        const FLUSH: f64 = 1e150;
        let (mut sum, mut above, mut below) = (0.0, 1.0, 1.0);
        for (&site, there) in self.changed.iter().zip(&self.changed_laws.normalisers) {
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
        let shifts = self.values - 1;
        for &site in &self.heads {
            self.codes[site] = code(to[site]);
        }
        if !self.told {
            std::mem::swap(&mut self.here, &mut self.there);
        }
        for (row, &site) in self.changed.iter().enumerate() {
            if self.told {
                let own = &self.changed_differences[row * shifts..][..shifts];
                self.here.of_shifts[site * shifts..][..shifts].copy_from_slice(own);
            }
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

fn code<V: Site>(x: V) -> u32 {
    x.code() as u32
}
