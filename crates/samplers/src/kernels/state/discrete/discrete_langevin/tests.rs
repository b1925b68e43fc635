//! The proposal against its formula, and what is remembered against what is computed anew.

use std::sync::atomic::{AtomicUsize, Ordering};

use helmholtz_random::{Purpose, Stream};

use super::*;
use crate::log_space::log_sum_exp;
use crate::{EachChange, Target};

/// ln p = Σ h_i(x_i) + J \[x_i = x_{i+1}\] on a ring.
struct Ring {
    values: usize,
    field: Vec<f64>,
}

impl Ring {
    fn new(sites: usize, values: usize) -> Self {
        let field = (0..sites * values)
            .map(|i| (1.7 * i as f64).sin())
            .collect();
        Self { values, field }
    }
}

impl Target<Vec<u8>> for &Ring {
    fn log_density(&self, x: &Vec<u8>) -> f64 {
        let equal = |i: usize| f64::from(x[i] == x[(i + 1) % x.len()]);
        let site = |i: usize| self.field[i * self.values + usize::from(x[i])] + 0.9 * equal(i);
        (0..x.len()).map(site).sum()
    }
}

fn stream(which: usize) -> Stream {
    Stream::new(1, Purpose::new("langevin"), [which as u64, 0])
}

/// ln q(to | from) by its formula.
fn log_q(ring: &Ring, step_size: f64, from: &[u8], to: &[u8]) -> f64 {
    let at = |x: &[u8]| ring.log_density(&x.to_vec());
    let site = |i: usize| {
        let log_weight = |v: u8| {
            let mut changed = from.to_vec();
            changed[i] = v;
            let apart = f64::from(v != from[i]);
            0.5 * (at(&changed) - at(from)) - 0.5 * apart / step_size
        };
        let all = (0..ring.values as u8).map(log_weight);
        log_weight(to[i]) - log_sum_exp(all.collect::<Vec<_>>())
    };
    (0..from.len()).map(site).sum()
}

#[test]
fn both_ways_are_weighed_by_the_formula() {
    for (values, step_size) in [(2, 0.3), (2, 3.0), (4, 0.4), (4, 50.0)] {
        let ring = Ring::new(40, values);
        let target = EachChange::new(&ring, values);
        let (mut around, mut stream) = (Around::default(), stream(values));
        let mut x = vec![0u8; 40];
        let log_weight = |d: f64| 0.5 * d - 0.5 / step_size;
        let mut changes = 0;
        for _ in 0..50 {
            around.come_to(&target, &x, log_weight);
            let mut to = x.clone();
            around.draw(&mut to, &mut stream);
            changes += around.changes();
            let (ends, _, found) = around.look_back(&target, [&x, &to], log_weight);
            let at = [&x, &to].map(|x| (&ring).log_density(x));
            assert!((ends[1] - ends[0] - at[1] + at[0]).abs() < 1e-12);
            let expected = log_q(&ring, step_size, &to, &x) - log_q(&ring, step_size, &x, &to);
            assert!((found - expected).abs() < 1e-11, "{found} {expected}");
            around.arrive(&to);
            x = to;
        }
        assert!(changes > 200, "{changes}");
    }
}

/// One kernel for all steps, of two chains that take turns and are moved by hand, beside a new one for each.
#[test]
fn what_is_remembered_changes_no_bit() {
    for values in [2, 3] {
        let ring = Ring::new(30, values);
        let kernel = || DiscreteLangevin::new(EachChange::new(&ring, values), 0.4).unwrap();
        let old = kernel();
        let mut chains = [vec![0u8; 30], vec![1u8; 30]].map(|x| (x.clone(), x));
        let (mut one, mut other) = (stream(10), stream(10));
        let mut accepted = 0;
        for step in 0..300 {
            for (x, y) in &mut chains {
                let info = old.step(x, &mut one);
                assert_eq!(info, kernel().step(y, &mut other));
                assert_eq!(x, y);
                accepted += info.accepted;
            }
            if step % 7 == 3 {
                let (x, y) = &mut chains[0];
                x[step % 30] = (x[step % 30] + 1) % values as u8;
                y.clone_from(x);
            }
        }
        assert!((100..590).contains(&accepted), "{accepted}");
    }
}

/// The ring, with differences from the two neighbours; it tells what is other after a change, or does not.
struct Local {
    ring: Ring,
    tells: bool,
}

impl Local {
    fn row(&self, x: &[u8], i: usize) -> Vec<f64> {
        let (n, values) = (x.len(), self.ring.values);
        let with = |v: u8| {
            let equal = [x[(i + 1) % n], x[(i + n - 1) % n]].map(|other| f64::from(other == v));
            self.ring.field[i * values + usize::from(v)] + 0.9 * (equal[0] + equal[1])
        };
        (0..values as u8).map(|v| with(v) - with(x[i])).collect()
    }
}

