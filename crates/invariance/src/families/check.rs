//! One line for a proof over many targets.

use std::fmt::Debug;

use helmholtz_random::Enumerator;
use helmholtz_samplers::{IndexKernel, Kernel};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, FileFailurePersistence, TestCaseError, TestRng, TestRunner};

use crate::families::{FiniteTarget, finite_problems};
use crate::{InvarianceError, Law, TOLERANCE, TransitionMatrix};

/// Proves, on every case of a family of targets, that a kernel leaves the target invariant: its transition matrix is
/// enumerated, and max |πP - π| is at most [`TOLERANCE`].
///
/// `assert_invariant!(|problem| kernel)` takes [`finite_problems`] of 1 to 6 states, where `problem` is a
/// `&FiniteProblem` and the kernel's state a `usize`. `assert_invariant!(strategy, |target| kernel)` takes any strategy of
/// values that implement [`FiniteTarget`]. The kernel may borrow from its target.
///
/// A failure panics with the smallest target that proptest found and the states that leak.
///
/// ```
/// use helmholtz_invariance::assert_invariant;
/// use helmholtz_invariance::families::latent_models;
/// use helmholtz_invariance::samplers::{Cycle, FiniteGibbs, Independence, Mtmis};
///
/// assert_invariant!(|problem| Independence::new(problem, problem, Mtmis, 3).unwrap());
///
/// assert_invariant!(latent_models(1..=3), |model| {
///     let sites = (0..model.latents()).map(|j| FiniteGibbs::new(model, j, vec![false, true]));
///     Cycle::new(sites.collect())
/// });
/// ```
///
/// ```should_panic
/// use helmholtz_invariance::{assert_invariant, step_fn};
/// use helmholtz_random::{Chance, Enumerator};
///
/// // A proposal from q, accepted as though it were uniform.
/// assert_invariant!(|problem| step_fn(|x: &mut usize, chance: &mut Enumerator| {
///     let to = chance.choose(problem.log_q()).unwrap();
///     let log_p = problem.log_p();
///     if log_p[to].is_finite() && (!log_p[*x].is_finite() || chance.accept(log_p[to] - log_p[*x])) {
///         *x = to;
///     }
/// }));
/// ```
#[macro_export]
macro_rules! assert_invariant {
    (|$target:ident| $kernel:expr $(,)?) => {
        $crate::assert_invariant!($crate::families::finite_problems(1..=6), |$target| $kernel)
    };
    ($family:expr, |$target:ident| $kernel:expr $(,)?) => {
        $crate::families::for_every($family, |$target| {
            $crate::families::check_invariant($target, &$kernel)
        })
    };
}

/// Proves, on every case of a family of targets, that a kernel is invariant, irreducible and aperiodic. Averages along the chain,
/// and the law of its state, then converge to the target.
///
/// The forms are those of [`assert_invariant!`](crate::assert_invariant), which alone passes a kernel that never moves. A
/// periodic kernel is refused although its averages converge; for one, use
/// [`TransitionMatrix::check_irreducible`].
///
/// ```
/// use helmholtz_invariance::assert_ergodic;
/// use helmholtz_invariance::samplers::{Cis, Independence};
///
/// assert_ergodic!(|problem| Independence::new(problem, problem, Cis, 2).unwrap());
/// ```
///
/// ```should_panic
/// use helmholtz_invariance::{assert_ergodic, assert_invariant, step_fn};
/// use helmholtz_random::Enumerator;
///
/// assert_invariant!(|_problem| step_fn(|_: &mut usize, _: &mut Enumerator| ())); // passes
/// assert_ergodic!(|_problem| step_fn(|_: &mut usize, _: &mut Enumerator| ()));
/// ```
#[macro_export]
macro_rules! assert_ergodic {
    (|$target:ident| $kernel:expr $(,)?) => {
        $crate::assert_ergodic!($crate::families::finite_problems(1..=6), |$target| $kernel)
    };
    ($family:expr, |$target:ident| $kernel:expr $(,)?) => {
        $crate::families::for_every($family, |$target| {
            $crate::families::check_ergodic($target, &$kernel)
        })
    };
}

