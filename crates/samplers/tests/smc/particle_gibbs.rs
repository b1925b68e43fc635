//! Particle Gibbs leaves the joint posterior of a parameter and a path invariant: exactly, by enumeration.

use std::collections::HashMap;

use helmholtz_random::{Enumerator, enumerate};
use helmholtz_samplers::resampling::*;
use helmholtz_samplers::smc::ConditionalSmc;
use helmholtz_samplers::{Cycle, Gibbs, Info, Kernel};

use crate::conditional::{Model, POLICIES};
use crate::toy::{TOLERANCE, choose};

/// p(θ).
const PRIOR: [f64; 2] = [0.3, 0.7];

/// π(θ, x) ∝ p(θ) γ_θ(x), of two values θ and all paths x.
struct Joint {
    /// By θ.
    models: [Model; 2],
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct State {
    theta: usize,
    path: Vec<usize>,
}

#[derive(Clone, Copy, PartialEq)]
enum Defect {
    None,
    /// θ given the path without p(θ).
    NoPrior,
    /// θ given the path by the weights Π G_t alone, as if the moves did not depend on it.
    NoMoves,
    /// The path moves by the θ from before the Gibbs step.
    OldParameter,
}

#[derive(Clone, Copy)]
enum Form {
    Plain,
    Ancestor,
    Backward,
}

const FORMS: [Form; 3] = [Form::Plain, Form::Ancestor, Form::Backward];

type Part<'a> = Box<dyn Kernel<State, Enumerator, Info = Info> + 'a>;

impl Joint {
    /// With `zero`, some moves are impossible under one θ and not under the other.
    fn new(times: usize, zero: bool) -> Self {
        Self {
            models: [
                Model::numbered(1, 2, times, zero),
                Model::numbered(2, 2, times, false),
            ],
        }
    }

    fn weight(&self, state: &State) -> f64 {
        PRIOR[state.theta] * self.models[state.theta].probability(&state.path)
    }

    fn draw_theta(&self, state: &mut State, defect: Defect, chance: &mut Enumerator) {
        let weight = |theta: usize| {
            let model = &self.models[theta];
            match defect {
                Defect::NoPrior => model.probability(&state.path),
                Defect::NoMoves => {
                    let first = model.weights[0][0][state.path[0]];
                    let pairs = state.path.windows(2).zip(&model.weights[1..]);
                    let later = pairs.map(|(pair, weights)| weights[pair[0]][pair[1]]);
                    PRIOR[theta] * first * later.product::<f64>()
                }
                _ => PRIOR[theta] * model.probability(&state.path),
            }
        };
        let weights = [weight(0), weight(1)];
        let total: f64 = weights.iter().sum();
        state.theta = choose(&weights.map(|w| w / total), chance);
    }

    fn move_path(
        &self,
        theta: usize,
        path: &mut Vec<usize>,
        how: How<'_>,
        chance: &mut Enumerator,
    ) {
        let kernel = ConditionalSmc::new(
            &self.models[theta],
            MultinomialByChoice,
            how.policy.clone(),
            how.particles,
        )
        .expect("a kernel");
        match how.form {
            Form::Plain => kernel.step(path, chance),
            Form::Ancestor => kernel.with_ancestor_sampling().step(path, chance),
            Form::Backward => kernel.with_backward_sampling().step(path, chance),
        };
    }

    /// θ given the path, then the path given θ.
    fn cycle<'a>(&'a self, how: How<'a>, defect: Defect) -> Cycle<Part<'a>> {
        let theta = move |state: &mut State, chance: &mut Enumerator| {
            self.draw_theta(state, defect, chance);
        };
        let path = move |state: &mut State, chance: &mut Enumerator| {
            self.move_path(state.theta, &mut state.path, how, chance);
        };
        let both = move |state: &mut State, chance: &mut Enumerator| {
            let old = state.theta;
            theta(state, chance);
            self.move_path(old, &mut state.path, how, chance);
        };
        Cycle::new(match defect {
            Defect::OldParameter => vec![Box::new(Gibbs::new(both)) as Part<'a>],
            _ => vec![Box::new(Gibbs::new(theta)), Box::new(Gibbs::new(path))],
        })
    }

    /// max |πP - π| over all parameters and paths.
    fn error(&self, how: How<'_>, defect: Defect) -> f64 {
        let kernel = self.cycle(how, defect);
        let states: Vec<State> = (0..2)
            .flat_map(|theta| {
                let paths = self.models[theta].paths();
                paths.into_iter().map(move |path| State { theta, path })
            })
            .collect();
        let total: f64 = states.iter().map(|state| self.weight(state)).sum();
        let mut after: HashMap<State, f64> = HashMap::new();
        for state in states.iter().filter(|state| self.weight(state) > 0.0) {
            let ends = enumerate(|chance: &mut Enumerator| {
                let mut state = state.clone();
                kernel.step(&mut state, chance);
                state
            });
            for (p, end) in ends {
                *after.entry(end).or_default() += p * self.weight(state) / total;
            }
        }
        let error = |state: &State| {
            (after.get(state).copied().unwrap_or(0.0) - self.weight(state) / total).abs()
        };
        states.iter().map(error).fold(0.0, f64::max)
    }
}

/// How the path moves.
#[derive(Clone, Copy)]
struct How<'a> {
    form: Form,
    policy: &'a Policy,
    particles: usize,
}

#[test]
fn particle_gibbs_leaves_the_joint_posterior_invariant_in_all_three_forms() {
    let mut worst = 0f64;
    let mut check = |times: usize, zero: bool, particles: usize, policy: Policy| {
        let joint = Joint::new(times, zero);
        for form in FORMS {
            let how = How {
                form,
                policy: &policy,
                particles,
            };
            let error = joint.error(how, Defect::None);
            assert!(error < TOLERANCE, "{policy:?}, {zero}: {error}");
            worst = worst.max(error);
        }
    };
    for zero in [false, true] {
        for policy in POLICIES {
            check(3, zero, 2, policy);
        }
    }
    check(2, true, 3, Policy::EssBelow(0.85));
    println!("max |πP - π| = {worst:.1e}");
}

/// Twins: a conditional of the parameter that is not the joint's, and a path that moves by a parameter that is gone.
#[test]
fn almost_right_particle_gibbs_is_not_invariant() {
    let joint = Joint::new(3, false);
    for defect in [Defect::NoPrior, Defect::NoMoves, Defect::OldParameter] {
        let errors = FORMS.map(|form| {
            let (policy, particles) = (&Policy::Always, 2);
            joint.error(
                How {
                    form,
                    policy,
                    particles,
                },
                defect,
            )
        });
        println!("{errors:.4?}");
        assert!(errors.iter().all(|error| *error > 1e-3), "{errors:?}");
    }
}
