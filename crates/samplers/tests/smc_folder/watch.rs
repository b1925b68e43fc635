//! An SMC run in a folder tells its steps, and goes on to the same bits after it was cancelled at any of them.

use std::cell::RefCell;
use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use helmholtz_samplers::random::{Draws, Stream};
use helmholtz_samplers::resampling::{Policy, Systematic};
use helmholtz_samplers::sampling::Progress;
use helmholtz_samplers::smc::{InFolder, Population, Smc, StepInfo, Tempered, TemperedPath};
use helmholtz_samplers::{MetropolisHastings, RandomWalk, SamplerError};

type Watch<'a> = &'a dyn Fn(Progress) -> ControlFlow<()>;

/// The filter of `check`, for six steps, with someone who is told.
fn filter(
    folder: &Path,
    watch: Watch<'_>,
) -> Result<(Population<Vec<f64>>, Vec<StepInfo>), SamplerError> {
    let smc = Smc::new(Systematic, Policy::EssBelow(0.6))?;
    InFolder::new(folder, "filter", 3).watched_by(watch).run(
        |stream| Population::draw(8, stream, |draws| (vec![draws.normal()], -0.1)),
        |t, population: &mut Population<Vec<f64>>, stream| {
            if t > 6 {
                return Ok(None);
            }
            let step = smc.step(population, stream, |x, draws| {
                x[0] += draws.normal();
                -0.5 * (x[0] - t as f64 / 2.0).powi(2)
            });
            step.map(Some)
        },
    )
}

/// Everything that is told, and a break after `steps` steps.
struct Told {
    steps: usize,
    heard: RefCell<Vec<(usize, Option<usize>)>>,
}

impl Told {
    fn until(steps: usize) -> Self {
        Self {
            steps,
            heard: RefCell::default(),
        }
    }

    fn hear(&self, told: Progress) -> ControlFlow<()> {
        assert_eq!(told.chain, 0);
        self.heard.borrow_mut().push((told.done, told.of));
        match told.done == self.steps {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}

/// What is told of steps `from` to `to`.
fn steps(from: usize, to: usize) -> Vec<(usize, Option<usize>)> {
    (from..=to).map(|done| (done, None)).collect()
}

fn scratch() -> tempfile::TempDir {
    tempfile::tempdir().expect("a scratch folder")
}

#[test]
fn every_step_is_told_and_a_run_that_is_cancelled_at_any_goes_on_to_the_same_bits() {
    let whole = crate::check::filter(scratch().path(), 6, |_| Ok(())).expect("a run");
    for at in 1..=6 {
        let folder = scratch();
        let first = Told::until(at);
        let cancelled = filter(folder.path(), &|told| first.hear(told));
        let Err(SamplerError::Cancelled { chain, done, of }) = cancelled else {
            panic!("not cancelled at {at}");
        };
        assert_eq!((chain, done, of), (0, at, None));
        assert_eq!(first.heard.into_inner(), steps(1, at));
        let second = Told::until(usize::MAX);
        let resumed = filter(folder.path(), &|told| second.hear(told)).expect("a run");
        assert_eq!(resumed, whole, "cancelled at {at}");
        let mut rest = steps(at + 1, 6);
        rest.push((6, Some(6)));
        assert_eq!(second.heard.into_inner(), rest);
    }
}

/// The first step that a run makes which goes on from a copy of `folder`.
fn next_step(folder: &Path) -> usize {
    let copy = scratch();
    for name in ["steps.log", "state"] {
        if folder.join(name).exists() {
            fs::copy(folder.join(name), copy.path().join(name)).expect("copied");
        }
    }
    let told = Told::until(usize::MAX);
    filter(copy.path(), &|t| told.hear(t)).expect("a run");
    told.heard.into_inner()[0].0
}

/// A step that is told is in the files already: a kill at that moment does not lose it.
#[test]
fn what_is_told_is_kept() {
    let folder = scratch();
    let kept = |told: Progress| {
        if told.done < 6 {
            assert_eq!(next_step(folder.path()), told.done + 1);
        }
        ControlFlow::Continue(())
    };
    filter(folder.path(), &kept).expect("a run");
}

/// Twin: a step that tells of itself does so before it is in the files.
#[test]
fn what_a_step_tells_itself_is_not_kept_yet() {
    let folder = scratch();
    let run = crate::check::filter(folder.path(), 5, |t| {
        assert_eq!(next_step(folder.path()), t as usize);
        Ok(())
    });
    run.expect("a run");
}

#[test]
fn a_complete_run_is_told_its_end_alone() {
    let folder = scratch();
    let run = |watch: Watch<'_>| filter(folder.path(), watch);
    let whole = run(&|_| ControlFlow::Continue(())).expect("a run");
    let told = Told::until(usize::MAX);
    assert_eq!(run(&|t| told.hear(t)).expect("a run"), whole);
    assert_eq!(told.heard.into_inner(), [(6, Some(6))]);
}

/// States, number of steps, and the bits of log Ẑ of a tempered run.
fn tempered(folder: &Path, watch: Watch<'_>) -> Result<(Vec<Vec<f64>>, usize, u64), SamplerError> {
    let base = |x: &Vec<f64>| -0.5 * x[0] * x[0] / 9.0;
    let target = |x: &Vec<f64>| -8.0 * (x[0] * x[0] - 4.0).powi(2);
    let path = TemperedPath::new(base, target);
    let draw = |draws: &mut Stream| vec![3.0 * draws.normal()];
    let smc = Smc::new(Systematic, Policy::EssBelow(0.7))?;
    let kernel = |beta| {
        let at = move |x: &Vec<f64>| path.log_density(beta, x);
        Ok(MetropolisHastings::new(at, RandomWalk::new(0.5)?))
    };
    let run = InFolder::new(folder, "two modes", 5).watched_by(watch);
    let (sampler, steps): (Tempered<'_, _, _, _, _>, _) =
        run.tempered((32, draw), &path, smc, 0.9, kernel)?;
    let population = sampler.population();
    Ok((
        population.states().to_vec(),
        steps.len(),
        population.log_evidence().to_bits(),
    ))
}

#[test]
fn a_tempered_run_is_told_and_cancelled_alike() {
    let all = Told::until(usize::MAX);
    let whole = tempered(scratch().path(), &|t| all.hear(t)).expect("a run");
    let mut expected = steps(1, whole.1);
    expected.push((whole.1, Some(whole.1)));
    assert_eq!(all.heard.into_inner(), expected);
    let (folder, told) = (scratch(), Told::until(whole.1 / 2));
    let cancelled = tempered(folder.path(), &|t| told.hear(t));
    assert!(matches!(cancelled, Err(SamplerError::Cancelled { .. })));
    let resumed = tempered(folder.path(), &|_| ControlFlow::Continue(()));
    assert_eq!(resumed.expect("a run"), whole);
}

#[test]
fn a_cancelled_run_says_how_far_it_was() {
    let told = Told::until(2);
    let error = filter(scratch().path(), &|t| told.hear(t)).expect_err("cancelled");
    assert!(
        error.to_string().contains("had made 2 transitions"),
        "{error}"
    );
}
