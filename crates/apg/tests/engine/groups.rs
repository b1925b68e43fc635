//! Particles in groups: the same gradient for the same draws, and the same bits for any number of threads.

use std::convert::Infallible;
use std::fmt;
use std::ops::Range;

use burn::backend::Autodiff;
use burn::optim::GradientsParams;
use burn::tensor::Tensor;
use burn_flex::Flex;
use helmholtz_apg::{
    ApgError, Block, Position, RESAMPLE, Randomness, Run, Sampler, Streams, Update,
};
use helmholtz_random::{Purpose, Stream};
use helmholtz_samplers::resampling::{Policy, Systematic};
use rand_core::{Rng, TryRng};

use crate::gradients::all_of;
use crate::toy::*;

type B = Autodiff<Flex>;

const PARTICLES: usize = 5;
const INSTANCES: usize = 3;
const DATA: usize = 2;

fn sampler() -> Sampler<Systematic> {
    Sampler::new(PARTICLES, 4, Policy::Always, Systematic).expect("a sampler")
}

fn data() -> Tensor<B, 2> {
    tensor(&[0.8, -1.1, -0.2, 0.4, 0.1, -0.5], [INSTANCES, DATA])
}

/// The draws that a run of all particles makes, as words; or those of them that are for some particles.
struct Words(std::vec::IntoIter<u64>);

impl TryRng for Words {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        unreachable!("the toy draws words of 64 bits")
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.0.next().expect("as many draws as latents"))
    }

    fn try_fill_bytes(&mut self, _: &mut [u8]) -> Result<(), Infallible> {
        unreachable!("the toy draws words of 64 bits")
    }
}

/// For each latent of the toy a word, whoever draws it: particles `range` get those that they would have among all.
struct Script {
    range: Range<usize>,
    current: Words,
}

impl Script {
    fn new(range: Range<usize>) -> Self {
        let current = Words(Vec::new().into_iter());
        Self { range, current }
    }
}

impl Randomness for Script {
    type Chance = Words;

    fn at(&mut self, purpose: Purpose, position: Position) -> &mut Words {
        let number = (position.sweep * 2 + position.block) as u64;
        let mut stream = Stream::new(8, purpose, [number, 0]);
        let mut words = |latents: usize, range: &Range<usize>| -> Vec<u64> {
            let row = INSTANCES * latents;
            let all: Vec<u64> = (0..PARTICLES * row).map(|_| stream.next_u64()).collect();
            all[range.start * row..range.end * row].to_vec()
        };
        let words = match (purpose, position) {
            (RESAMPLE, _) => words(1, &(0..PARTICLES)),
            (_, Position { sweep: 0, .. }) => {
                [words(1, &self.range), words(DATA, &self.range)].concat()
            }
            (_, Position { block: 0, .. }) => words(1, &self.range),
            _ => words(DATA, &self.range),
        };
        self.current = Words(words.into_iter());
        &mut self.current
    }
}

impl fmt::Display for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a script")
    }
}

type Found = (GradientsParams, Run<Bits<B>>);

fn numbers_of((gradients, run): &Found, model: &Toy<B>) -> Vec<f64> {
    let gradients = all_of(gradients, model).into_iter();
    let mut numbers: Vec<f64> = gradients.map(|g| g.expect("one")).collect();
    let state = run.population.state();
    numbers.extend(crate::toy::numbers(state.a.clone()));
    numbers.extend(crate::toy::numbers(state.c.clone()));
    for record in &run.records {
        numbers.extend(record.log_evidence.iter().chain(&record.ess));
    }
    numbers
}

/// Groups of particles of these numbers, with the draws of all.
fn scripted(model: &Toy<B>, groups: &[Range<usize>], threads: usize) -> Found {
    let (a, c) = (Update(A(Law::Learned)), Update(Cs(Law::Learned)));
    let blocks: [&dyn Block<B, Toy<B>, Words>; 2] = [&a, &c];
    let sources = groups.iter().cloned().map(Script::new).collect();
    let found = sampler().gradients_in_groups(model, &data(), &blocks, sources, threads);
    found.expect("finite weights")
}

