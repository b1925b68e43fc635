//! The driver: the same bits on any number of threads, in parts, and after a kill at any byte.

mod check;
#[cfg(unix)]
mod kills;
mod trace;
mod tuned;

use std::fs;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};

use helmholtz_samplers::random::{Purpose, Stream};
use helmholtz_samplers::sampling::{Chains, Progress, Sampling, sample};
use helmholtz_samplers::{Info, Kernel, MetropolisHastings, RandomWalk, SamplerError};

fn kernel() -> impl Kernel<Vec<f64>, Stream, Info = Info> + Sync {
    let target = |x: &Vec<f64>| -0.5 * x[0] * x[0] - (x[1] - x[0]).abs();
    MetropolisHastings::new(target, RandomWalk::new(1.5).expect("a scale"))
}

fn starts(n: usize) -> Vec<Vec<f64>> {
    (0..n).map(|i| vec![i as f64, 0.0]).collect()
}

fn run(warm_up: usize, draws: usize) -> Chains<Vec<f64>> {
    sample(&kernel(), starts(3), warm_up, draws, 5).expect("chains")
}

#[test]
fn a_chain_is_the_kernel_with_a_stream_a_transition() {
    let (kernel, mut x) = (kernel(), vec![2.0, 0.0]);
    let mut info = Info::default();
    let by_hand: Vec<Vec<f64>> = (0..150)
        .map(|t| {
            let step = kernel.step(&mut x, &mut Stream::new(5, Purpose::new("sample"), [2, t]));
            if t >= 20 {
                info += step;
            }
            x.clone()
        })
        .collect();
    let chains = run(20, 130);
    assert_eq!(chains.draws()[2], by_hand[20..]);
    assert_eq!(chains.infos()[2], info);
    assert_eq!(chains.info().moves, 3 * 130);
}

#[test]
fn reports_are_those_of_the_transitions_to_draws() {
    let (kernel, mut x) = (kernel(), vec![1.0, 0.0]);
    let step = |t| kernel.step(&mut x, &mut Stream::new(5, Purpose::new("sample"), [1, t]));
    let by_hand: Vec<Info> = (0..50).map(step).collect();
    let chains = run(20, 30);
    assert_eq!(chains.reports().len(), 3);
    assert_eq!(chains.reports()[1], by_hand[20..]);
}

#[test]
fn threads_do_not_change_a_bit_and_more_draws_begin_with_fewer() {
    let all = run(10, 200);
    for threads in [1, 2, 7] {
        let sampling = Sampling::new(5, 200).warm_up(10).threads(threads);
        assert_eq!(sampling.run(&kernel(), starts(3)).expect("chains"), all);
    }
    let (fewer, later) = (run(10, 50), run(60, 150));
    for chain in 0..3 {
        assert_eq!(fewer.draws()[chain], all.draws()[chain][..50]);
        assert_eq!(
            later.draws()[chain],
            all.draws()[chain][50..],
            "a longer warm-up"
        );
    }
}

#[test]
fn quantities_have_names_and_summaries() {
    let chains = run(100, 3000);
    let both = chains
        .summaries(&["first", "gap"], |x, values| {
            values.extend([x[0], x[1] - x[0]])
        })
        .expect("summaries");
    assert_eq!(both[1].0, "gap");
    let gap = chains.quantity(|x| x[1] - x[0]);
    let direct = helmholtz_samplers::diagnostics::summary(&gap).expect("a summary");
    assert_eq!(both[1].1, direct);
    let short = chains.summaries(&["first"], |_, _| ());
    assert!(matches!(
        short,
        Err(SamplerError::Length {
            found: 0,
            expected: 1,
            ..
        })
    ));
}

#[test]
fn a_run_in_a_folder_goes_on_to_the_same_bits() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let in_folder = |warm_up, draws| {
        Sampling::new(5, draws)
            .warm_up(warm_up)
            .run_in(folder.path(), "walk", &kernel(), starts(3))
            .expect("chains")
    };
    assert_eq!(in_folder(10, 30), run(10, 30));
    assert_eq!(in_folder(10, 200), run(10, 200), "more draws");
    assert_eq!(
        in_folder(60, 50),
        run(60, 50),
        "fewer, and more warm-up: nothing new"
    );
    assert_eq!(in_folder(60, 500), run(60, 500));
}

#[test]
fn a_run_makes_its_folder_and_says_where_it_cannot() {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let run_in = |folder: &std::path::Path| {
        Sampling::new(5, 30)
            .warm_up(10)
            .run_in(folder, "walk", &kernel(), starts(3))
    };
    let folder = scratch.path().join("not/there");
    assert_eq!(run_in(&folder).expect("chains"), run(10, 30));
    assert!(folder.join("chain-2.trace").exists());

    let file = scratch.path().join("file");
    std::fs::write(&file, "").expect("a file");
    let error = run_in(&file.join("below")).expect_err("a file is no folder");
    assert!(error.to_string().contains("cannot create"), "{error}");
}

