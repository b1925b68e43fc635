//! Choices without replacement among many.

use helmholtz_random::Chance;

use crate::exponential::exp_each;

/// Weights of changes by their logarithms, a row of `width` of them a site, from which sites are taken out one by one. Rows lie
/// in about √N blocks whose sums are kept: a choice among N rows is one among blocks and one within its block, of the same
/// law, and no exponential is taken twice.
///
/// What was set row by row has the bits of what is filled at once.
#[derive(Debug, Default)]
pub(super) struct Urn {
    /// -inf for what cannot be chosen.
    log_weights: Vec<f64>,
    /// exp(log-weight - offset); 0 for what was taken out.
    weights: Vec<f64>,
    offset: f64,
    /// Of each block, the sum of the weights and the largest log-weight.
    sums: Vec<f64>,
    largest: Vec<f64>,
    width: usize,
    /// Weights a block, a multiple of `width`.
    block: usize,
    /// The sum of all that is not out.
    total: f64,
    /// The sites that were taken out, their weights, and the sums before.
    out: Vec<usize>,
    out_weights: Vec<f64>,
    sums_before: Vec<f64>,
    /// Room for the rows that are set.
    set: Vec<f64>,
}

/// A sum of weights below this one is no longer compared with an offset that was the largest log-weight.
const LEAST: f64 = 1e-150;

/// Offsets are multiples of this: few changes of weights change it, and the largest weight is at least e^-64.
const STEP: f64 = 64.0;

/// Of a largest log-weight.
fn offset(largest: f64) -> f64 {
    match largest.is_finite() {
        true => STEP * (largest / STEP).ceil(),
        false => 0.0,
    }
}

fn possible(log_weight: f64) -> f64 {
    match log_weight.is_finite() {
        true => log_weight,
        false => f64::NEG_INFINITY,
    }
}

impl Urn {
    /// Has these weights from now on, in rows of `width`; what is not finite cannot be chosen.
    pub fn fill(&mut self, log_weights: impl Iterator<Item = f64>, width: usize) {
        self.log_weights.clear();
        self.log_weights.extend(log_weights.map(possible));
        let rows = self.log_weights.len() / width;
        self.width = width;
        self.block = width * ((rows as f64).sqrt().ceil() as usize).max(1);
        let blocks = self.log_weights.len().div_ceil(self.block);
        self.sums.resize(blocks, 0.0);
        self.largest.resize(blocks, 0.0);
        self.out.clear();
        self.out_weights.clear();
        for block in 0..blocks {
            self.largest[block] = self.log_weights[self.range(block)]
                .iter()
                .copied()
                .fold(f64::NEG_INFINITY, f64::max);
        }
        self.weigh(self.largest());
    }

    fn range(&self, block: usize) -> std::ops::Range<usize> {
        let start = block * self.block;
        start..(start + self.block).min(self.log_weights.len())
    }

    fn largest(&self) -> f64 {
        let all = self.largest.iter().copied();
        all.fold(f64::NEG_INFINITY, f64::max)
    }

    /// The log-weights of a site.
    pub fn row(&self, site: usize) -> &[f64] {
        &self.log_weights[site * self.width..][..self.width]
    }

    /// Gives these sites, in order, other log-weights, `[sites, width]`. Nothing may be out.
    pub fn set_rows(&mut self, sites: &[usize], log_weights: &[f64]) {
        self.set.clear();
        self.set.extend(log_weights.iter().map(|l| possible(*l)));
        for (site, row) in sites.iter().zip(self.set.chunks_exact(self.width)) {
            self.log_weights[site * self.width..][..self.width].copy_from_slice(row);
        }
        self.set.iter_mut().for_each(|l| *l -= self.offset);
        exp_each(&mut self.set);
        for (site, row) in sites.iter().zip(self.set.chunks_exact(self.width)) {
            self.weights[site * self.width..][..self.width].copy_from_slice(row);
        }
        let mut done = None;
        for site in sites {
            let block = site * self.width / self.block;
            if done == Some(block) {
                continue;
            }
            done = Some(block);
            let own = self.range(block);
            self.sums[block] = self.weights[own.clone()].iter().sum();
            self.largest[block] = self.log_weights[own]
                .iter()
                .copied()
                .fold(f64::NEG_INFINITY, f64::max);
        }
        let largest = self.largest();
        if offset(largest) == self.offset {
            self.total = self.sums.iter().sum();
        } else {
            self.weigh(largest);
        }
    }

    /// The weights anew, relative to `largest`; those of what is out are 0.
    fn weigh(&mut self, largest: f64) {
        self.offset = offset(largest);
        self.weights.clear();
        let log_weights = self.log_weights.iter();
        self.weights.extend(log_weights.map(|l| l - self.offset));
        exp_each(&mut self.weights);
        for site in &self.out {
            self.weights[site * self.width..][..self.width].fill(0.0);
        }
        for block in 0..self.sums.len() {
            self.sums[block] = self.weights[self.range(block)].iter().sum();
        }
        self.total = self.sums.iter().sum();
    }

    /// A change with probability proportional to its weight; none if none is possible.
    pub fn choose(&self, chance: &mut (impl Chance + ?Sized)) -> Option<usize> {
        let own = self.range(chance.choose_by_weight(&self.sums)?);
        Some(own.start + chance.choose_by_weight(&self.weights[own])?)
    }

    /// ln of the probability with which `change`, which is not out, is chosen next.
    pub fn log_probability(&self, change: usize) -> f64 {
        self.log_weights[change] - self.offset - self.total.ln()
    }

