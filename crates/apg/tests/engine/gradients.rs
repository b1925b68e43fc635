//! Test 15: gradients against finite differences, what receives none, and block by block against all at once.

use std::sync::Mutex;

use burn::backend::Autodiff;
use burn::module::{Module, Param};
use burn::optim::GradientsParams;
use burn::tensor::Tensor;
use burn_flex::Flex;
use helmholtz_apg::{
    Block, Conditional, Joint, Loss, Model, Move, PROPOSE, Position, Sampler, Streams, Update,
};
use helmholtz_random::Stream;
use helmholtz_samplers::resampling::{Policy, Systematic};

use crate::toy::*;

type B = Autodiff<Flex>;

/// The particles before a move, and the move.
type Moved = (Bits<B>, Move<B, Bits<B>>);

/// A block that remembers its moves.
struct Recorded<K> {
    block: K,
    moves: Mutex<Vec<Moved>>,
}

impl<K> Recorded<K> {
    fn new(block: K) -> Self {
        Self {
            block,
            moves: Mutex::default(),
        }
    }
}

impl<K: Block<B, Toy<B>, Stream>> Block<B, Toy<B>, Stream> for Recorded<K> {
    fn name(&self) -> String {
        self.block.name()
    }

    fn advance(
        &self,
        model: &Toy<B>,
        frozen: &Toy<B>,
        x: &Tensor<B, 2>,
        old: &Bits<B>,
        chance: &mut Stream,
    ) -> Move<B, Bits<B>> {
        let moved = self.block.advance(model, frozen, x, old, chance);
        let mut moves = self.moves.lock().expect("no test panicked");
        moves.push((old.clone(), moved.clone()));
        moved
    }
}

const PARTICLES: usize = 3;
const INSTANCES: usize = 2;

fn x() -> Tensor<B, 2> {
    tensor(&[0.8, -1.1, -0.2, 0.4], [INSTANCES, 2])
}

fn sampler(sweeps: usize) -> Sampler<Systematic> {
    Sampler::new(PARTICLES, sweeps, Policy::Always, Systematic).expect("a sampler")
}

/// The losses of a run of two sweeps over a and c.
fn losses(model: &Toy<B>, blocks: &[&dyn Block<B, Toy<B>, Stream>]) -> Vec<(Position, Loss<B>)> {
    let mut losses = Vec::new();
    let record = |place, _: &_, loss| losses.push((place, loss));
    sampler(2)
        .run(model, &x(), blocks, &mut Streams::new(15, 0), record)
        .expect("a run");
    losses
}

/// The gradient of a loss in the toy's nine parameters; `None` where there is none.
fn gradient(loss: Tensor<B, 1>, model: &Toy<B>) -> Vec<Option<f64>> {
    let gradients = GradientsParams::from_grads(loss.backward(), model);
    all_of(&gradients, model)
}

pub fn all_of(gradients: &GradientsParams, model: &Toy<B>) -> Vec<Option<f64>> {
    let of = |param: &Param<Tensor<B, 1>>| -> Vec<Option<f64>> {
        match gradients.get::<Flex, 1>(param.id) {
            Some(gradient) => numbers(gradient).into_iter().map(Some).collect(),
            None => vec![None; param.val().dims()[0]],
        }
    };
    [&model.theta, &model.one_shot, &model.phi_a, &model.phi_c]
        .into_iter()
        .flat_map(of)
        .collect()
}

/// W_n `[L, B, N]` from log v `[L, B, N]`, in plain numbers.
fn weights(log_v: &[f64], parts: usize) -> Vec<f64> {
    let at = |l: usize, i: usize| log_v[l * INSTANCES * parts + i].exp();
    let total = |i| (0..PARTICLES).map(|l| at(l, i)).sum::<f64>();
    let columns = INSTANCES * parts;
    (0..log_v.len())
        .map(|j| at(j / columns, j % columns) / total(j % columns))
        .collect()
}

/// −(1/B) Σ W log density.
fn surrogate(weights: &[f64], log_density: Tensor<B, 3>) -> f64 {
    let terms = weights.iter().zip(numbers(log_density));
    -terms.map(|(w, l)| w * l).sum::<f64>() / INSTANCES as f64
}

