//! Negative controls: samplers that are almost right are biased, and the proof notices.

use helmholtz_random::{Chance, Enumerator};
use helmholtz_samplers::Kernel;
use helmholtz_samplers::resampling::{MultinomialByChoice, Policy, Resampler};
use helmholtz_samplers::smc::{Increment, Population, Smc};

use crate::tempered::{Flip, PROBLEM};
use crate::toy::*;

#[derive(Clone, Copy, PartialEq)]
enum Defect {
    None,
    NoReverseKernel,
    WeightsKeptAfterResampling,
    ForgetsTheOldTarget,
}

/// SMC by the textbook, in linear weights, with one thing wrong; resampling at every step.
fn textbook(toy: &Toy, particles: usize, defect: Defect, chance: &mut Enumerator) -> f64 {
    let n = particles as f64;
    let (mut states, weights): (Vec<usize>, Vec<f64>) =
        (0..particles).map(|_| toy.draw_start(chance)).unzip();
    let mut weights: Vec<f64> = weights.iter().map(|l| l.exp()).collect();
    let mut z = weights.iter().sum::<f64>() / n;
    for t in 1..toy.gammas.len() {
        let total: f64 = weights.iter().sum();
        weights.iter_mut().for_each(|w| *w /= total);
        let log: Vec<f64> = weights.iter().map(|w| w.ln()).collect();
        let mut ancestors = vec![0; particles];
        MultinomialByChoice
            .resample(&log, chance, &mut ancestors)
            .expect("weights");
        states = ancestors.iter().map(|&a| states[a as usize]).collect();
        weights = match defect {
            Defect::WeightsKeptAfterResampling => {
                ancestors.iter().map(|&a| weights[a as usize]).collect()
            }
            _ => vec![1.0 / n; particles],
        };
        for (state, weight) in states.iter_mut().zip(&mut weights) {
            let right = toy.extend(t, state, chance);
            let increment = match defect {
                Defect::NoReverseKernel => Increment {
                    log_reverse: 0.0,
                    ..right
                },
                Defect::ForgetsTheOldTarget => Increment {
                    log_previous: 0.0,
                    ..right
                },
                _ => right,
            };
            *weight *= increment.log_weight().exp();
        }
        z *= weights.iter().sum::<f64>();
    }
    z
}

fn error_of(defect: Defect) -> f64 {
    let toy = Toy::new(2, 2, false);
    relative_error(
        expectation(|chance| textbook(&toy, 2, defect, chance)),
        toy.z(2),
    )
}

#[test]
fn the_textbook_sampler_without_a_defect_is_unbiased() {
    assert!(error_of(Defect::None) < TOLERANCE);
}

#[test]
fn dropping_the_reverse_kernel_is_noticed() {
    assert!(error_of(Defect::NoReverseKernel) > 0.1);
}

#[test]
fn keeping_the_weights_after_resampling_is_noticed() {
    assert!(error_of(Defect::WeightsKeptAfterResampling) > 0.01);
}

#[test]
fn forgetting_the_old_target_is_noticed() {
    assert!(error_of(Defect::ForgetsTheOldTarget) > 0.1);
}

/// A run that died out must count as zero: averaging over the others is biased upwards.
#[test]
fn leaving_out_the_runs_that_died_is_noticed() {
    let toy = Toy::new(3, 2, true);
    let alive = |chance: &mut Enumerator| -> Option<f64> {
        let smc = Smc::new(MultinomialByChoice, Policy::Always).expect("a policy");
        let mut population = Population::draw(2, chance, |c| toy.draw_start(c)).ok()?;
        for t in 1..=2 {
            smc.step(&mut population, chance, |x, c| {
                toy.extend(t, x, c).log_weight()
            })
            .ok()?;
        }
        Some(population.log_evidence().exp())
    };
    let survives = expectation(|c| f64::from(u8::from(alive(c).is_some())));
    let all = expectation(|c| alive(c).unwrap_or(0.0));
    assert!(survives < 0.99);
    assert!(relative_error(all, toy.z(2)) < TOLERANCE);
    assert!(relative_error(all / survives, toy.z(2)) > 0.01);
}

/// One tempering step by hand, weighed at the state before the move or after it.
fn tempering(after: bool, chance: &mut impl Chance) -> f64 {
    let path = PROBLEM.path();
    let ladder = [0.0, 0.5, 1.0];
    let smc = Smc::new(MultinomialByChoice, Policy::Always).expect("a policy");
    let mut population =
        Population::draw(2, chance, |c| (choose(&PROBLEM.base, c), 0.0)).expect("weights");
    for pair in ladder.windows(2) {
        let weight = |x: &usize| path.log_density(pair[1], x) - path.log_density(pair[0], x);
        let kernel = Flip {
            log_density: |x: &usize| path.log_density(pair[1], x),
            states: 3,
        };
        smc.step(&mut population, chance, |state, chance| {
            let before = weight(state);
            kernel.step(state, chance);
            if after { weight(state) } else { before }
        })
        .expect("weights");
    }
    population.log_evidence().exp()
}

#[test]
fn weighing_after_the_move_is_noticed() {
    let right = expectation(|chance| tempering(false, chance));
    let wrong = expectation(|chance| tempering(true, chance));
    assert!(relative_error(right, PROBLEM.z()) < TOLERANCE);
    assert!(relative_error(wrong, PROBLEM.z()) > 0.05);
}
