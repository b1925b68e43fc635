//! Chains with tuned kernels in a folder: the same bits in parts, and after a kill in the warm-up or in the draws.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use helmholtz_samplers::random::{Draws, Purpose, Stream};
use helmholtz_samplers::sampling::{Chains, Sampling};
use helmholtz_samplers::{Hmc, Info, Kernel, MetropolisHastings, RandomWalk, SamplerError};

type State = Vec<f64>;
type Target = fn(&[f64], &mut [f64]) -> f64;

/// Two normals of scales 1 and 3.
fn target(x: &[f64], gradient: &mut [f64]) -> f64 {
    gradient[0] -= x[0];
    gradient[1] -= x[1] / 9.0;
    -0.5 * (x[0] * x[0] + x[1] * x[1] / 9.0)
}

/// The documented call.
fn tune(_: usize, x: &mut State, stream: &mut Stream) -> Result<Hmc<Target>, SamplerError> {
    Hmc::new(target as Target, 1.0, 4)?.warm_up(0.8, 60, x, stream)
}

fn starts(n: usize) -> Vec<State> {
    (0..n).map(|i| vec![i as f64, 0.5]).collect()
}

fn plain(warm_up: usize, draws: usize, chains: usize) -> Chains<State> {
    (Sampling::new(5, draws).warm_up(warm_up))
        .run_tuned(tune, starts(chains))
        .expect("chains")
}

fn run_in(folder: &Path, warm_up: usize, draws: usize, chains: usize) -> Chains<State> {
    (Sampling::new(5, draws).warm_up(warm_up))
        .run_tuned_in(folder, "normal", tune, starts(chains))
        .expect("chains")
}

fn scratch() -> tempfile::TempDir {
    tempfile::tempdir().expect("a scratch folder")
}

#[test]
fn parts_are_the_whole_on_any_number_of_threads() {
    let folder = scratch();
    assert_eq!(run_in(folder.path(), 0, 30, 3), plain(0, 30, 3));
    assert_eq!(run_in(folder.path(), 5, 200, 3), plain(5, 200, 3), "more");
    assert_eq!(run_in(folder.path(), 9, 20, 3), plain(9, 20, 3), "fewer");
    for threads in [1, 2, 7] {
        let folder = scratch();
        let chains = (Sampling::new(5, 30).threads(threads))
            .run_tuned_in(folder.path(), "normal", tune, starts(3))
            .expect("chains");
        assert_eq!(chains, plain(0, 30, 3));
    }
}

/// A complete chain is read alone; one that lacks draws is tuned once.
#[test]
fn tuning_is_made_again_for_chains_that_lack_draws_only() {
    let folder = scratch();
    let tuned = AtomicUsize::new(0);
    let run = |draws| {
        let counted = |chain: usize, x: &mut State, stream: &mut Stream| {
            tuned.fetch_add(1, Ordering::Relaxed);
            tune(chain, x, stream)
        };
        let chains =
            Sampling::new(5, draws).run_tuned_in(folder.path(), "normal", counted, starts(2));
        assert_eq!(chains.expect("chains"), plain(0, draws, 2));
        tuned.swap(0, Ordering::Relaxed)
    };
    assert_eq!(run(20), 2);
    assert_eq!(run(20), 0);
    assert_eq!(run(7), 0);
    let path = folder.path().join("chain-1.trace");
    let bytes = fs::read(&path).expect("a trace");
    fs::write(&path, &bytes[..bytes.len() - 1]).expect("written");
    assert_eq!(run(20), 1);
    assert_eq!(run(21), 2);
}