/// Checks the gradients of one block's loss: those in φ against finite differences over the parameters `of_block`, in θ
/// over the first; all others must be zero.
fn assert_gradient<K>(block: K, of_block: std::ops::Range<usize>)
where
    K: Conditional<B, Toy<B>, Stream> + Copy,
{
    let model = Toy::<B>::new(PARAMETERS);
    let recorded = Recorded::new(Update(block));
    let loss = losses(&model, &[&recorded]).pop().expect("a loss").1;
    let (old, moved) = recorded
        .moves
        .into_inner()
        .expect("no test panicked")
        .pop()
        .expect("a move");
    let parts = moved.log_v.dims()[2];
    let weights = weights(&numbers(moved.log_v), parts);

    let phi = |model: &Toy<B>| {
        let law = block.law(model, &x(), &old);
        surrogate(&weights, block.log_prob(&law, &moved.state))
    };
    let theta = |model: &Toy<B>| surrogate(&weights, block.log_target(model, &x(), &moved.state));
    let difference = |f: &dyn Fn(&Toy<B>) -> f64, i: usize| {
        let at = |step: f64| {
            let mut parameters = PARAMETERS;
            parameters[i] += step;
            f(&Toy::new(parameters))
        };
        (at(1e-5) - at(-1e-5)) / 2e-5
    };
    let found = gradient(loss.phi(), &model);
    for (i, found) in found.into_iter().enumerate() {
        if of_block.contains(&i) {
            let expected = difference(&phi, i);
            let found = found.expect("a gradient");
            assert!(
                (found - expected).abs() < 1e-8 + 1e-6 * expected.abs(),
                "{i}: {found} {expected}"
            );
        } else {
            assert!(
                found.unwrap_or(0.0) == 0.0,
                "parameter {i} is of another block"
            );
        }
    }
    for (i, found) in gradient(loss.theta(), &model).into_iter().enumerate() {
        let expected = if i == 0 { difference(&theta, 0) } else { 0.0 };
        let found = found.unwrap_or(0.0);
        assert!(
            (found - expected).abs() < 1e-8 + 1e-6 * expected.abs(),
            "θ {i}: {found} {expected}"
        );
        assert!(i == 0 || found == 0.0);
    }
}

#[test]
fn a_global_block_s_gradient_is_that_of_its_weighted_log_density() {
    assert_gradient(A(Law::Learned), 2..5);
}

#[test]
fn a_local_block_s_gradient_weighs_each_part_by_itself() {
    assert_gradient(Cs(Law::Learned), 5..9);
}

#[test]
#[should_panic(expected = "parameter 2 is of another block")]
fn a_block_that_learns_for_another_is_noticed() {
    assert_gradient(A(Law::Learned), 3..5);
}

#[test]
fn the_one_shot_learns_all_it_is_made_of() {
    let model = Toy::<B>::new(PARAMETERS);
    let loss = losses(&model, &[]).pop().expect("a loss").1;
    let phi = gradient(loss.phi(), &model);
    assert!(phi[0].unwrap_or(0.0) == 0.0 && phi[2..5].iter().all(Option::is_none));
    assert!(
        phi[1].is_some_and(|g| g != 0.0) && phi[5..9].iter().any(|g| g.is_some_and(|g| g != 0.0))
    );
    let theta = gradient(loss.theta(), &model);
    assert!(
        theta[0].is_some_and(|g| g != 0.0) && theta[1..].iter().all(|g| g.unwrap_or(0.0) == 0.0)
    );
}

#[test]
fn block_by_block_gives_the_gradient_of_the_sum() {
    let model = Toy::<B>::new(PARAMETERS);
    let (a, c) = (Update(A(Law::Learned)), Update(Cs(Law::Learned)));
    let joint = Joint(a, c);
    let blocks: [&dyn Block<B, Toy<B>, Stream>; 3] = [&a, &c, &joint];
    let total = losses(&model, &blocks)
        .into_iter()
        .map(|(_, loss)| loss.total());
    let at_once = gradient(
        total.reduce(|sum, loss| sum + loss).expect("losses"),
        &model,
    );
    let (gradients, _) = sampler(2)
        .gradients(&model, &x(), &blocks, &mut Streams::new(15, 0))
        .expect("a run");
    for (found, expected) in all_of(&gradients, &model).into_iter().zip(at_once) {
        let (found, expected) = (found.expect("one"), expected.expect("one"));
        assert!((found / expected - 1.0).abs() < 1e-12, "{found} {expected}");
    }
}

