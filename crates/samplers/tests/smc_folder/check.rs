//! What must hold of an SMC run whose files hold any bytes at all: shared with the fuzzer.

use std::path::Path;

use helmholtz_samplers::SamplerError;
use helmholtz_samplers::random::Draws;
use helmholtz_samplers::resampling::{Policy, Systematic};
use helmholtz_samplers::smc::{Population, Smc, StepInfo, run_in};

/// A particle filter of eight particles on numbers that grow, for so many steps, each begun by `pause`.
pub fn filter(
    folder: &Path,
    steps: u64,
    pause: impl Fn(u64) -> Result<(), SamplerError>,
) -> Result<(Population<Vec<f64>>, Vec<StepInfo>), SamplerError> {
    let smc = Smc::new(Systematic, Policy::EssBelow(0.6))?;
    run_in(
        folder,
        "filter",
        3,
        |stream| Population::draw(8, stream, |draws| (vec![draws.normal()], -0.1)),
        |t, population: &mut Population<Vec<f64>>, stream| {
            if t > steps {
                return Ok(None);
            }
            pause(t)?;
            let step = smc.step(population, stream, |x, draws| {
                x[0] += draws.normal();
                -0.5 * (x[0] - t as f64 / 2.0).powi(2)
            });
            step.map(Some)
        },
    )
}

/// Opens a run whose files are those of a real run of three steps, cut at two lengths, with `bytes` after each: it is
/// refused by name, or goes on to the same bits.
///
/// # Panics
/// If it is not so.
pub fn check(log: usize, state: usize, bytes: &[u8]) {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let run = |steps| filter(folder.path(), steps, |_| Ok(()));
    run(3).expect("a run");
    for (name, length) in [("steps.log", log), ("state", state)] {
        let path = folder.path().join(name);
        let mut kept = std::fs::read(&path).expect("a file");
        if length < kept.len() {
            kept.truncate(length);
            kept.extend(bytes);
            std::fs::write(&path, kept).expect("written");
        }
    }
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let whole = filter(scratch.path(), 4, |_| Ok(())).expect("a run");
    match run(4) {
        Ok(resumed) => assert_eq!(resumed, whole),
        Err(SamplerError::Damaged { .. } | SamplerError::Shape { .. }) => {}
        Err(error) => panic!("{error}"),
    }
}
