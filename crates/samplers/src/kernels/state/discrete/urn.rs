//! Choices without replacement among many.

use helmholtz_random::Chance;

use crate::log_sum_exp;

/// Log-weights of changes, a row of them a site, from which sites are taken out one by one. Rows lie in about √N blocks
/// whose sums are kept: a choice among N rows is one among blocks and one within its block, of the same law.
pub(super) struct Urn {
    log_weights: Vec<f64>,
    /// ln Σ of each block.
    log_sums: Vec<f64>,
    values: usize,
    /// Log-weights a block, a multiple of `values`.
    block: usize,
}

impl Urn {
    pub fn new(log_weights: Vec<f64>, values: usize) -> Self {
        let rows = log_weights.len() / values;
        let block = values * ((rows as f64).sqrt().ceil() as usize).max(1);
        let log_sums = log_weights.chunks(block).map(log_sum_exp).collect();
        Self {
            log_weights,
            log_sums,
            values,
            block,
        }
    }

    /// A change with probability proportional to its weight; none if none is possible.
    pub fn choose(&self, chance: &mut (impl Chance + ?Sized)) -> Option<usize> {
        let start = chance.choose(&self.log_sums)? * self.block;
        let end = (start + self.block).min(self.log_weights.len());
        Some(start + chance.choose(&self.log_weights[start..end])?)
    }

    /// ln of the probability with which `change` is chosen next.
    pub fn log_probability(&self, change: usize) -> f64 {
        self.log_weights[change] - log_sum_exp(&self.log_sums)
    }

    /// Takes out the site of `change`.
    pub fn take_out(&mut self, change: usize) {
        let row = change - change % self.values;
        self.log_weights[row..row + self.values].fill(f64::NEG_INFINITY);
        let start = change - change % self.block;
        let end = (start + self.block).min(self.log_weights.len());
        self.log_sums[change / self.block] = log_sum_exp(&self.log_weights[start..end]);
    }
}

#[cfg(test)]
mod tests {
    use helmholtz_random::enumerate;

    use super::*;

    /// Seven sites with two changes, in blocks of three sites; one is impossible, and one is taken out.
    #[test]
    fn a_choice_by_blocks_is_one_among_all() {
        let mut log_weights: Vec<f64> = (0..14).map(|i| (0.7 * f64::from(i)).sin()).collect();
        log_weights[3] = f64::NEG_INFINITY;
        let mut urn = Urn::new(log_weights.clone(), 2);
        assert_eq!((urn.block, urn.log_sums.len()), (6, 3));
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
}
