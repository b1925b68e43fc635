//! Tempering, exactly.

use helmholtz_random::{Chance, Enumerator};
use helmholtz_samplers::resampling::*;
use helmholtz_samplers::smc::*;
use helmholtz_samplers::{Kernel, SamplerError, log_sum_exp};

use crate::toy::*;

/// A Metropolis move to one of the other states, all alike.
pub struct Flip<F> {
    pub log_density: F,
    pub states: usize,
}

impl<F: Fn(&usize) -> f64, C: Chance + ?Sized> Kernel<usize, C> for Flip<F> {
    type Info = bool;

    fn step(&self, state: &mut usize, chance: &mut C) -> bool {
        let shift = 1 + chance
            .choose(&vec![0.0; self.states - 1])
            .expect("another state");
        let proposal = (*state + shift) % self.states;
        let accepted = chance.accept((self.log_density)(&proposal) - (self.log_density)(state));
        if accepted {
            *state = proposal;
        }
        accepted
    }
}

/// A normalised base, and weights to be reached from it, of three states.
pub struct Problem {
    pub base: [f64; 3],
    pub target: [f64; 3],
}

pub const PROBLEM: Problem = Problem {
    base: [0.5, 0.3, 0.2],
    target: [0.2, 0.6, 3.5],
};

/// The target excludes a state of the base.
const CONSTRAINED: Problem = Problem {
    base: [0.6, 0.3, 0.1],
    target: [0.0, 0.6, 3.5],
};

impl Problem {
    pub fn path(&self) -> TemperedPath<impl Fn(&usize) -> f64, impl Fn(&usize) -> f64> {
        TemperedPath::new(
            |&x: &usize| self.base[x].ln(),
            |&x: &usize| self.target[x].ln(),
        )
    }

    pub fn z(&self) -> f64 {
        self.target.iter().sum()
    }
}

/// A finished run: along the ladder, or one that it finds.
fn run(
    problem: &Problem,
    policy: &Policy,
    ladder: Option<&[f64]>,
    chance: &mut Enumerator,
) -> Result<Population<usize>, SamplerError> {
    let path = problem.path();
    let smc = Smc::new(MultinomialByChoice, policy.clone())?;
    let mut sampler = Tempered::start(2, &path, smc, chance, |c| choose(&problem.base, c))?;
    let mut steps = 0;
    while sampler.beta() < 1.0 {
        let beta = match ladder {
            Some(ladder) => ladder[steps],
            None => sampler.next_beta(0.8)?,
        };
        let kernel = Flip {
            log_density: |x: &usize| path.log_density(beta, x),
            states: 3,
        };
        let info = sampler.step(beta, &kernel, chance)?;
        assert_eq!((info.beta, sampler.beta()), (beta, beta));
        steps += 1;
    }
    Ok(sampler.population().clone())
}

fn assert_unbiased(problem: &Problem) {
    for policy in [Policy::Always, Policy::Never, Policy::EssBelow(0.8)] {
        for ladder in [&[1.0][..], &[0.3, 1.0]] {
            for (f, expected) in [
                ((|_| 1.0) as fn(&usize) -> f64, problem.z()),
                (
                    |&x| (x * x) as f64,
                    problem.target[1] + 4.0 * problem.target[2],
                ),
            ] {
                let mean =
                    expectation(|chance| weighted(run(problem, &policy, Some(ladder), chance), f));
                let error = relative_error(mean, expected);
                assert!(error < TOLERANCE, "{policy:?}, {ladder:?}: {error:e}");
            }
        }
    }
}

#[test]
fn evidence_on_a_fixed_ladder_is_unbiased() {
    assert_unbiased(&PROBLEM);
}

#[test]
fn evidence_is_unbiased_where_the_target_excludes_states_of_the_base() {
    assert_unbiased(&CONSTRAINED);
}

/// Why `next_beta` warns. With two particles the bias is large; it falls as 1/N.
#[test]
fn a_ladder_found_on_the_way_makes_the_evidence_biased() {
    let mean = expectation(|chance| {
        weighted(run(&PROBLEM, &Policy::EssBelow(0.8), None, chance), |_| 1.0)
    });
    assert!(relative_error(mean, PROBLEM.z()) > 0.01);
}

