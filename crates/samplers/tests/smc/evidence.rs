//! Evidence and averages under it are unbiased, exactly.

use helmholtz_random::Enumerator;
use helmholtz_samplers::SamplerError;
use helmholtz_samplers::resampling::*;
use helmholtz_samplers::smc::{Population, Smc};

use crate::toy::*;

/// A population of `particles` that has made `steps` steps.
fn run<R: Resampler<Enumerator>>(
    toy: &Toy,
    particles: usize,
    steps: usize,
    smc: &Smc<R>,
    chance: &mut Enumerator,
) -> Result<Population<usize>, SamplerError> {
    let mut population = Population::draw(particles, chance, |c| toy.draw_start(c))?;
    for t in 1..=steps {
        smc.step(&mut population, chance, |state, chance| {
            toy.extend(t, state, chance).log_weight()
        })?;
    }
    Ok(population)
}

fn assert_unbiased<R: Resampler<Enumerator>>(
    toy: &Toy,
    particles: usize,
    resampler: R,
    policy: &Policy,
    name: &str,
) {
    let smc = Smc::new(resampler, policy.clone()).expect("a policy");
    for t in 0..toy.gammas.len() {
        // 1 gives the evidence, the others averages of functions under it.
        for (f, expected) in [
            ((|_| 1.0) as fn(&usize) -> f64, toy.z(t)),
            (
                |&x| f64::from(u8::from(x == 1)),
                toy.sum(t, |x| f64::from(u8::from(x == 1))),
            ),
            (
                |&x| (x as f64 + 0.3).powi(2),
                toy.sum(t, |x| (x as f64 + 0.3).powi(2)),
            ),
        ] {
            let mean = expectation(|chance| weighted(run(toy, particles, t, &smc, chance), f));
            let error = relative_error(mean, expected);
            assert!(
                error < TOLERANCE,
                "{name}, {policy:?}, N = {particles}, t = {t}: {error:e}"
            );
        }
    }
}

const POLICIES: [Policy; 4] = [
    Policy::Always,
    Policy::Never,
    Policy::EssBelow(0.9),
    Policy::EssBelow(0.6),
];

#[test]
fn evidence_is_unbiased_with_multinomial_resampling_under_every_policy() {
    for policy in POLICIES {
        for (states, steps, zero) in [(3, 2, false), (3, 2, true), (2, 3, false)] {
            assert_unbiased(
                &Toy::new(states, steps, zero),
                2,
                MultinomialByChoice,
                &policy,
                "by choice",
            );
        }
        assert_unbiased(
            &Toy::new(2, 1, false),
            3,
            MultinomialByChoice,
            &policy,
            "by choice",
        );
    }
}

#[test]
fn evidence_is_unbiased_with_the_srinivasan_process_under_every_policy() {
    for policy in POLICIES {
        for (states, steps, zero) in [(3, 2, true), (2, 3, false)] {
            assert_unbiased(&Toy::new(states, steps, zero), 2, Ssp, &policy, "ssp");
        }
        assert_unbiased(&Toy::new(2, 2, false), 3, Ssp, &policy, "ssp");
    }
}

#[test]
fn evidence_is_unbiased_with_every_other_scheme() {
    for (name, scheme) in ByLaw::several() {
        for policy in [Policy::Always, Policy::EssBelow(0.9)] {
            assert_unbiased(&Toy::new(2, 2, false), 2, &scheme, &policy, name);
            assert_unbiased(&Toy::new(3, 1, true), 3, &scheme, &policy, name);
        }
    }
}

/// Whether resampling happened depends on the branch: the policy in between is not one of the other two.
#[test]
fn an_adaptive_policy_resamples_on_some_branches_only() {
    let toy = Toy::new(3, 1, false);
    let resampled = |policy| {
        let smc = Smc::new(MultinomialByChoice, policy).expect("a policy");
        expectation(|chance| {
            let mut population =
                Population::draw(2, chance, |c| toy.draw_start(c)).expect("weights");
            let info = smc
                .step(&mut population, chance, |x, c| {
                    toy.extend(1, x, c).log_weight()
                })
                .expect("weights");
            f64::from(u8::from(info.ancestors.is_some()))
        })
    };
    assert!((resampled(Policy::Always) - 1.0).abs() < TOLERANCE);
    assert_eq!(resampled(Policy::Never), 0.0);
    let sometimes = resampled(Policy::EssBelow(0.9));
    assert!(sometimes > 0.1 && sometimes < 0.9, "{sometimes}");
}

#[test]
fn the_log_of_the_estimate_is_low_on_average() {
    let toy = Toy::new(2, 2, false);
    let smc = Smc::new(MultinomialByChoice, Policy::Always).expect("a policy");
    let mean = expectation(|chance| {
        run(&toy, 2, 2, &smc, chance)
            .expect("weights")
            .log_evidence()
    });
    assert!(mean < toy.z(2).ln() - 1e-3);
}

/// With exact conditionals as kernel and reverse kernel, every incremental weight is 1.
#[test]
fn exact_kernels_have_weight_one() {
    let joint = [[0.3, 0.1], [0.2, 0.4]];
    // Gibbs on (a, b): b given a, forward and back.
    let conditional = |a: usize, b: usize| f64::ln(joint[a][b] / (joint[a][0] + joint[a][1]));
    for (a, b, new) in [(0, 0, 1), (0, 1, 0), (1, 0, 1), (1, 1, 1)] {
        let increment = helmholtz_samplers::smc::Increment {
            log_target: f64::ln(joint[a][new]),
            log_reverse: conditional(a, b),
            log_previous: f64::ln(joint[a][b]),
            log_forward: conditional(a, new),
        };
        assert!(increment.log_weight().abs() < 1e-15);
    }
}

#[test]
fn states_that_are_moved_by_other_means_stay_moved() {
    let mut population = Population::new(vec![3, 5], vec![0.0, 1.0]).expect("weights");
    let before = population.log_weights().to_vec();
    population.states_mut().iter_mut().for_each(|x| *x += 1);
    assert_eq!(population.states(), [4, 6]);
    assert_eq!(population.log_weights(), before);
}
