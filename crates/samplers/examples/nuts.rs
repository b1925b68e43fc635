//! The no-U-turn sampler of the crate `nuts-rs` on our streams, beside the documented call of `Hmc`, on posteriors of
//! posteriordb: `cargo run --release -p helmholtz-samplers --features nuts-rs --example nuts -- 1`, the seed.
//!
//! For a purely continuous target take `nuts-rs`: a [`Stream`] is a generator of the `rand` crates, and feeds it as it is.
//! [`Hmc`] is for what it does not do: continuous parts of a state that has discrete ones too, and moves inside SMC.
//! Where the data of posteriordb lie: see `tests/posteriordb/models.rs`.
//!
//! Four chains each from the same starts, with 1000 transitions of warm-up and 1000 draws: the least effective sample size
//! of a parameter per 1000 gradients, of the draws alone and with the warm-up.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

use helmholtz_samplers::Hmc;
use helmholtz_samplers::diagnostics::summary;
use helmholtz_samplers::random::{Draws, Purpose, Stream};
use helmholtz_samplers::sampling::Sampling;
use nuts_rs::{Chain, CpuLogpFunc, CpuMath, CpuMathError, DiagNutsSettings, HasDims, LogpError};
use nuts_rs::{Settings, rand};

#[path = "../tests/posteriordb/models.rs"]
mod models;

use models::{Posterior, posteriors};

const CHAINS: u64 = 4;
const DRAWS: usize = 1000;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// A posterior as `nuts-rs` asks for it.
struct Density<'a> {
    posterior: &'a dyn Posterior,
    gradients: &'a AtomicU64,
}

/// No error: a density of zero is one of minus infinity.
#[derive(Debug, thiserror::Error)]
enum Never {}

impl LogpError for Never {
    fn is_recoverable(&self) -> bool {
        match *self {}
    }
}

impl HasDims for Density<'_> {
    fn dim_sizes(&self) -> HashMap<String, u64> {
        let dimension = self.posterior.dimension() as u64;
        [("unconstrained_parameter".to_owned(), dimension)].into()
    }
}

impl CpuLogpFunc for Density<'_> {
    type LogpError = Never;
    type ExpandedVector = Vec<f64>;
    type FlowParameters = ();

    fn dim(&self) -> usize {
        self.posterior.dimension()
    }

    fn logp(&mut self, x: &[f64], gradient: &mut [f64]) -> std::result::Result<f64, Never> {
        self.gradients.fetch_add(1, Ordering::Relaxed);
        gradient.fill(0.0);
        Ok(self.posterior.log_density_and_gradient(x, gradient))
    }

    fn expand_vector<R: rand::Rng + ?Sized>(
        &mut self,
        _: &mut R,
        x: &[f64],
    ) -> std::result::Result<Vec<f64>, CpuMathError> {
        Ok(x.to_vec())
    }
}

/// Uniform on (-2, 2) in each coordinate, as Stan's.
fn start(posterior: &dyn Posterior, chain: u64) -> Vec<f64> {
    let mut stream = Stream::new(1, Purpose::new("start"), [chain, 0]);
    let coordinates = 0..posterior.dimension();
    coordinates.map(|_| 4.0 * stream.uniform() - 2.0).collect()
}

/// The chains of one sampler, and the gradients of its warm-ups and draws.
struct Run {
    chains: Vec<Vec<Vec<f64>>>,
    gradients: [u64; 2],
}

fn nuts(posterior: &dyn Posterior, seed: u64) -> Result<Run> {
    let (mut chains, mut gradients) = (Vec::new(), [0; 2]);
    for c in 0..CHAINS {
        let counted = AtomicU64::new(0);
        let settings = DiagNutsSettings {
            num_tune: DRAWS as u64,
            num_draws: DRAWS as u64,
            ..DiagNutsSettings::default()
        };
        let math = CpuMath::new(Density {
            posterior,
            gradients: &counted,
        });
        // Our stream is the generator.
        let mut stream = Stream::new(seed, Purpose::new("nuts"), [c, 0]);
        let mut sampler = settings.new_chain(c, math, &mut stream)?;
        sampler.set_position(&start(posterior, c))?;
        for _ in 0..DRAWS {
            sampler.draw()?;
        }
        gradients[0] += counted.swap(0, Ordering::Relaxed);
        let draw = |_| Ok(sampler.draw()?.0.to_vec());
        chains.push((0..DRAWS).map(draw).collect::<Result<_>>()?);
        gradients[1] += counted.load(Ordering::Relaxed);
    }
    Ok(Run { chains, gradients })
}

fn hmc(posterior: &dyn Posterior, seed: u64) -> Result<Run> {
    let (counted, of_warm_up) = (AtomicU64::new(0), AtomicU64::new(0));
    let target = |x: &[f64], gradient: &mut [f64]| {
        counted.fetch_add(1, Ordering::Relaxed);
        posterior.log_density_and_gradient(x, gradient)
    };
    let starts = (0..CHAINS).map(|c| start(posterior, c)).collect();
    let chains = Sampling::new(seed, DRAWS).threads(1).run_tuned(
        |_, x: &mut Vec<f64>, stream| {
            let before = counted.load(Ordering::Relaxed);
            let hmc = Hmc::new(target, 0.1, 10)?.warm_up(0.8, DRAWS, x, stream)?;
            of_warm_up.fetch_add(counted.load(Ordering::Relaxed) - before, Ordering::Relaxed);
            Ok(hmc)
        },
        starts,
    )?;
    let of_warm_up = of_warm_up.into_inner();
    Ok(Run {
        chains: chains.draws().to_vec(),
        gradients: [of_warm_up, counted.load(Ordering::Relaxed) - of_warm_up],
    })
}

fn print(name: &str, posterior: &dyn Posterior, run: &Run) -> Result<()> {
    let (mut least, mut r_hat) = (f64::INFINITY, 0.0f64);
    for i in 0..posterior.reference().len() {
        let value = |x: &Vec<f64>| {
            let mut parameters = Vec::new();
            posterior.parameters(x, &mut parameters);
            parameters[i]
        };
        let of = |chain: &Vec<Vec<f64>>| chain.iter().map(value).collect::<Vec<f64>>();
        let summary = summary(&run.chains.iter().map(of).collect::<Vec<_>>())?;
        least = least.min(summary.bulk_ess);
        r_hat = r_hat.max(summary.r_hat);
    }
    let [warm_up, draws] = run.gradients;
    println!(
        "{:<42} {name:<8} {least:>6.0} {r_hat:>7.4} {warm_up:>8} {draws:>8} {:>8.1} {:>8.1}",
        posterior.name(),
        1000.0 * least / draws as f64,
        1000.0 * least / (warm_up + draws) as f64,
    );
    Ok(())
}

fn main() -> Result<()> {
    let seed = std::env::args().nth(1).map_or(Ok(1), |seed| seed.parse())?;
    println!(
        "{:<42} {:<8} {:>6} {:>7} {:>8} {:>8} {:>8} {:>8}",
        "posterior", "sampler", "ess", "R-hat", "warm-up", "draws", "per 1000", "with it"
    );
    let (found, missing) = posteriors();
    for posterior in &found {
        let posterior = posterior.as_ref();
        print("nuts-rs", posterior, &nuts(posterior, seed)?)?;
        print("Hmc", posterior, &hmc(posterior, seed)?)?;
    }
    if !missing.is_empty() {
        println!("without data: {}", missing.join(", "));
    }
    Ok(())
}
