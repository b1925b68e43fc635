//! What must hold of a run whose file holds any bytes at all: shared with the fuzzer.

use helmholtz_samplers::random::Stream;
use helmholtz_samplers::sampling::Sampling;
use helmholtz_samplers::{Info, Kernel, SamplerError};

/// Adds a bit of noise to two numbers.
struct Walk;

impl Kernel<Vec<f64>, Stream> for Walk {
    type Info = Info;

    fn step(&self, x: &mut Vec<f64>, stream: &mut Stream) -> Info {
        use helmholtz_samplers::random::Draws;
        x.iter_mut().for_each(|x| *x = 0.5 * *x + stream.normal());
        Info {
            moves: 1,
            ..Info::default()
        }
    }
}

/// Opens a run whose trace is the one of a real run, cut at `length`, with `bytes` after it: it is refused by name, or
/// goes on to the same bits.
///
/// # Panics
/// If it is not so.
pub fn check(length: usize, bytes: &[u8]) {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = folder.path().join("chain-0.trace");
    let sampling = Sampling::new(3, 4).threads(1);
    let run = || sampling.run_in(folder.path(), "walk", &Walk, vec![vec![1.0, 2.0]]);
    let whole = run().expect("chains");
    let mut trace = std::fs::read(&path).expect("a trace");
    trace.truncate(length);
    trace.extend(bytes);
    std::fs::write(&path, trace).expect("written");
    match run() {
        Ok(chains) => assert_eq!(chains, whole),
        Err(SamplerError::Damaged { .. } | SamplerError::Shape { .. }) => assert!(length < 32),
        Err(error) => panic!("{error}"),
    }
}
