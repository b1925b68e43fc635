//! A batch in parts: what is added, and that threads change no bit of it.

use burn::backend::Autodiff;
use burn::optim::GradientsParams;
use burn::tensor::Tensor;
use burn_flex::Flex;
use helmholtz_apg::{ApgError, Block, Sampler, Streams, Update, gradients_in_parts, on_threads};
use helmholtz_random::Stream;
use helmholtz_samplers::resampling::{Policy, Systematic};

use crate::gradients::all_of;
use crate::toy::*;

type B = Autodiff<Flex>;

/// Parts of one and two of three instances.
const PARTS: [[usize; 2]; 2] = [[0, 1], [1, 2]];
const SHARES: [f64; 2] = [1.0 / 3.0, 2.0 / 3.0];

fn part(model: &Toy<B>, part: usize) -> Result<(GradientsParams, f64), ApgError> {
    let x: Tensor<B, 2> = tensor(&[0.8, -1.1, -0.2, 0.4, 0.1, -0.5], [3, 2]);
    let [from, count] = PARTS[part];
    let sampler = Sampler::new(3, 4, Policy::Always, Systematic)?;
    let (a, c) = (Update(A(Law::Learned)), Update(Cs(Law::Learned)));
    let blocks: [&dyn Block<B, Toy<B>, Stream>; 2] = [&a, &c];
    let mut streams = Streams::new(15, 3).part(part);
    let x = x.narrow(0, from, count);
    let (gradients, run) = sampler.gradients(model, &x, &blocks, &mut streams)?;
    Ok((gradients, run.population.log_evidence().iter().sum()))
}

fn in_parts(threads: usize) -> (Vec<f64>, Vec<f64>) {
    let model = Toy::<B>::new(PARAMETERS);
    let found = gradients_in_parts(&model, &SHARES, threads, part);
    let (gradients, evidence) = found.expect("finite weights");
    let gradients = all_of(&gradients, &model).into_iter();
    (gradients.map(|g| g.expect("one")).collect(), evidence)
}

#[test]
fn parts_count_by_their_share_of_the_instances() {
    let model = Toy::<B>::new(PARAMETERS);
    let own = |number| {
        let (gradients, evidence) = part(&model, number).expect("finite weights");
        let gradients = all_of(&gradients, &model).into_iter();
        let gradients: Vec<f64> = gradients.map(|g| g.expect("one")).collect();
        (gradients, evidence)
    };
    let (first, second) = (own(0), own(1));
    let (found, evidence) = in_parts(1);
    assert_eq!(evidence, [first.1, second.1]);
    for (found, (a, b)) in found.iter().zip(first.0.iter().zip(second.0)) {
        let expected = a / 3.0 + b * 2.0 / 3.0;
        assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        assert!((found - (a + b) / 2.0).abs() > 1e-9, "equal shares");
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let alone = in_parts(1);
    for threads in [2, 3, 8] {
        for _ in 0..20 {
            assert_eq!(in_parts(threads), alone, "{threads} threads");
        }
    }
}

#[test]
fn parts_have_streams_of_their_own() {
    let draw = |part| {
        let mut streams = Streams::new(15, 3).part(part);
        let chance = helmholtz_apg::Randomness::at(
            &mut streams,
            helmholtz_apg::PROPOSE,
            helmholtz_apg::Position::default(),
        );
        helmholtz_random::Draws::uniform(chance)
    };
    assert_ne!(draw(0), draw(1));
}

#[test]
fn the_first_part_that_fails_is_named() {
    let model = Toy::<B>::new(PARAMETERS);
    let found = gradients_in_parts(&model, &[0.25; 4], 2, |model, number| match number {
        0 | 2 => part(model, 0).map_err(|error| error.to_string()),
        number => Err(format!("part {number}")),
    });
    assert_eq!(found.expect_err("an error"), "part 1");
}

#[test]
fn values_come_in_their_order_whoever_computed_them() {
    for threads in [0, 1, 2, 3, 8] {
        let found = on_threads(5, threads, |number| number * number);
        assert_eq!(found, [0, 1, 4, 9, 16]);
    }
    assert_eq!(on_threads(0, 2, |number| number), [0_usize; 0]);
}
