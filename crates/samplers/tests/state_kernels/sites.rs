//! What sites hold, what a target is by reference, and what a pair of chains says of itself.

use helmholtz_random::{Purpose, Stream};
use helmholtz_samplers::coupling::LaggedChains;
use helmholtz_samplers::{
    DifferenceTarget, EachChange, Independence, IndependenceProposal, Mis, SamplerError, Site,
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
