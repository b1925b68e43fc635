//! Choices without replacement among many.

use helmholtz_random::Chance;

/// Weights of changes by their logarithms, a row of `width` of them a site, from which sites are taken out one by one. Rows lie
/// in about √N blocks whose sums are kept: a choice among N rows is one among blocks and one within its block, of the same
/// law, and no exponential is taken twice.
pub(super) struct Urn {
    log_weights: Vec<f64>,
    /// exp(log-weight - offset).
    weights: Vec<f64>,
    offset: f64,
    /// Of the weights of each block.
    sums: Vec<f64>,
    width: usize,
    /// Weights a block, a multiple of `width`.
    block: usize,
}

/// A sum of weights below this one is no longer compared with an offset that was the largest log-weight.
const LEAST: f64 = 1e-150;

impl Urn {
    pub fn new(log_weights: Vec<f64>, width: usize) -> Self {
        let rows = log_weights.len() / width;
        let block = width * ((rows as f64).sqrt().ceil() as usize).max(1);
        let mut urn = Self {
            weights: vec![0.0; log_weights.len()],
            sums: vec![0.0; log_weights.len().div_ceil(block)],
            offset: 0.0,
            log_weights,
            width,
            block,
        };
        urn.weigh();
        urn
    }

    /// The weights anew, relative to the largest that is left.
    fn weigh(&mut self) {
        let finite = |l: f64| if l.is_finite() { l } else { f64::MIN };
        let largest = self
            .log_weights
            .iter()
            .fold(f64::MIN, |max, &l| max.max(finite(l)));
        self.offset = largest;
        for (weight, &l) in self.weights.iter_mut().zip(&self.log_weights) {
            *weight = if l.is_finite() {
                (l - largest).exp()
            } else {
                0.0
            };
        }
        let blocks = self.weights.chunks(self.block);
        self.sums
            .iter_mut()
            .zip(blocks)
            .for_each(|(sum, block)| *sum = block.iter().sum());
    }

    /// A change with probability proportional to its weight; none if none is possible.
    pub fn choose(&self, chance: &mut (impl Chance + ?Sized)) -> Option<usize> {
        let start = chance.choose_by_weight(&self.sums)? * self.block;
        let end = (start + self.block).min(self.weights.len());
        Some(start + chance.choose_by_weight(&self.weights[start..end])?)
    }

    /// ln of the probability with which `change` is chosen next.
    pub fn log_probability(&self, change: usize) -> f64 {
        self.log_weights[change] - self.offset - self.sums.iter().sum::<f64>().ln()
    }

    /// Takes out the site of `change`.
    pub fn take_out(&mut self, change: usize) {
        let row = change - change % self.width;
        self.log_weights[row..row + self.width].fill(f64::NEG_INFINITY);
        self.weights[row..row + self.width].fill(0.0);
        let start = change - change % self.block;
        let end = (start + self.block).min(self.weights.len());
        self.sums[change / self.block] = self.weights[start..end].iter().sum();
        if self.sums.iter().sum::<f64>() < LEAST {
            self.weigh();
        }
    }
}

#[cfg(test)]
mod tests {
    use helmholtz_random::enumerate;

    use super::*;
    use crate::log_sum_exp;

    /// Seven sites with two changes, in blocks of three sites; one is impossible, and one is taken out.
    #[test]
    fn a_choice_by_blocks_is_one_among_all() {
        let mut log_weights: Vec<f64> = (0..14).map(|i| (0.7 * f64::from(i)).sin()).collect();
        log_weights[3] = f64::NEG_INFINITY;
        let mut urn = Urn::new(log_weights.clone(), 2);
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
        let mut urn = Urn::new(vec![0.0, 900.0, 1.0, -f64::INFINITY], 1);
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
}