/// A kill leaves some first bytes of a file: in the header, in the state after the warm-up, in any draw.
#[test]
fn a_run_cut_at_any_byte_goes_on_to_the_same_bits() {
    let folder = scratch();
    let run =
        || (Sampling::new(5, 4).threads(1)).run_tuned_in(folder.path(), "normal", tune, starts(1));
    let whole = run().expect("chains");
    assert_eq!(whole, plain(0, 4, 1));
    let path = folder.path().join("chain-0.trace");
    let bytes = fs::read(&path).expect("a trace");
    for length in 0..bytes.len() {
        fs::write(&path, &bytes[..length]).expect("written");
        assert_eq!(run().expect("chains"), whole, "cut at {length}");
        assert_eq!(fs::read(&path).expect("a trace"), bytes);
        let mut torn = bytes.clone();
        torn[length] ^= 0x41;
        fs::write(&path, torn).expect("written");
        match run() {
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

/// Twin: a warm-up from a stream that is another one at each call. It is refused by the state that it leaves.
#[test]
fn tuning_from_another_stream_is_refused() {
    let folder = scratch();
    let calls = AtomicU64::new(0);
    let anew = |chain: usize, x: &mut State, _: &mut Stream| {
        let call = calls.fetch_add(1, Ordering::Relaxed);
        tune(
            chain,
            x,
            &mut Stream::new(5, Purpose::new("anew"), [call, 0]),
        )
    };
    let run = |draws| {
        (Sampling::new(5, draws).threads(1)).run_tuned_in(folder.path(), "normal", anew, starts(1))
    };
    let first = run(10).expect("chains");
    assert_eq!(run(10).expect("chains"), first, "nothing to make");
    let refused = run(20);
    assert!(matches!(refused, Err(SamplerError::Shape { .. })));
}

/// Twin: the same where the warm-up leaves the state alone, so that nothing shows it. The draws come to other bits.
#[test]
fn a_kernel_from_another_stream_goes_on_to_other_bits() {
    let run = |folder: &Path, draws: usize, call: Option<u64>| {
        let tune = |_: usize, _: &mut State, stream: &mut Stream| {
            let anew = call.map(|call| Stream::new(5, Purpose::new("anew"), [call, 0]));
            let scale = 0.5 + anew.unwrap_or_else(|| stream.clone()).uniform();
            let log_p = |x: &State| target(x, &mut [0.0; 2]);
            Ok(MetropolisHastings::new(log_p, RandomWalk::new(scale)?))
        };
        let chains = Sampling::new(5, draws).run_tuned_in(folder, "walk", tune, starts(1));
        chains.expect("chains").draws()[0].clone()
    };
    for [first, second] in [[None, None], [Some(0), Some(1)]] {
        let folder = scratch();
        run(folder.path(), 10, first);
        let parts = run(folder.path(), 40, second);
        let whole = run(scratch().path(), 40, first);
        assert_eq!(parts[..10], whole[..10]);
        assert_eq!(parts == whole, first == second);
    }
}

#[test]
fn a_folder_of_another_run_is_refused() {
    let folder = scratch();
    let run = |label, seed, from: f64| {
        Sampling::new(seed, 3).run_tuned_in(folder.path(), label, tune, vec![vec![from, 0.5]])
    };
    run("normal", 5, 0.0).expect("chains");
    for (label, seed, from) in [("other", 5, 0.0), ("normal", 6, 0.0), ("normal", 5, 1.0)] {
        let refused = run(label, seed, from);
        assert!(matches!(refused, Err(SamplerError::Shape { .. })));
    }
    let hmc = Hmc::new(target as Target, 0.3, 4).expect("a kernel");
    let untuned = Sampling::new(5, 3).run_in(folder.path(), "normal", &hmc, starts(1));
    assert!(matches!(untuned, Err(SamplerError::Shape { .. })));
    run("normal", 5, 0.0).expect("the same goes on");
}

/// A fixed kernel's transitions add up (`two_warm_ups_of_n_are_one_of_2n`); a schedule that adapts does not.
#[test]
fn two_adapting_warm_ups_of_n_are_none_of_2n() {
    let after = |lengths: &[usize]| {
        let (mut x, mut stream) = (
            starts(1)[0].clone(),
            Stream::new(5, Purpose::new("test"), [0, 0]),
        );
        let kernel = lengths.iter().try_fold(
            Hmc::new(target as Target, 1.0, 4).expect("a kernel"),
            |kernel, &n| kernel.warm_up(0.8, n, &mut x, &mut stream),
        );
        let kernel = kernel.expect("a kernel");
        (x, kernel.step_size().to_bits())
    };
    assert_eq!(after(&[120]), after(&[120]));
    assert_ne!(after(&[60, 60]), after(&[120]));
}

/// A kernel that takes its time.
#[cfg(unix)]
struct Slow(Hmc<Target>);

#[cfg(unix)]
impl Kernel<State, Stream> for Slow {
    type Info = Info;

    fn step(&self, x: &mut State, stream: &mut Stream) -> Info {
        std::thread::sleep(std::time::Duration::from_micros(50));
        self.0.step(x, stream)
    }
}

/// The process is killed by the system in the warm-up, and three times in the draws.
#[cfg(unix)]
#[test]
fn a_process_that_is_killed_goes_on_to_the_same_bits() {
    use crate::kills;

    let sampling = Sampling::new(5, 20_000).threads(1);
    if let Some(folder) = kills::folder_of_a_child() {
        let warming = folder.join("in-the-warm-up");
        let slow = |chain: usize, x: &mut State, stream: &mut Stream| {
            let kernel = tune(chain, x, stream)?;
            if !warming.exists() {
                fs::write(&warming, []).expect("written");
                // Until it is killed.
                std::thread::sleep(std::time::Duration::from_secs(600));
            }
            Ok(Slow(kernel))
        };
        let run = sampling.run_tuned_in(&folder, "normal", slow, starts(1));
        run.expect("chains");
        return;
    }
    let folder = scratch();
    let path = folder.path().join("chain-0.trace");
    let length = || fs::metadata(&path).map_or(0, |data| data.len());
    let test = "tuned::a_process_that_is_killed_goes_on_to_the_same_bits";
    let warming = folder.path().join("in-the-warm-up");
    kills::kill_once(test, folder.path(), || warming.exists());
    assert!(warming.exists() && length() == 0, "killed in the warm-up");
    for _ in 0..3 {
        let before = length();
        kills::kill_once(test, folder.path(), || length() > before + 20_000);
        assert!(length() > before + 20_000, "killed in the draws");
    }
    assert!(length() < 20_000 * 80, "not at its end");
    let resumed = sampling.run_tuned_in(folder.path(), "normal", tune, starts(1));
    let whole = sampling.run_tuned(tune, starts(1));
    assert_eq!(resumed.expect("chains"), whole.expect("chains"));
}
