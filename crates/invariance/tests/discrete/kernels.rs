//! Each kernel keeps its target, and comes everywhere where it should.

use helmholtz_invariance::families::{FiniteTarget, check_invariant};
use helmholtz_invariance::{
    Law, TOLERANCE, TransitionMatrix, assert_ergodic, assert_invariant, assert_not_invariant,
    step_fn,
};
use helmholtz_random::{Chance, Enumerator, Purpose, Stream};
use helmholtz_samplers::{
    AutomaticCycle, BlockGibbs, Cycle, DiscreteLangevin, FiniteGibbs, HammingBall, Info, Kernel,
    LocallyBalanced, Mixture, PathAuxiliary, Scale, balancing_functions, cyclical_step_sizes,
};

use crate::field::{Field, Rough, WithDifferences, all, positive, random};

type Boxed<'a> = Box<dyn Kernel<Vec<usize>, Enumerator, Info = Info> + 'a>;

/// Every kernel, by name.
fn kernels(field: &Field) -> Vec<(&'static str, Boxed<'_>)> {
    let balanced = |log_g: fn(f64) -> f64| Box::new(LocallyBalanced::new(field.exact(), log_g));
    let tempered = |log_t: f64| 0.8 * log_t;
    let langevin = |step_size| DiscreteLangevin::new(field.exact(), step_size).unwrap();
    let path = |length| {
        PathAuxiliary::new(field.exact(), balancing_functions::square_root, length).unwrap()
    };
    let cycle = cyclical_step_sizes(3.0, 0.2, 2).unwrap();
    let mut kernels: Vec<(_, Boxed<'_>)> = vec![
        ("square root", balanced(balancing_functions::square_root)),
        ("Barker", balanced(balancing_functions::barker)),
        ("minimum", balanced(balancing_functions::metropolis)),
        ("maximum", balanced(balancing_functions::maximum)),
        (
            "a function that is not balanced",
            Box::new(LocallyBalanced::new(field.exact(), tempered)),
        ),
        (
            "rough differences",
            Box::new(LocallyBalanced::gibbs_with_gradients(Rough(field))),
        ),
        ("DMALA", Box::new(langevin(0.7))),
        (
            "DMALA with Barker's function",
            Box::new(
                DiscreteLangevin::with_balancing(field.exact(), balancing_functions::barker, 0.4)
                    .unwrap(),
            ),
        ),
        (
            "DMALA, rough",
            Box::new(DiscreteLangevin::new(Rough(field), 0.7).unwrap()),
        ),
        (
            "DMALA with the differences after a change",
            Box::new(DiscreteLangevin::new(with_differences(field, false), 0.7).unwrap()),
        ),
        (
            "Barker with the differences after a change",
            Box::new(LocallyBalanced::new(
                with_differences(field, false),
                balancing_functions::barker,
            )),
        ),
        (
            "path with the differences after a change",
            Box::new(
                PathAuxiliary::new(
                    with_differences(field, false),
                    balancing_functions::barker,
                    2.4,
                )
                .unwrap(),
            ),
        ),
        (
            "DMALA in a cycle of step sizes",
            Box::new(Cycle::new(cycle.into_iter().map(langevin).collect())),
        ),
        (
            "a cycle of scales",
            Box::new(AutomaticCycle::new(field.exact(), scales()).unwrap()),
        ),
        ("path of one", Box::new(path(1.0))),
        ("path of two", Box::new(path(2.0))),
        ("path of two or three", Box::new(path(2.4))),
        (
            "path, rough",
            Box::new(PathAuxiliary::new(Rough(field), balancing_functions::barker, 2.0).unwrap()),
        ),
    ];
    kernels.extend(without_differences(field));
    kernels
}

/// Those that ask for the densities of states alone.
fn without_differences(field: &Field) -> Vec<(&'static str, Boxed<'_>)> {
    let values = || (0..field.values).collect();
    let last = field.sites - 1;
    vec![
        (
            "block of first and last",
            Box::new(match last {
                0 => BlockGibbs::new(field, vec![0], values()),
                last => BlockGibbs::new(field, vec![last, 0], values()),
            }),
        ),
        (
            "Hamming ball of radius one",
            Box::new(HammingBall::new(
                field,
                (0..field.sites).collect(),
                field.values,
                1,
            )),
        ),
        (
            "Hamming ball of radius two",
            Box::new(HammingBall::new(
                field,
                (0..field.sites).collect(),
                field.values,
                2,
            )),
        ),
    ]
}

fn with_differences(field: &Field, forgets: bool) -> WithDifferences<'_> {
    WithDifferences { field, forgets }
}