/// `warm_up(N)` twice: what was kept after the first warm-up is not among the draws after the second.
#[test]
fn two_warm_ups_of_n_are_one_of_2n() {
    for n in [1, 17, 64, 150] {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let in_folder = |warm_up, draws| {
            Sampling::new(5, draws)
                .warm_up(warm_up)
                .run_in(folder.path(), "walk", &kernel(), starts(3))
                .expect("chains")
        };
        let once = in_folder(n, 40);
        let twice = in_folder(2 * n, 40);
        assert_eq!(twice, run(2 * n, 40), "{n}");
        assert_ne!(twice, once, "{n}");
    }
}

/// A kill leaves some first bytes of a file: the run goes on from every length, and from torn and changed ends.
#[test]
fn a_run_cut_at_any_byte_goes_on_to_the_same_bits() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let sampling = Sampling::new(5, 6).warm_up(2).threads(1);
    let go = || sampling.run_in(folder.path(), "walk", &kernel(), starts(1));
    let whole = go().expect("chains");
    let path = folder.path().join("chain-0.trace");
    let bytes = fs::read(&path).expect("a trace");
    for length in 0..bytes.len() {
        fs::write(&path, &bytes[..length]).expect("written");
        assert_eq!(go().expect("chains"), whole, "cut at {length}");
        assert_eq!(fs::read(&path).expect("a trace"), bytes);
        let mut torn = bytes.clone();
        torn[length] ^= 0x41;
        fs::write(&path, torn).expect("written");
        match go() {
            // From a changed record on, all is made again.
            Ok(chains) => assert_eq!(chains, whole, "changed at {length}"),
            Err(error) => {
                assert!(length < 32, "{error}");
                let named = matches!(
                    error,
                    SamplerError::Damaged { .. } | SamplerError::Shape { .. }
                );
                assert!(named, "{error}");
            }
        }
    }
}

#[test]
fn a_folder_of_another_run_is_refused() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let run = |label, seed, from: f64| {
        Sampling::new(seed, 3).run_in(folder.path(), label, &kernel(), vec![vec![from, 0.0]])
    };
    run("walk", 5, 1.0).expect("chains");
    for (label, seed, from) in [("other", 5, 1.0), ("walk", 6, 1.0), ("walk", 5, 2.0)] {
        let refused = run(label, seed, from);
        assert!(matches!(refused, Err(SamplerError::Shape { .. })));
    }
    run("walk", 5, 1.0).expect("the same goes on");
}

#[test]
fn progress_is_told_and_a_cancelled_run_goes_on() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let told = AtomicUsize::new(0);
    let stop = |progress: Progress| {
        assert_eq!((progress.of, progress.done % 64), (Some(1000), 0));
        match told.fetch_add(1, Ordering::Relaxed) {
            5.. => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    };
    let sampling = Sampling::new(5, 900).warm_up(100);
    let cancelled =
        (sampling.watched_by(&stop)).run_in(folder.path(), "walk", &kernel(), starts(2));
    assert!(matches!(
        cancelled,
        Err(SamplerError::Cancelled { of: Some(1000), .. })
    ));
    let resumed = sampling
        .run_in(folder.path(), "walk", &kernel(), starts(2))
        .expect("chains");
    assert_eq!(resumed, sampling.run(&kernel(), starts(2)).expect("chains"));
    let ends = AtomicUsize::new(0);
    let count = |progress: Progress| {
        ends.fetch_add(
            usize::from(Some(progress.done) == progress.of),
            Ordering::Relaxed,
        );
        ControlFlow::Continue(())
    };
    sampling
        .watched_by(&count)
        .run(&kernel(), starts(2))
        .expect("chains");
    assert_eq!(ends.into_inner(), 2);
}

#[test]
fn a_run_without_starts_is_refused() {
    let none = sample(&kernel(), Vec::new(), 0, 10, 1);
    assert!(matches!(none, Err(SamplerError::Parameter { .. })));
}

/// The process is killed by the system in the middle of a run, three times.
#[cfg(unix)]
#[test]
fn a_process_that_is_killed_goes_on_to_the_same_bits() {
    let sampling = Sampling::new(5, 20_000).threads(1);
    if let Some(folder) = kills::folder_of_a_child() {
        let slow = |_| {
            std::thread::sleep(std::time::Duration::from_millis(1));
            ControlFlow::Continue(())
        };
        let run = sampling
            .watched_by(&slow)
            .run_in(&folder, "walk", &kernel(), starts(1));
        run.expect("chains");
        return;
    }
    let folder = tempfile::tempdir().expect("a scratch folder");
    // Killed once it has come further than the one before it.
    let path = folder.path().join("chain-0.trace");
    let length = || fs::metadata(&path).map_or(0, |data| data.len());
    for _ in 0..3 {
        let before = length();
        kills::kill_once(
            "a_process_that_is_killed_goes_on_to_the_same_bits",
            folder.path(),
            || length() > before + 20_000,
        );
    }
    let resumed = sampling
        .run_in(folder.path(), "walk", &kernel(), starts(1))
        .expect("chains");
    assert_eq!(resumed, sampling.run(&kernel(), starts(1)).expect("chains"));
}

proptest::proptest! {
    #[test]
    fn any_bytes_after_any_part_of_a_trace_are_cut_off_or_refused(
        length in 0usize..400,
        bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..200),
    ) {
        check::check(length, &bytes);
    }
}