    /// Takes out the site of `change`.
    pub fn take_out(&mut self, change: usize) {
        if self.out.is_empty() {
            self.sums_before.clone_from(&self.sums);
        }
        let site = change / self.width;
        self.out.push(site);
        let row = &mut self.weights[site * self.width..][..self.width];
        self.out_weights.extend_from_slice(row);
        row.fill(0.0);
        let block = change / self.block;
        self.sums[block] = self.weights[self.range(block)].iter().sum();
        self.total = self.sums.iter().sum();
        if self.total < LEAST {
            let left = self.log_weights.chunks_exact(self.width).enumerate();
            let left = left.filter(|(site, _)| !self.out.contains(site));
            let left = left.flat_map(|(_, row)| row);
            self.weigh(left.copied().fold(f64::NEG_INFINITY, f64::max));
        }
    }

    /// Puts back all that was taken out.
    pub fn put_back(&mut self) {
        if self.out.is_empty() {
            return;
        }
        let largest = self.largest();
        if offset(largest) == self.offset {
            let rows = self.out_weights.chunks_exact(self.width);
            for (site, row) in self.out.iter().zip(rows) {
                self.weights[site * self.width..][..self.width].copy_from_slice(row);
            }
            self.sums.clone_from(&self.sums_before);
            self.total = self.sums.iter().sum();
            self.out.clear();
        } else {
            self.out.clear();
            self.weigh(largest);
        }
        self.out_weights.clear();
    }
}

#[cfg(test)]
mod tests {
    use helmholtz_random::enumerate;

    use super::*;
    use crate::log_sum_exp;

    fn filled(log_weights: &[f64], width: usize) -> Urn {
        let mut urn = Urn::default();
        urn.fill(log_weights.iter().copied(), width);
        urn
    }

    /// Seven sites with two changes, in blocks of three sites; one is impossible, and one is taken out.
    #[test]
    fn a_choice_by_blocks_is_one_among_all() {
        let mut log_weights: Vec<f64> = (0..14).map(|i| (0.7 * f64::from(i)).sin()).collect();
        log_weights[3] = f64::NEG_INFINITY;
        let mut urn = filled(&log_weights, 2);
        assert_eq!((urn.block, urn.sums.len()), (6, 3));
        urn.take_out(9);
        log_weights[8..10].fill(f64::NEG_INFINITY);
        let log_total = log_sum_exp(&log_weights);
        let outcomes = enumerate(|chance| urn.choose(chance));
        assert_eq!(outcomes.len(), 11);
        for (probability, change) in outcomes {
            let change = change.expect("a change");
            let expected = (log_weights[change] - log_total).exp();
            assert!((probability - expected).abs() < 1e-15);
            assert!((urn.log_probability(change).exp() - expected).abs() < 1e-15);
        }
        (0..7).for_each(|site| urn.take_out(2 * site));
        assert_eq!(enumerate(|chance| urn.choose(chance)), [(1.0, None)]);
    }

    /// A weight e^900 times the next, that is taken out: the rest is weighed anew.
    #[test]
    fn what_is_left_may_be_far_smaller() {
        let mut urn = filled(&[0.0, 900.0, 1.0, -f64::INFINITY], 1);
        assert_eq!(enumerate(|chance| urn.choose(chance)), [(1.0, Some(1))]);
        assert!((urn.log_probability(2) + 899.0).abs() < 1e-12);
        urn.take_out(1);
        let e = 1f64.exp();
        for (probability, change) in enumerate(|chance| urn.choose(chance)) {
            let expected = [1.0 / (1.0 + e), 0.0, e / (1.0 + e)][change.expect("a change")];
            assert!((probability - expected).abs() < 1e-15);
        }
        assert_eq!(urn.log_probability(3), f64::NEG_INFINITY);
    }
    /// Rows set one by one, taken out and put back, with weights that come and go by e^±200, beside an urn that is new each time.
    #[test]
    fn what_is_changed_and_put_back_has_the_bits_of_what_is_new() {
        for width in [1, 3] {
            let value = |i: usize| match i % 17 {
                3 => f64::NEG_INFINITY,
                5 => f64::NAN,
                _ => 200.0 * (0.37 * i as f64).sin(),
            };
            let mut log_weights: Vec<f64> = (0..40 * width).map(value).collect();
            let mut urn = filled(&log_weights, width);
            for round in 1..300 {
                let mut sites = vec![7 * round % 40, 11 * round % 40, (11 * round + 1) % 40];
                sites.sort_unstable();
                sites.dedup();
                let of = |site: usize| site * width..(site + 1) * width;
                let rows = sites.iter().flat_map(|site| of(*site));
                let rows: Vec<f64> = rows.map(|i| value(round * 131 + i)).collect();
                urn.set_rows(&sites, &rows);
                for (site, row) in sites.iter().zip(rows.chunks(width)) {
                    log_weights[site * width..][..width].copy_from_slice(row);
                }
                let new = filled(&log_weights, width);
                let same = |urn: &Urn| {
                    assert_eq!((&urn.weights, &urn.sums), (&new.weights, &new.sums));
                    assert_eq!(urn.total, new.total);
                    assert_eq!(
                        (&urn.log_weights, urn.offset),
                        (&new.log_weights, new.offset)
                    );
                    assert!(urn.weights.iter().any(|w| *w > 1e-28));
                };
                same(&urn);
                // Now and then all of the large ones.
                for site in 0..round % 40 {
                    urn.take_out((3 * site + round) % 40 * width);
                }
                urn.put_back();
                same(&urn);
            }
        }
    }
}
