//! What sites hold, what a target is by reference, and what a pair of chains says of itself.

use helmholtz_random::{Purpose, Stream};
use helmholtz_samplers::coupling::LaggedChains;
use helmholtz_samplers::{
    AutomaticCycle, DifferenceTarget, DiscreteLangevin, EachChange, Independence,
    IndependenceProposal, Info, Kernel, LocallyBalanced, Mis, PathAuxiliary, SamplerError, Scale,
    Site,
};

#[test]
fn bytes_hold_their_codes() {
    for code in 0..256 {
        assert_eq!(<u8 as Site>::of_code(code).code(), code);
    }
}

#[test]
fn a_target_by_its_changes_and_by_reference_has_its_density() {
    fn density(target: impl DifferenceTarget<u8>, state: &[u8]) -> f64 {
        target.log_density(state)
    }
    let target = EachChange::new(|x: &Vec<u8>| 2.5 + f64::from(x[0]), 3);
    let by_reference = &target;
    assert_eq!(density(by_reference, &[2, 0]), 4.5);
    assert_eq!(density(target, &[0, 2]), 2.5);
}

struct Fair;

impl<C: helmholtz_random::Chance> IndependenceProposal<usize, C> for Fair {
    fn propose(&self, chance: &mut C) -> usize {
        chance.choose(&[0.0; 5]).unwrap_or(0)
    }

    fn log_density(&self, _: &usize) -> f64 {
        0.0
    }
}

#[test]
fn a_pair_says_when_it_met_and_what_it_can_average() {
    let kernel = Independence::new(|x: &usize| -0.4 * *x as f64, Fair, Mis, 1).unwrap();
    for seed in 0..20 {
        let mut stream = Stream::new(seed, Purpose::new("pairs"), [0, 0]);
        let pair = LaggedChains::run(&kernel, |_| 4, 2, 30, 1000, &mut stream).unwrap();
        let meeting = pair.meeting_time();
        assert!(meeting >= 2);
        let bound = |t: usize| meeting.saturating_sub(2 + t).div_ceil(2) as f64;
        assert!((0..9).all(|t| pair.total_variation_bound(t) == bound(t)));
        let expected = |burn_in, last| match pair.estimate(burn_in, last, |x| *x as f64) {
            Err(SamplerError::Length { expected, .. }) => Some(expected),
            _ => None,
        };
        assert_eq!(expected(3, 3), None);
        assert_eq!(expected(4, 3), Some(4));
        assert_eq!(expected(0, 1000), Some(meeting.max(30)));
    }
}

/// Eight bits, of which the last makes the density NaN.
fn with_a_hole(x: &[bool]) -> f64 {
    match x[7] {
        true => f64::NAN,
        false => x
            .iter()
            .zip(1..)
            .map(|(b, i)| f64::from(*b) / f64::from(i))
            .sum(),
    }
}

/// Each state that is reached has one neighbour of density NaN: a step meets it here, and there.
#[test]
fn neighbours_that_are_no_numbers_are_counted_at_both_ends() {
    fn counts(kernel: &impl Kernel<Vec<bool>, Stream, Info = Info>) {
        let (mut x, mut stream) = (vec![false; 8], Stream::new(1, Purpose::new("test"), [0, 0]));
        for _ in 0..50 {
            assert_eq!(kernel.step(&mut x, &mut stream).non_finite, 2);
            assert!(!x[7]);
        }
    }
    let target = || EachChange::new(|x: &Vec<bool>| with_a_hole(x), 2);
    counts(&LocallyBalanced::gibbs_with_gradients(target()));
    counts(&PathAuxiliary::new(target(), |log_t| 0.5 * log_t, 2.0).expect("a kernel"));
    counts(&DiscreteLangevin::new(target(), 0.4).expect("a kernel"));
}

#[test]
fn a_cycle_of_one_scale_is_that_kernel() {
    let log_p = |x: &Vec<bool>| with_a_hole(&[&x[..7], &[false]].concat());
    let target = EachChange::new(log_p, 2);
    let scale = Scale {
        step_size: 0.7,
        exponent: 0.9,
    };
    let cycle = AutomaticCycle::new(&target, vec![scale]).expect("a kernel");
    let kernel = DiscreteLangevin::with_balancing(&target, |log_t| 0.9 * log_t, 0.7);
    let kernel = kernel.expect("a kernel");
    let (mut x, mut y) = (vec![false; 8], vec![false; 8]);
    for t in 0..100 {
        let stream = || Stream::new(1, Purpose::new("test"), [0, t]);
        let infos = [
            cycle.step(&mut x, &mut stream()),
            kernel.step(&mut y, &mut stream()),
        ];
        assert_eq!(infos[0], infos[1]);
        assert_eq!(x, y);
    }
}

/// Twelve bits. Where the first is set, each other one wants to be set, by a factor of e⁶⁰⁰: the product of eleven
/// normalisers there is about e³²⁴⁵.
#[test]
fn normalisers_that_are_far_larger_there_do_not_overflow() {
    let log_p = |x: &Vec<bool>| {
        let others = x[1..].iter().filter(|b| **b).count() as f64;
        if x[0] { 1e4 + 600.0 * others } else { 0.0 }
    };
    let kernel = DiscreteLangevin::new(EachChange::new(log_p, 2), 0.1).expect("a kernel");
    let (mut x, mut stream) = (
        vec![false; 12],
        Stream::new(1, Purpose::new("test"), [0, 0]),
    );
    let info = kernel.step(&mut x, &mut stream);
    assert_eq!((info.accepted, info.non_finite, x[0]), (1, 0, true));
}