/// Groups with streams of their own.
fn streamed(model: &Toy<B>, groups: usize, threads: usize) -> Result<Found, ApgError> {
    let (a, c) = (Update(A(Law::Learned)), Update(Cs(Law::Learned)));
    let blocks: [&dyn Block<B, Toy<B>, Stream>; 2] = [&a, &c];
    let streams = (0..groups).map(|group| Streams::new(15, 3).part(group));
    sampler().gradients_in_groups(model, &data(), &blocks, streams.collect(), threads)
}

#[test]
fn groups_have_the_gradient_and_the_particles_of_the_whole() {
    let model = Toy::<B>::new(PARAMETERS);
    let (a, c) = (Update(A(Law::Learned)), Update(Cs(Law::Learned)));
    let blocks: [&dyn Block<B, Toy<B>, Words>; 2] = [&a, &c];
    let mut script = Script::new(0..PARTICLES);
    let whole = sampler().gradients(&model, &data(), &blocks, &mut script);
    let whole = numbers_of(&whole.expect("finite weights"), &model);
    assert_eq!(
        numbers_of(
            &scripted(&model, std::slice::from_ref(&(0..PARTICLES)), 1),
            &model
        ),
        whole
    );
    for groups in [vec![0..2, 2..5], vec![0..1, 1..2, 2..3, 3..4, 4..5]] {
        let found = numbers_of(&scripted(&model, &groups, 2), &model);
        assert_eq!(found.len(), whole.len());
        for (found, whole) in found.iter().zip(&whole) {
            assert!((found - whole).abs() < 1e-12, "{groups:?}: {found} {whole}");
        }
    }
}

/// The twin: each group with the weights of its own particles alone.
#[test]
fn weights_of_a_group_by_itself_are_another_gradient() {
    let model = Toy::<B>::new(PARAMETERS);
    let whole = numbers_of(&scripted(&model, &[0..2, 2..5], 1), &model);
    let alone = |range: Range<usize>| {
        let sampler = Sampler::new(range.len(), 4, Policy::Always, Systematic).expect("one");
        let (a, c) = (Update(A(Law::Learned)), Update(Cs(Law::Learned)));
        let blocks: [&dyn Block<B, Toy<B>, Words>; 2] = [&a, &c];
        let found = sampler.gradients(&model, &data(), &blocks, &mut Script::new(range));
        numbers_of(&found.expect("finite weights"), &model)
    };
    let [first, second] = [alone(0..2), alone(2..5)];
    let apart = (0..PARAMETERS.len())
        .map(|i| ((first[i] * 2.0 + second[i] * 3.0) / 5.0 - whole[i]).abs())
        .fold(0.0, f64::max);
    assert!(apart > 1e-3, "{apart}");
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let model = Toy::<B>::new(PARAMETERS);
    let of = |threads| numbers_of(&streamed(&model, 4, threads).expect("finite"), &model);
    let alone = of(1);
    for threads in [2, 3, 8] {
        for _ in 0..20 {
            assert_eq!(of(threads), alone, "{threads} threads");
        }
    }
}

#[test]
fn one_group_is_a_run_and_there_are_no_more_groups_than_particles() {
    let model = Toy::<B>::new(PARAMETERS);
    let of = |groups| numbers_of(&streamed(&model, groups, 2).expect("finite"), &model);
    let (a, c) = (Update(A(Law::Learned)), Update(Cs(Law::Learned)));
    let blocks: [&dyn Block<B, Toy<B>, Stream>; 2] = [&a, &c];
    let whole = sampler().gradients(&model, &data(), &blocks, &mut Streams::new(15, 3));
    assert_eq!(of(1), numbers_of(&whole.expect("finite"), &model));
    assert_ne!(of(1), of(2));
    assert_eq!(of(PARTICLES), of(100));
    let none = streamed(&model, 0, 1).map(|_| ()).expect_err("no groups");
    assert!(
        matches!(none, ApgError::Nothing { what: "groups" }),
        "{none}"
    );
}

#[test]
fn a_loss_that_is_none_names_its_block_and_the_run() {
    let mut parameters = PARAMETERS;
    parameters[0] = f64::NAN;
    let model = Toy::<B>::new(parameters);
    for threads in [1, 2] {
        let error = streamed(&model, 2, threads).map(|_| ()).expect_err("NaN");
        let error = error.to_string();
        assert!(
            error.contains("one-shot") && error.contains("step 3"),
            "{error}"
        );
    }
}
