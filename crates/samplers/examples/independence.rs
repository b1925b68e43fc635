//! Metropolis independence sampling of a target of one's own: `cargo run -p helmholtz-samplers --example independence`.

use helmholtz_random::{Draws, Purpose, Stream};
use helmholtz_samplers::diagnostics::summary;
use helmholtz_samplers::{Independence, IndependenceProposal, Kernel, Mis, SamplerError};

struct Wide; // N(0, 2²), with tails heavier than the target's

impl<C: Draws> IndependenceProposal<f64, C> for Wide {
    fn propose(&self, chance: &mut C) -> f64 {
        2.0 * chance.normal()
    }
    fn log_density(&self, x: &f64) -> f64 {
        -x * x / 8.0
    }
}

fn main() -> Result<(), SamplerError> {
    // Two humps, at -1.5 and 1.5. Any function of the state is a target.
    let target = |x: &f64| -2.0 * (x.abs() - 1.5).powi(2);
    let kernel = Independence::new(target, Wide, Mis, 4)?;
    let chain = |i| -> Vec<f64> {
        let (mut x, mut stream) = (0.0, Stream::new(7, Purpose::new("chain"), [i, 0]));
        let draw = |_| {
            kernel.step(&mut x, &mut stream);
            x
        };
        (0..5000).map(draw).collect()
    };
    println!("{:#?}", summary(&[chain(0), chain(1), chain(2), chain(3)])?);
    Ok(())
}