fn scales() -> Vec<Scale> {
    let scale = |(step_size, exponent)| Scale {
        step_size,
        exponent,
    };
    [(5.0, 0.9), (0.3, 0.55)].map(scale).to_vec()
}

/// All but the cycles are in detailed balance with their target.
fn keep(field: &Field) {
    let states = field.states();
    let law = Law::of(&states, |state| field.log_density(state)).unwrap();
    for (name, kernel) in kernels(field) {
        let matrix = TransitionMatrix::of(&kernel, &states).unwrap();
        let checked = match name.contains("cycle") {
            true => matrix.check_invariant(&law, TOLERANCE),
            false => matrix.check_reversible(&law, TOLERANCE),
        };
        if let Err(error) = checked {
            panic!("{name} on {field:?}: {error}");
        }
    }
}

#[test]
fn every_kernel_keeps_all_small_targets_and_is_reversible() {
    // The longest test by far: its targets are shared by threads.
    std::thread::scope(|scope| {
        for first in 0..4 {
            scope.spawn(move || all().skip(first).step_by(4).for_each(|field| keep(&field)));
        }
    });
}

#[test]
fn every_kernel_keeps_random_targets_with_extremes() {
    for i in 0..kernels(&all().next().unwrap()).len() {
        assert_invariant!(random(), |field| kernels(field).swap_remove(i).1);
    }
}

/// The length that a warm-up found stays, whatever the state: one kernel, that keeps the target.
#[test]
fn the_path_that_a_warm_up_found_keeps_its_target_and_comes_everywhere() {
    let fields = all().filter(|field| field.sites == 3).step_by(97);
    let mut lengths = Vec::new();
    for (i, field) in fields.enumerate() {
        let possible = |state: &Vec<usize>| field.log_density(state).is_finite();
        let mut state = field.states().into_iter().find(possible).unwrap();
        let mut stream = Stream::new(6, Purpose::new("test"), [i as u64, 0]);
        let path = PathAuxiliary::new(field.exact(), balancing_functions::square_root, 1.0);
        let path = path.unwrap().warm_up(0.574, 200, &mut state, &mut stream);
        let path = path.unwrap();
        lengths.push(path.mean_length());
        check_invariant(&field, &path).unwrap_or_else(|e| panic!("{field:?}: {e}"));
    }
    assert!(lengths.iter().any(|l| *l > 1.0) && lengths.iter().all(|l| *l <= 3.0));
    // With a coin for staying, since a path that is always accepted is periodic.
    for length in [1.0, 2.0, 2.7, 9.0] {
        assert_ergodic!(positive(), |field| {
            let g = balancing_functions::square_root;
            let path = PathAuxiliary::new(field.exact(), g, length).unwrap();
            step_fn(move |state: &mut Vec<usize>, chance: &mut Enumerator| {
                if chance.accept(0.5f64.ln()) {
                    path.step(state, chance);
                }
            })
        });
    }
}

/// The warm-up is over when the chain is averaged over: what it found is one kernel, and that keeps the target.
#[test]
fn the_cycle_that_a_warm_up_found_keeps_its_target() {
    let fields = all().filter(|field| field.sites == 3).step_by(97);
    for (i, field) in fields.enumerate() {
        let possible = |state: &Vec<usize>| field.log_density(state).is_finite();
        let mut state = field.states().into_iter().find(possible).unwrap();
        let mut stream = Stream::new(5, Purpose::new("test"), [i as u64, 0]);
        let cycle = AutomaticCycle::warm_up(field.exact(), 2, 200, &mut state, &mut stream);
        let cycle = cycle.unwrap();
        check_invariant(&field, &cycle).unwrap_or_else(|e| panic!("{cycle:?}: {e}"));
    }
}

/// A locally balanced proposal changes a site each time, and is periodic where it is always accepted.
#[test]
fn what_may_stay_or_change_several_sites_is_ergodic() {
    assert_ergodic!(positive(), |field| DiscreteLangevin::new(
        field.exact(),
        1.0
    )
    .unwrap());
    assert_ergodic!(positive(), |field| {
        let all = (0..field.sites).collect();
        HammingBall::new(field, all, field.values, 1)
    });
    assert_ergodic!(positive(), |field| {
        let site = |i| BlockGibbs::new(field, vec![i], (0..field.values).collect());
        Mixture::uniform((0..field.sites).map(site).collect()).unwrap()
    });
}