/// log q(a' | x, c) + log q(c' | x, a'), by what the two laws say of the draw.
#[test]
fn the_density_of_a_joint_move_is_the_product_of_its_blocks() {
    let model = Toy::<B>::new(PARAMETERS);
    let (a, c) = (A(Law::Learned), Cs(Law::Learned));
    let joint = Joint(Update(a), Update(c));
    let old = all_states::<B>(2);
    let x = x().narrow(0, 0, 1);
    let mut stream = Stream::new(15, PROPOSE, [0, 0]);
    let moved = joint.advance(&model, &model.clone().no_grad(), &x, &old, &mut stream);
    let of_a = Conditional::<B, Toy<B>, Stream>::law(&a, &model, &x, &old);
    let of_a = Conditional::<B, Toy<B>, Stream>::log_prob(&a, &of_a, &moved.state);
    let of_c = Conditional::<B, Toy<B>, Stream>::law(&c, &model, &x, &moved.state);
    let of_c = Conditional::<B, Toy<B>, Stream>::log_prob(&c, &of_c, &moved.state);
    let expected = numbers(of_a + of_c.sum_dim(2)).into_iter();
    for (found, expected) in numbers(moved.log_forward).into_iter().zip(expected) {
        assert!((found - expected).abs() < 1e-12, "{found} {expected}");
    }
    assert_eq!(Block::<B, Toy<B>, Stream>::name(&joint), "a + c");
}

#[test]
fn a_run_whose_laws_learn_nothing_has_gradients_of_the_model_alone() {
    let model = Toy::<B>::new(PARAMETERS);
    let block = Update(Cs(Law::Exact));
    let (_, loss) = losses(&model, &[&block]).pop().expect("a loss");
    assert!(
        gradient(loss.phi(), &model)
            .iter()
            .all(|g| g.unwrap_or(0.0) == 0.0)
    );
    let z = all_states::<B>(2);
    assert!(model.log_joint(&x().narrow(0, 0, 1), &z).dims() == [8, 1]);
}

/// A block whose density has a square root at zero: its value is finite, and its gradient is not.
struct Steep;

impl Block<B, Toy<B>, Stream> for Steep {
    fn name(&self) -> String {
        "steep".into()
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
        let root = (moved.log_forward.clone() * 0.0).sqrt();
        Move {
            log_forward: moved.log_forward.clone() + root,
            ..moved
        }
    }
}

#[test]
fn a_gradient_that_is_not_a_number_is_named_though_the_loss_is_finite() {
    let c = Update(Cs(Law::Learned));
    let blocks: [&dyn Block<B, Toy<B>, Stream>; 2] = [&c, &Steep];
    let mut streams = Streams::new(15, 8);
    let found = sampler(4).gradients(&Toy::new(PARAMETERS), &x(), &blocks, &mut streams);
    let message = found.expect_err("an error").to_string();
    assert_eq!(
        message,
        "the gradient of block steep of sweep 1 (step 8, seed 15) is not finite, though its loss is"
    );
}

/// A block whose density is not a number, though its weights are.
struct NotANumber;

impl Block<B, Toy<B>, Stream> for NotANumber {
    fn name(&self) -> String {
        "vague".into()
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
        Move {
            log_forward: moved.log_forward.clone() * f64::NAN,
            ..moved
        }
    }
}

#[test]
fn a_loss_that_is_not_a_number_is_named_by_block_sweep_step_and_seed() {
    let c = Update(Cs(Law::Learned));
    let blocks: [&dyn Block<B, Toy<B>, Stream>; 2] = [&c, &NotANumber];
    let mut streams = Streams::new(15, 8);
    let found = sampler(4).gradients(&Toy::new(PARAMETERS), &x(), &blocks, &mut streams);
    let message = found.expect_err("an error").to_string();
    assert_eq!(
        message,
        "the loss of block vague of sweep 1 (step 8, seed 15) is NaN"
    );
}
