//! What goes wrong is named, with its place.

use burn::tensor::Tensor;
use burn_flex::Flex;
use helmholtz_apg::{ApgError, Block, Move, Sampler, Streams, Update};
use helmholtz_random::Stream;
use helmholtz_samplers::resampling::{Policy, Systematic};

use crate::toy::*;

type B = Flex;

/// A block whose weights for the second instance are all this.
struct Wrong(f64);

impl Block<B, Toy<B>, Stream> for Wrong {
    fn name(&self) -> String {
        "wrong".into()
    }

    fn advance(
        &self,
        model: &Toy<B>,
        frozen: &Toy<B>,
        x: &Tensor<B, 2>,
        old: &Bits<B>,
        chance: &mut Stream,
    ) -> Move<B, Bits<B>> {
        let moved = Update(A(Law::Learned)).advance(model, frozen, x, old, chance);
        let particles = old.a.dims()[0];
        let column = [0.0, self.0].repeat(particles);
        Move {
            log_v: tensor(&column, [particles, 2, 1]),
            ..moved
        }
    }
}

fn message(value: f64, mut streams: Streams) -> String {
    let sampler = Sampler::new(3, 4, Policy::Always, Systematic).expect("a sampler");
    let c = Update(Cs(Law::Learned));
    let blocks: [&dyn Block<B, Toy<B>, Stream>; 2] = [&c, &Wrong(value)];
    let x = tensor(&[0.1, 0.2, 0.3, 0.4], [2, 2]);
    let run = sampler.run(
        &Toy::new(PARAMETERS),
        &x,
        &blocks,
        &mut streams,
        |_, _, _| {},
    );
    run.expect_err("an error").to_string()
}

#[test]
fn weights_that_are_none_are_named_by_block_sweep_instance_step_and_seed() {
    let place = "after block wrong of sweep 1, instance 1 (step 12, seed 77): ";
    for (value, what) in [
        (f64::NAN, "log-weight 0 is NaN"),
        (f64::INFINITY, "log-weight 0 is inf"),
        (f64::NEG_INFINITY, "all 3 log-weights are -inf"),
    ] {
        let message = message(value, Streams::new(77, 12));
        assert!(message.starts_with(&format!("{place}{what}")), "{message}");
    }
    let named = Streams::new(77, 12).named("the check after 12 steps".into());
    let message = message(f64::NAN, named);
    assert!(
        message.contains("instance 1 (the check after 12 steps): "),
        "{message}"
    );
}

#[test]
fn a_sampler_of_nothing_is_refused() {
    let new = |particles, sweeps, policy| Sampler::new(particles, sweeps, policy, Systematic);
    assert!(matches!(
        new(0, 1, Policy::Always),
        Err(ApgError::Nothing { what: "particles" })
    ));
    assert!(matches!(
        new(1, 0, Policy::Always),
        Err(ApgError::Nothing { what: "sweeps" })
    ));
    assert!(matches!(
        new(1, 1, Policy::EssBelow(2.0)),
        Err(ApgError::Policy(_))
    ));
}
