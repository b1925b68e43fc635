//! The tests that reach a mutant, until one fails.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::build;
use crate::case::Test;
use crate::checkout::Checkout;
use crate::mutant::Mutant;
use crate::process::{self, End};
use crate::results::{Results, Verdict};
use crate::site::{Kind, Site};

/// Tests of at most so many seconds are tried on all mutants before the others.
const QUICK: f64 = 2.0;

/// Tries each mutant with a switch that is asked for and has no verdict: first the test that noticed it in an earlier run, then
/// the others, quickest first. A test is late after five times its usual time and 20 s.
pub fn switched(
    sites: &[Site],
    tests: &[Test],
    results: &mut Results,
    jobs: usize,
    asked: impl Fn(&&Mutant) -> bool,
) -> Result<(), String> {
    let switches = sites.iter().filter(|site| site.kind != Kind::Constant);
    let trials = switches.flat_map(|site| {
        let reaching: Vec<&Test> = tests
            .iter()
            .filter(|t| t.reached.contains(&site.first))
            .collect();
        let numbers = site.first..;
        numbers
            .zip(&site.mutants)
            .map(move |(number, mutant)| Trial {
                number,
                mutant,
                tests: reaching.clone(),
                spent: AtomicU64::new(0),
            })
    });
    let mut open: Vec<Trial> = trials
        .filter(|trial| asked(&trial.mutant) && !results.has(trial.mutant))
        .collect();
    for trial in &mut open {
        let earlier = results.earlier(trial.mutant);
        trial
            .tests
            .sort_by_key(|test| Some(test.name.as_str()) != earlier);
    }
    pass(&open, results, jobs, QUICK)?;
    open.retain(|trial| !results.has(trial.mutant));
    eprintln!("{} pass the quick tests; now the others", open.len());
    pass(&open, results, jobs, f64::INFINITY)
}

/// A mutant, and the tests that reach it.
struct Trial<'a> {
    number: u32,
    mutant: &'a Mutant,
    tests: Vec<&'a Test>,
    /// Milliseconds spent on it in earlier passes.
    spent: AtomicU64,
}

/// Gives a verdict on the mutants that fail a test of at most `longest` seconds, and those that pass all there are.
fn pass(trials: &[Trial], results: &mut Results, jobs: usize, longest: f64) -> Result<(), String> {
    let (results, done) = (Mutex::new(results), AtomicUsize::new(0));
    in_parallel(jobs, trials.len(), |index| {
        let Trial {
            number,
            mutant,
            tests,
            spent,
        } = &trials[index];
        let start = Instant::now();
        let own: Vec<&Test> = tests
            .iter()
            .copied()
            .filter(|t| t.seconds <= longest)
            .collect();
        let verdict = verdict(&number.to_string(), &own)?;
        let seconds = start.elapsed().as_secs_f64();
        let done = done.fetch_add(1, Ordering::Relaxed) + 1;
        let (total, name) = (trials.len(), mutant.name());
        if verdict.survives() && own.len() < tests.len() {
            eprintln!("{done:4}/{total} {seconds:6.1} s  open: {name}");
            spent.fetch_add((1e3 * seconds) as u64, Ordering::Relaxed);
            return Ok(());
        }
        eprintln!("{done:4}/{total} {seconds:6.1} s  {verdict}: {name}");
        let mut results = results.lock().map_err(|error| error.to_string())?;
        let before = spent.load(Ordering::Relaxed) as f64 / 1e3;
        results.add(mutant, verdict, before + seconds)
    })
}

/// Tries each mutant of a constant that is asked for and has no verdict, by a build each.
pub fn constants(
    checkout: &Checkout,
    sites: &[Site],
    tests: &[Test],
    results: &mut Results,
    asked: impl Fn(&&Mutant) -> bool,
) -> Result<(), String> {
    let tests: Vec<&Test> = tests.iter().collect();
    for (index, site) in sites.iter().enumerate() {
        for (place, mutant) in site.mutants.iter().enumerate() {
            if site.kind != Kind::Constant || !asked(&mutant) || results.has(mutant) {
                continue;
            }
            let start = Instant::now();
            // The binaries of the tests, again: another choice of packages would build others.
            build::program(checkout, sites, Some((index, place)), results)?;
            if results.has(mutant) {
                continue;
            }
            let verdict = verdict("0", &tests)?;
            let seconds = start.elapsed().as_secs_f64();
            eprintln!("constant {seconds:6.1} s  {verdict}: {}", mutant.name());
            results.add(mutant, verdict, seconds)?;
        }
    }
    Ok(())
}

fn verdict(number: &str, tests: &[&Test]) -> Result<Verdict, String> {
    for test in tests {
        let limit = Duration::from_secs_f64(20.0 + 5.0 * test.seconds);
        let by = test.name.clone();
        match process::run(test, &[("HELMHOLTZ_MUTANT", number)], limit)? {
            End::Passed => {}
            End::Failed => return Ok(Verdict::Killed { by }),
            End::Late => return Ok(Verdict::Late { by }),
        }
    }
    Ok(Verdict::Survived {
        reached: !tests.is_empty(),
    })
}

/// Does `work` for 0, .., count − 1, this many at a time; stops at the first error.
pub fn in_parallel(
    jobs: usize,
    count: usize,
    work: impl Fn(usize) -> Result<(), String> + Sync,
) -> Result<(), String> {
    let next = AtomicUsize::new(0);
    let worker = || -> Result<(), String> {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= count {
                return Ok(());
            }
            if let Err(error) = work(index) {
                next.store(count, Ordering::Relaxed);
                return Err(error);
            }
        }
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..jobs).map(|_| scope.spawn(worker)).collect();
        let mut ends = workers.into_iter().map(|worker| worker.join());
        ends.try_for_each(|end| end.unwrap_or(Err("a worker panicked".into())))
    })
}
