//! What is in a trace is not made again.

use std::fmt::Debug;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use helmholtz_samplers::random::Stream;
use helmholtz_samplers::sampling::{Record, Sampling};
use helmholtz_samplers::{Info, Kernel};

/// Bytes before the first record, and of a record beside its state.
const HEADER: usize = 32;
const AROUND: usize = 64;

/// A state of no bytes.
#[derive(Clone, Debug, PartialEq)]
struct Nothing;

impl Record for Nothing {
    fn write(&self, _: &mut Vec<u8>) {}

    fn read(bytes: &[u8]) -> Option<Self> {
        bytes.is_empty().then_some(Self)
    }
}

/// Counts its steps.
#[derive(Default)]
struct Counter(AtomicUsize);

impl Counter {
    fn count(&self) -> Info {
        self.0.fetch_add(1, Ordering::Relaxed);
        Info {
            moves: 1,
            ..Info::default()
        }
    }
}

impl Kernel<usize, Stream> for Counter {
    type Info = Info;

    fn step(&self, made: &mut usize, _: &mut Stream) -> Info {
        *made += 1;
        self.count()
    }
}

impl Kernel<Nothing, Stream> for Counter {
    type Info = Info;

    fn step(&self, _: &mut Nothing, _: &mut Stream) -> Info {
        self.count()
    }
}

/// A trace of five transitions holds five records; cut after some of them, or in the next, it asks for the others.
#[track_caller]
fn only_what_is_missing_is_made<S>(start: S, bytes_of_a_state: usize)
where
    S: Clone + Send + Record + PartialEq + Debug,
    Counter: Kernel<S, Stream, Info = Info>,
{
    let folder = tempfile::tempdir().expect("a scratch folder");
    let run = || {
        let (counter, starts) = (Counter::default(), vec![start.clone()]);
        let sampling = Sampling::new(5, 4).warm_up(1).threads(1);
        let chains = sampling.run_in(folder.path(), "count", &counter, starts);
        (chains.expect("chains"), counter.0.into_inner())
    };
    let (whole, steps) = run();
    assert_eq!(steps, 5);
    let path = folder.path().join("chain-0.trace");
    let bytes = fs::read(&path).expect("a trace");
    let record = AROUND + bytes_of_a_state;
    assert_eq!(bytes.len(), HEADER + 5 * record);
    for kept in 0..=5 {
        for torn in [0, 1, record - 1] {
            let end = (HEADER + kept * record + torn).min(bytes.len());
            fs::write(&path, &bytes[..end]).expect("written");
            assert_eq!(run(), (whole.clone(), 5 - kept), "{kept}, {torn}");
            assert_eq!(fs::read(&path).expect("a trace"), bytes);
        }
    }
}

#[test]
fn transitions_in_the_file_are_not_made_again() {
    only_what_is_missing_is_made(0usize, 8);
    only_what_is_missing_is_made(Nothing, 0);
}

/// Looks before each step how much of its chain is in the file.
struct Witness(PathBuf);

impl Kernel<usize, Stream> for Witness {
    type Info = Info;

    fn step(&self, made: &mut usize, _: &mut Stream) -> Info {
        let length = fs::metadata(&self.0).expect("a trace").len() as usize;
        let held = length.saturating_sub(HEADER) / (AROUND + 8);
        assert!(held + 64 >= *made, "{held} of {made}");
        *made += 1;
        Info::default()
    }
}

#[test]
fn a_kill_would_lose_64_transitions_at_most() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let witness = Witness(folder.path().join("chain-0.trace"));
    (Sampling::new(5, 500).threads(1))
        .run_in(folder.path(), "witness", &witness, vec![0usize])
        .expect("chains");
}