#[test]
fn a_block_of_one_site_is_finite_gibbs_and_a_ball_of_all_changes_is_the_block() {
    for field in all() {
        let states = field.states();
        let values = || (0..field.values).collect();
        let matrix = |kernel: &dyn Kernel<Vec<usize>, Enumerator, Info = Info>| {
            TransitionMatrix::of(&kernel, &states).unwrap()
        };
        let one = matrix(&BlockGibbs::new(&field, vec![0], values()));
        let gibbs = matrix(&FiniteGibbs::new(&field, 0, values()));
        assert!(one.max_difference(&gibbs).unwrap() < TOLERANCE);
        let sites: Vec<usize> = (0..field.sites).collect();
        let block = matrix(&BlockGibbs::new(&field, sites.clone(), values()));
        let ball = matrix(&HammingBall::new(&field, sites, field.values, field.sites));
        assert!(block.max_difference(&ball).unwrap() < TOLERANCE);
    }
}

/// Exact differences and a balancing function: acceptance min(1, Z(x) / Z(y)) (Zanella, 2020).
#[test]
fn a_balanced_proposal_is_accepted_by_the_ratio_of_normalisers() {
    for field in all().filter(|field| field.log_p.iter().all(|l| l.is_finite())) {
        let states = field.states();
        for log_g in [
            balancing_functions::barker,
            balancing_functions::square_root,
        ] {
            let kernel = LocallyBalanced::new(field.exact(), log_g);
            let matrix = TransitionMatrix::of(&kernel, &states).unwrap();
            let near = |x: usize, y: usize| {
                states[x]
                    .iter()
                    .zip(&states[y])
                    .filter(|(a, b)| a != b)
                    .count()
                    == 1
            };
            let g = |x: usize, y: usize| log_g(field.log_p[y] - field.log_p[x]).exp();
            let z = |x: usize| -> f64 {
                (0..states.len())
                    .filter(|&y| near(x, y))
                    .map(|y| g(x, y))
                    .sum()
            };
            for x in 0..states.len() {
                for y in (0..states.len()).filter(|&y| near(x, y)) {
                    let expected = g(x, y) / z(x) * (z(x) / z(y)).min(1.0);
                    assert!((matrix.row(x)[y] - expected).abs() < TOLERANCE);
                }
            }
        }
    }
}

/// An impossible start is left at once where a neighbour is possible.
#[test]
fn an_impossible_state_is_left_for_a_possible_one() {
    let ninf = f64::NEG_INFINITY;
    let field = Field {
        sites: 2,
        values: 2,
        log_p: vec![ninf, 0.0, 0.4, ninf],
    };
    let states = field.states();
    let kernel = LocallyBalanced::gibbs_with_gradients(field.exact());
    let matrix = TransitionMatrix::of(&kernel, &states).unwrap();
    assert_eq!(matrix.row(0), [0.0, 0.5, 0.5, 0.0]);
    let kernel = DiscreteLangevin::new(field.exact(), 0.5).unwrap();
    let matrix = TransitionMatrix::of(&kernel, &states).unwrap();
    assert!(matrix.row(0)[1] > 0.0 && matrix.row(0)[3] == 0.0);
}

/// Twin: a change has other neighbours' differences change, too, and they are left as they were. Then a step hangs on the steps before
/// it, which the enumerator finds when it walks the same branch again.
#[test]
#[should_panic(expected = "the enumerated function is not deterministic")]
fn what_is_remembered_of_the_neighbours_of_a_change_is_found() {
    assert_invariant!(random(), |field| {
        DiscreteLangevin::new(with_differences(field, true), 0.7).unwrap()
    });
}

/// The same twin of a change of one site.
#[test]
#[should_panic(expected = "the enumerated function is not deterministic")]
fn what_a_locally_balanced_proposal_remembers_of_the_neighbours_of_a_change_is_found() {
    assert_invariant!(random(), |field| {
        LocallyBalanced::gibbs_with_gradients(with_differences(field, true))
    });
}

/// The same twin of a path.
#[test]
#[should_panic(expected = "the enumerated function is not deterministic")]
fn what_a_path_remembers_of_the_neighbours_of_its_changes_is_found() {
    assert_invariant!(random(), |field| {
        PathAuxiliary::new(
            with_differences(field, true),
            balancing_functions::barker,
            2.4,
        )
        .unwrap()
    });
}

/// Twin: the unadjusted sampler is not exact.
#[test]
fn the_unadjusted_langevin_sampler_is_not_invariant() {
    assert_not_invariant!(random(), |field| {
        DiscreteLangevin::new(field.exact(), 0.7)
            .unwrap()
            .unadjusted()
    });
    let fair = Field {
        sites: 2,
        values: 2,
        log_p: vec![0.0; 4],
    };
    let unadjusted = DiscreteLangevin::new(fair.exact(), 0.7)
        .unwrap()
        .unadjusted();
    check_invariant(&fair, &unadjusted).expect("on a flat target it is right");
}
