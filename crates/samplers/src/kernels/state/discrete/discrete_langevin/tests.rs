//! The proposal against its formula.

use super::super::tests::{Counted, Ring, stream};
use super::*;
use crate::log_space::log_sum_exp;
use crate::{EachChange, Target};

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
    // With a strong field the products of normalisers go beyond f64.
    let cases = [(2, 0.3, 1.0), (2, 3.0, 1.0), (4, 0.4, 1.0), (4, 50.0, 1.0)];
    for (values, step_size, strength) in
        cases.into_iter().chain([(2, 50.0, 100.0), (4, 50.0, 90.0)])
    {
        let ring = Ring::of_strength(40, values, strength);
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
            assert!((ends[1] - ends[0] - at[1] + at[0]).abs() < 1e-12 * strength.powi(2));
            let expected = log_q(&ring, step_size, &to, &x) - log_q(&ring, step_size, &x, &to);
            let off = (found - expected).abs();
            assert!(off < 1e-11 * strength.powi(2), "{found} {expected}");
            around.arrive(&to);
            x = to;
        }
        // Under a strong one all sites go to their likeliest values and back.
        assert!(changes > 200 || strength > 1.0, "{changes}");
    }
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

#[test]
fn a_warm_up_costs_an_evaluation_a_step_and_so_does_a_kernel_without_a_test() {
    let ring = Ring::new(30, 2);
    let target = Counted::new(EachChange::new(&ring, 2));
    let (mut x, mut stream) = (vec![0u8; 30], stream(20));
    let kernel = DiscreteLangevin::new(&target, 0.3).unwrap();
    let kernel = kernel.warm_up(0.6, 20, &mut x, &mut stream).unwrap();
    assert_eq!(target.evaluations(), 21);
    kernel.step(&mut x, &mut stream);
    assert_eq!(target.evaluations(), 1);
    let unadjusted = DiscreteLangevin::new(&target, 0.3).unwrap().unadjusted();
    for _ in 0..20 {
        unadjusted.step(&mut x, &mut stream);
    }
    assert_eq!(target.evaluations(), 20);
}

/// A single bit under Barker's function: staying weighs g(1) = ½.
#[test]
fn staying_weighs_g_of_one() {
    let (gap, step_size) = (0.8f64, 0.7);
    let target = move |x: &Vec<bool>| if x[0] { gap } else { 0.0 };
    let barker = super::super::balancing_functions::barker;
    let kernel =
        DiscreteLangevin::with_balancing(EachChange::new(target, 2), barker, step_size).unwrap();
    let g = |t: f64| t / (1.0 + t);
    let q = |log_t: f64| {
        let change = g(log_t.exp()) * (-0.5 / step_size).exp();
        change / (0.5 + change)
    };
    let expected = q(gap) * (gap.exp() * q(-gap) / q(gap)).min(1.0);
    let found: f64 = helmholtz_random::enumerate(|chance| {
        let mut x = vec![false];
        kernel.step(&mut x, chance);
        x[0]
    })
    .into_iter()
    .filter_map(|(probability, moved)| moved.then_some(probability))
    .sum();
    assert!((found - expected).abs() < 1e-14, "{found}, not {expected}");
}