impl DifferenceTarget<u8> for Local {
    fn values(&self) -> usize {
        self.ring.values
    }

    fn log_density(&self, x: &[u8]) -> f64 {
        (&self.ring).log_density(&x.to_vec())
    }

    fn log_density_and_differences(&self, x: &[u8], differences: &mut [f64]) -> f64 {
        for (i, row) in differences.chunks_exact_mut(self.ring.values).enumerate() {
            row.copy_from_slice(&self.row(x, i));
        }
        self.log_density(x)
    }

    fn log_density_ratio_and_differences(
        &self,
        from: &[u8],
        to: &[u8],
        changes: &[usize],
        sites: &mut Vec<usize>,
        differences: &mut Vec<f64>,
    ) -> Option<f64> {
        let n = from.len();
        let near = changes.iter().flat_map(|i| [i + n - 1, *i, i + 1]);
        sites.extend(near.map(|i| i % n));
        sites.sort_unstable();
        sites.dedup();
        differences.extend(sites.iter().flat_map(|i| self.row(to, *i)));
        self.tells
            .then(|| self.log_density(to) - self.log_density(from))
    }
}

/// A target that tells what is other after a change, beside the same one that does not.
#[test]
fn what_a_target_tells_changes_no_move() {
    for values in [2, 3] {
        let kernel = |tells| {
            let ring = Ring::new(60, values);
            DiscreteLangevin::new(Local { ring, tells }, 0.2).unwrap()
        };
        let (told, looked) = (kernel(true), kernel(false));
        let (mut x, mut y) = (vec![0u8; 60], vec![0u8; 60]);
        let (mut one, mut other) = (stream(30), stream(30));
        let mut accepted = 0;
        for _ in 0..500 {
            let info = told.step(&mut x, &mut one);
            assert_eq!(info, looked.step(&mut y, &mut other));
            assert_eq!(x, y);
            accepted += info.accepted;
        }
        assert!((50..490).contains(&accepted), "{accepted}");
    }
}

#[test]
fn a_step_of_a_chain_that_nothing_else_moves_costs_one_evaluation() {
    struct Counted<'a>(EachChange<&'a Ring>, AtomicUsize);
    impl DifferenceTarget<u8> for Counted<'_> {
        fn values(&self) -> usize {
            DifferenceTarget::<u8>::values(&self.0)
        }

        fn log_density(&self, state: &[u8]) -> f64 {
            self.0.log_density(state)
        }

        fn log_density_and_differences(&self, state: &[u8], differences: &mut [f64]) -> f64 {
            self.1.fetch_add(1, Ordering::Relaxed);
            self.0.log_density_and_differences(state, differences)
        }
    }
    let ring = Ring::new(30, 2);
    let target = Counted(EachChange::new(&ring, 2), AtomicUsize::new(0));
    let count = || target.1.swap(0, Ordering::Relaxed);
    let (mut x, mut stream) = (vec![0u8; 30], stream(20));
    let kernel = DiscreteLangevin::new(&target, 0.3).unwrap();
    let kernel = kernel.warm_up(0.6, 20, &mut x, &mut stream).unwrap();
    assert_eq!(count(), 21);
    // Of nine chains that take turns each is forgotten before its turn comes.
    for (chains, evaluations) in [(1, 1), (8, 8), (9, 18)] {
        let mut all: Vec<Vec<u8>> = (0..chains)
            .map(|c| (0..30).map(|i| ((5 * i + c) % 11 % 2) as u8).collect())
            .collect();
        let mut round = || {
            all.iter_mut().for_each(|x| {
                kernel.step(x, &mut stream);
            });
            count()
        };
        assert_eq!((round(), round()), (2 * chains, evaluations));
    }
    let unadjusted = DiscreteLangevin::new(&target, 0.3).unwrap().unadjusted();
    for _ in 0..20 {
        unadjusted.step(&mut x, &mut stream);
    }
    assert_eq!(count(), 20);
}

/// A change that is liked beyond all measure is sure, and among several the likelier stays likelier.
#[test]
fn weights_beyond_f64_are_sure_changes() {
    let target = |x: &Vec<u8>| [0.0, 5000.0, 5001.0][usize::from(x[0])];
    let mut counts = [0; 3];
    for i in 0..2000 {
        let kernel = DiscreteLangevin::new(EachChange::new(target, 3), 1.0).unwrap();
        let mut x = vec![0u8];
        let info = kernel.step(&mut x, &mut stream(100 + i));
        assert_eq!((info.accepted, info.non_finite), (1, 0));
        counts[usize::from(x[0])] += 1;
    }
    assert_eq!(counts[0], 0);
    // With g = √t one is e^½ as likely as the other: 6.5 standard deviations are a false alarm in 1e10.
    let expected = 2000.0 / (1.0 + 0.5f64.exp());
    assert!((f64::from(counts[1]) - expected).abs() < 6.5 * (2000.0f64 * 0.235).sqrt());
}