/// Proves that a kernel does *not* leave its target invariant, on one case of a family or more: for the deliberately
/// wrong twin of a kernel, without which a certificate is worth little.
///
/// The forms are those of [`assert_invariant!`](crate::assert_invariant). It panics if every case is invariant, and if a
/// kernel has no matrix over its target's states.
///
/// ```
/// use helmholtz_invariance::{assert_not_invariant, step_fn};
/// use helmholtz_random::{Chance, Enumerator};
///
/// // A proposal from q, accepted as though it were uniform.
/// assert_not_invariant!(|problem| step_fn(|x: &mut usize, chance: &mut Enumerator| {
///     let to = chance.choose(problem.log_q()).unwrap();
///     let log_p = problem.log_p();
///     if log_p[to].is_finite() && (!log_p[*x].is_finite() || chance.accept(log_p[to] - log_p[*x])) {
///         *x = to;
///     }
/// }));
/// ```
///
/// ```should_panic
/// use helmholtz_invariance::assert_not_invariant;
/// use helmholtz_invariance::samplers::{Independence, Mis};
///
/// assert_not_invariant!(|problem| Independence::new(problem, problem, Mis, 2).unwrap());
/// ```
#[macro_export]
macro_rules! assert_not_invariant {
    (|$target:ident| $kernel:expr $(,)?) => {
        $crate::assert_not_invariant!($crate::families::finite_problems(1..=6), |$target| $kernel)
    };
    ($family:expr, |$target:ident| $kernel:expr $(,)?) => {
        $crate::families::assert_some_leak($family, |$target| {
            $crate::families::check_invariant($target, &$kernel)
        })
    };
}

/// The certificate of [`assert_invariant!`](crate::assert_invariant) for one target.
///
/// # Errors
/// [`InvarianceError::NotInvariant`], or why the kernel has no matrix over the target's states.
pub fn check_invariant<T: FiniteTarget>(
    target: &T,
    kernel: &impl Kernel<T::State, Enumerator>,
) -> Result<(), InvarianceError> {
    let states = target.states();
    let law = Law::of(&states, |state| target.log_density(state))?;
    TransitionMatrix::of(kernel, &states)?.check_invariant(&law, TOLERANCE)
}

/// The certificate of [`assert_ergodic!`](crate::assert_ergodic) for one target.
///
/// # Errors
/// Those of [`check_invariant`], [`InvarianceError::NotIrreducible`], [`InvarianceError::Periodic`].
pub fn check_ergodic<T: FiniteTarget>(
    target: &T,
    kernel: &impl Kernel<T::State, Enumerator>,
) -> Result<(), InvarianceError> {
    let states = target.states();
    let law = Law::of(&states, |state| target.log_density(state))?;
    let matrix = TransitionMatrix::of(kernel, &states)?;
    matrix.check_invariant(&law, TOLERANCE)?;
    matrix.check_irreducible(&law)?;
    matrix.check_aperiodic(&law)
}