/// (Σ v)² / (n Σ v²) of v = exp(rise · ratio), over the n finite ratios.
fn conditional_ess(log_ratios: &[f64], rise: f64) -> f64 {
    let alive = || log_ratios.iter().filter(|r| r.is_finite());
    let moment = |power: f64| log_sum_exp(alive().map(|r| power * rise * r));
    (2.0 * moment(1.0) - moment(2.0)).exp() / alive().count() as f64
}

/// The next temperature of equally weighted particles at β = 0 with these ratios.
fn next_beta(log_ratios: &[f64], share: f64) -> Result<f64, SamplerError> {
    let path = TemperedPath::new(|_: &usize| 0.0, |&x: &usize| log_ratios[x]);
    let smc = Smc::new(MultinomialByChoice, Policy::Always)?;
    let mut next = 0;
    let sampler = Tempered::start(log_ratios.len(), &path, smc, &mut (), |_| {
        next += 1;
        next - 1
    })?;
    sampler.next_beta(share)
}

#[test]
fn the_next_temperature_has_the_conditional_ess_asked_for() {
    let log_ratios: Vec<f64> = (0..50).map(|i| f64::from(i * i % 37) - 20.0).collect();
    for share in [0.1, 0.5, 0.9, 0.999] {
        let beta = next_beta(&log_ratios, share).expect("a temperature");
        assert!(beta > 0.0 && beta < 1.0);
        assert!((conditional_ess(&log_ratios, beta) - share).abs() < 1e-9);
    }
}

#[test]
fn particles_that_the_target_excludes_do_not_stop_the_ladder() {
    let log_ratios = [
        f64::NEG_INFINITY,
        3.0,
        f64::NEG_INFINITY,
        -5.0,
        0.0,
        f64::NEG_INFINITY,
    ];
    let beta = next_beta(&log_ratios, 0.9).expect("a temperature");
    assert!((conditional_ess(&log_ratios, beta) - 0.9).abs() < 1e-9);
}

#[test]
fn a_path_that_is_easy_is_walked_at_once() {
    assert_eq!(
        next_beta(&[0.1, 0.0, -0.1], 0.9).expect("a temperature"),
        1.0
    );
    assert_eq!(next_beta(&[7.0; 3], 0.999).expect("a temperature"), 1.0);
}

#[test]
fn a_path_that_is_steep_still_goes_on() {
    let beta = next_beta(&[0.0, 1e300], 0.9).expect("a temperature");
    assert!(beta > 0.0 && beta < 1e-290);
    let beta = next_beta(&[0.0, f64::MAX], 0.9).expect("a temperature");
    assert!(beta > 0.0);
}

#[test]
fn what_is_no_path_is_refused_by_name() {
    let ninf = f64::NEG_INFINITY;
    assert!(matches!(
        next_beta(&[0.0, f64::NAN], 0.5),
        Err(SamplerError::LogWeight { index: 1, .. })
    ));
    assert!(matches!(
        next_beta(&[f64::INFINITY], 0.5),
        Err(SamplerError::LogWeight { index: 0, .. })
    ));
    assert!(matches!(
        next_beta(&[ninf, ninf], 0.5),
        Err(SamplerError::AllWeightsZero { particles: 2 })
    ));
    for share in [0.0, 1.0, f64::NAN] {
        assert!(matches!(
            next_beta(&[0.0, 1.0], share),
            Err(SamplerError::RelativeEss { .. })
        ));
    }
    assert!(matches!(
        Smc::new(Ssp, Policy::EssBelow(1.5)),
        Err(SamplerError::RelativeEss { value: 1.5 })
    ));
    let path = TemperedPath::new(|_: &usize| 0.0, |_: &usize| 0.0);
    let smc = Smc::new(MultinomialByChoice, Policy::Never).expect("a policy");
    let mut chance =
        helmholtz_random::Stream::new(1, helmholtz_random::Purpose::new("test"), [0, 0]);
    let mut sampler = Tempered::start(1, &path, smc, &mut chance, |_| 0).expect("a start");
    let still = Flip {
        log_density: |_: &usize| 0.0,
        states: 2,
    };
    for beta in [0.0, -0.1, 1.1, f64::NAN] {
        assert!(matches!(
            sampler.step(beta, &still, &mut chance),
            Err(SamplerError::Temperature { from: 0.0, .. })
        ));
    }
    sampler.step(1.0, &still, &mut chance).expect("the end");
    assert!(matches!(
        sampler.next_beta(0.5),
        Err(SamplerError::Temperature { from: 1.0, .. })
    ));
}