/// Makes `check` on every case of `family`: 64 cases, always the same, or as many as the environment variable
/// `PROPTEST_CASES` says.
///
/// # Panics
/// With the smallest failing case that proptest found, and its error.
#[track_caller]
pub fn for_every<T: Debug>(
    family: impl Strategy<Value = T>,
    check: impl Fn(&T) -> Result<(), InvarianceError>,
) {
    let outcome = runner().run(&family, |case| {
        check(&case).map_err(|error| TestCaseError::fail(error.to_string()))
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
}

/// As [`for_every`], with the cases that ever failed kept in the file at `path`, which is made at the first failure.
/// These cases are tried first at every later run, also at a run of more cases or of another family of the same shape.
/// Commit the file beside the test: what was once found stays found. (A line a case, in proptest's form: what it takes
/// to make the case again, and the smallest case it shrank to.)
///
/// # Panics
/// As [`for_every`].
#[track_caller]
pub fn for_every_kept<T: Debug>(
    path: &'static str,
    family: impl Strategy<Value = T>,
    check: impl Fn(&T) -> Result<(), InvarianceError>,
) {
    let mut config = runner().config().clone();
    config.failure_persistence = Some(Box::new(FileFailurePersistence::Direct(path)));
    let rng = TestRng::deterministic_rng(config.rng_algorithm);
    let outcome = TestRunner::new_with_rng(config, rng).run(&family, |case| {
        check(&case).map_err(|error| TestCaseError::fail(error.to_string()))
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
}

/// What [`assert_not_invariant!`](crate::assert_not_invariant) does: `check` fails on a case of `family`, by
/// [`InvarianceError::NotInvariant`].
///
/// # Panics
/// If no case fails, or one fails otherwise.
#[track_caller]
pub fn assert_some_leak<T: Debug>(
    family: impl Strategy<Value = T>,
    check: impl Fn(&T) -> Result<(), InvarianceError>,
) {
    let mut runner = runner();
    for _ in 0..runner.config().cases {
        let case = match family.new_tree(&mut runner) {
            Ok(tree) => tree.current(),
            Err(reason) => panic!("no case of the family: {reason}"),
        };
        match check(&case) {
            Ok(()) => {}
            Err(InvarianceError::NotInvariant { .. }) => return,
            Err(error) => panic!("{error}, for {case:?}"),
        }
    }
    panic!(
        "the kernel leaves all {} targets invariant, so it is no wrong twin; make its defect larger, or the family wider",
        runner.config().cases
    );
}

/// The same cases at every run.
fn runner() -> TestRunner {
    let mut config = Config::default();
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = 64;
    }
    config.failure_persistence = None;
    let rng = TestRng::deterministic_rng(config.rng_algorithm);
    TestRunner::new_with_rng(config, rng)
}

/// Proves on 64 random targets and proposals ([`finite_problems`] of 1 to 5 states) that an index kernel leaves its
/// target invariant, with 1, 2 and 3 proposals.
///
/// ```
/// use helmholtz_invariance::families::assert_index_kernel_invariant;
/// assert_index_kernel_invariant(&helmholtz_samplers::Mis);
/// ```
///
/// # Panics
/// With the smallest failing case that proptest found, and the states that leak.
#[track_caller]
pub fn assert_index_kernel_invariant(kernel: &impl IndexKernel) {
    for_every(finite_problems(1..=5), |problem| {
        let q = Law::from_log_weights(problem.log_q())?;
        let p = Law::from_log_weights(problem.log_p())?;
        (1..=3).try_for_each(|proposals| {
            TransitionMatrix::of_index_kernel(kernel, &q, &problem.log_w(), proposals)?
                .check_invariant(&p, TOLERANCE)
        })
    });
}

#[cfg(test)]
mod tests {
    use helmholtz_random::Chance;
    use helmholtz_samplers::{
        Barker, Cis, FiniteGibbs, FrozenReferenceMis, Independence, Mis, Mixture, Mtmis,
    };

    use super::*;
    use crate::families::{hostile_log_weights, latent_models, log_weights};
    use crate::step_fn;

    #[test]
    fn the_index_kernels_are_invariant_on_random_problems() {
        assert_index_kernel_invariant(&Mis);
        assert_index_kernel_invariant(&Mtmis);
        assert_index_kernel_invariant(&Cis);
        assert_index_kernel_invariant(&Barker);
    }

    #[test]
    #[should_panic(expected = "the law is not invariant")]
    fn the_frozen_reference_is_not() {
        assert_index_kernel_invariant(&FrozenReferenceMis);
    }

    #[test]
    #[should_panic(expected = "the kernel is not irreducible")]
    fn the_identity_is_invariant_and_not_ergodic() {
        assert_invariant!(|_problem| step_fn(|_: &mut usize, _: &mut Enumerator| ()));
        assert_ergodic!(|_problem| step_fn(|_: &mut usize, _: &mut Enumerator| ()));
    }

    #[test]
    #[should_panic(expected = "the kernel is periodic")]
    fn a_kernel_that_never_stays_is_not_ergodic() {
        let even = (1..3usize).prop_map(|pairs| Even(2 * pairs));
        assert_ergodic!(even, |ring| step_fn(
            |x: &mut usize, chance: &mut Enumerator| {
                let step = if chance.accept(0.5f64.ln()) {
                    1
                } else {
                    ring.0 - 1
                };
                *x = (*x + step) % ring.0;
            }
        ));
    }

    /// The uniform law on a ring.
    #[derive(Debug)]
    struct Even(usize);

    impl FiniteTarget for Even {
        type State = usize;
        fn states(&self) -> Vec<usize> {
            (0..self.0).collect()
        }
        fn log_density(&self, _: &usize) -> f64 {
            0.0
        }
    }

    #[test]
    #[should_panic(expected = "is no wrong twin")]
    fn a_right_kernel_is_no_wrong_twin() {
        assert_not_invariant!(|problem| Independence::new(problem, problem, Cis, 1).unwrap());
    }

    #[test]
    #[should_panic(expected = "which is not among the states")]
    fn a_kernel_without_a_matrix_is_no_wrong_twin_either() {
        assert_not_invariant!(|_problem| step_fn(|x: &mut usize, _: &mut Enumerator| *x += 1));
    }

    #[test]
    fn kernels_on_states_are_invariant_for_random_models() {
        let models = || latent_models(1..=3);
        assert_invariant!(models(), |m| Independence::new(m, m, Mis, 2).unwrap());
        assert_invariant!(models(), |m| Independence::new(m, m, Mtmis, 2).unwrap());
        assert_invariant!(models(), |m| {
            let site = |j| FiniteGibbs::new(m, j, vec![false, true]);
            Mixture::uniform((0..m.latents()).map(site).collect()).unwrap()
        });
    }

    #[test]
    fn a_target_of_ones_own_is_a_family() {
        /// A weight for the number of heads among three coins.
        #[derive(Debug)]
        struct Heads([f64; 4]);
        impl FiniteTarget for Heads {
            type State = [bool; 3];
            fn states(&self) -> Vec<[bool; 3]> {
                (0..8)
                    .map(|s| std::array::from_fn(|i| s >> i & 1 == 1))
                    .collect()
            }
            fn log_density(&self, state: &[bool; 3]) -> f64 {
                self.0[state.iter().filter(|b| **b).count()]
            }
        }
        let heads = || prop::array::uniform4(-4.0f64..4.0).prop_map(Heads);
        assert_invariant!(heads(), |target| step_fn(
            |state: &mut [bool; 3], chance: &mut Enumerator| {
                let mut to = *state;
                let coin = chance.choose(&[0.0; 3]).unwrap();
                to[coin] = !to[coin];
                if chance.accept(target.log_density(&to) - target.log_density(state)) {
                    *state = to;
                }
            }
        ));
    }

    #[test]
    fn a_proposal_is_a_law_and_agrees_with_its_log_probability() {
        for_every(latent_models(1..=3), |model| {
            let states = model.states();
            let draw = step_fn(|h: &mut Vec<bool>, chance: &mut Enumerator| {
                *h = helmholtz_samplers::IndependenceProposal::propose(&model, chance);
            });
            let matrix = TransitionMatrix::of(&draw, &states)?;
            for (h, p) in states.iter().zip(matrix.row(0)) {
                assert!((p - model.log_q(h).exp()).abs() < 1e-14);
            }
            let total: f64 = states.iter().map(|h| model.log_joint(h).exp()).sum();
            assert!((total.ln() - model.log_evidence()).abs() < 1e-9);
            assert!(
                model.log_evidence() <= 0.0,
                "the probability of an observation"
            );
            Ok(())
        });
    }

    /// The extremes are there: each kind among 64 cases.
    #[test]
    fn the_strategies_reach_the_extremes() {
        use std::cell::RefCell;
        let seen = RefCell::new(Vec::new());
        for_every(hostile_log_weights(0..=8), |w| {
            seen.borrow_mut().extend_from_slice(w);
            Ok(())
        });
        let has = |f: &dyn Fn(f64) -> bool| seen.borrow().iter().any(|w| f(*w));
        assert!(has(&|w| w.is_nan()) && has(&|w| w == f64::INFINITY));
        assert!(has(&|w| w == 300.0) && has(&|w| w == -300.0));
        assert!(has(&|w| w == f64::NEG_INFINITY) && has(&|w| w == 0.0));
        for_every(log_weights(1..=8), |w| {
            assert!(w.iter().all(|w| *w < f64::INFINITY));
            Ok(())
        });
        let impossible = RefCell::new(0);
        for_every(finite_problems(2..=6), |problem| {
            assert!((2..=6).contains(&problem.len()) && !problem.is_empty());
            assert!(problem.log_q().iter().all(|q| q.is_finite()));
            *impossible.borrow_mut() += problem.log_p().iter().filter(|p| p.is_infinite()).count();
            Ok(())
        });
        assert!(*impossible.borrow() > 10);
    }

    #[test]
    fn a_case_that_failed_once_is_tried_first_from_then_on() {
        use std::cell::RefCell;
        let path = std::env::temp_dir().join(format!("helmholtz-cases-{}", std::process::id()));
        let path: &'static str = Box::leak(path.to_string_lossy().into_owned().into_boxed_str());
        let _ = std::fs::remove_file(path);
        let first = |fails: bool| {
            let seen = RefCell::new(Vec::new());
            let run = std::panic::AssertUnwindSafe(|| {
                for_every_kept(path, 0usize..1_000_000, |&case| {
                    seen.borrow_mut().push(case);
                    match fails && case > 900_000 {
                        true => Err(InvarianceError::Periodic { period: case }),
                        false => Ok(()),
                    }
                });
            });
            let passed = std::panic::catch_unwind(run).is_ok();
            (passed, seen.borrow()[0], seen.borrow().len())
        };
        let (passed, before, _) = first(true);
        assert!(!passed && std::fs::read_to_string(path).unwrap().contains("900001"));
        let (passed, after, cases) = first(false);
        std::fs::remove_file(path).unwrap();
        assert!(
            passed && after > 900_000 && before <= 900_000,
            "{before} {after}"
        );
        assert!(cases > 64);
    }

    #[test]
    fn every_run_sees_the_same_cases() {
        use std::cell::RefCell;
        let run = || {
            let cases = RefCell::new(Vec::new());
            for_every(finite_problems(1..=6), |problem| {
                cases.borrow_mut().push(problem.clone());
                Ok(())
            });
            cases.into_inner()
        };
        assert!(run().len() >= 64);
        assert_eq!(run(), run());
    }
}
