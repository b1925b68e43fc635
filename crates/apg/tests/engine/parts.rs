//! Test 16: the parts of a local block.

use burn::tensor::Tensor;
use burn_flex::Flex;
use helmholtz_apg::{Conditional, Model, Update};
use helmholtz_invariance::expectation;
use helmholtz_random::{Chance, Enumerator};

use crate::toy::*;

type B = Flex;

fn model() -> Toy<B> {
    Toy::new(PARAMETERS)
}

fn x() -> Tensor<B, 2> {
    tensor(&[0.8, -1.1], [1, 2])
}

#[test]
fn the_weights_of_the_parts_multiply_to_the_weight_of_the_particle() {
    use helmholtz_apg::Block;
    let (model, x, old) = (model(), x(), all_states(2));
    let block = Cs(Law::Learned);
    let mut stream = helmholtz_random::Stream::new(16, helmholtz_apg::PROPOSE, [0, 0]);
    let moved = Update(block).advance(&model, &model, &x, &old, &mut stream);
    let law = Conditional::<B, Toy<B>, Enumerator>::law(&block, &model, &x, &old);
    let log_q =
        |z: &Bits<B>| Conditional::<B, Toy<B>, Enumerator>::log_prob(&block, &law, z).sum_dim(2);
    let whole = model.log_joint(&x, &moved.state) - model.log_joint(&x, &old);
    let whole = whole.unsqueeze_dim::<3>(2) + log_q(&old) - log_q(&moved.state);
    assert_eq!(moved.log_v.dims(), [8, 1, 2]);
    let difference = numbers(moved.log_v.sum_dim(2) - whole);
    assert!(difference.iter().all(|d| d.abs() < 1e-13));
}

/// E[v_1 g(c'_1)] for the weight of the part and for that of the particle, with c from `start`, c' ~ q and g the score.
fn expectations(start: Law) -> Vec<f64> {
    let (model, x) = (model(), x());
    let value = |tensor: Tensor<B, 3>| numbers(tensor)[0];
    expectation(|chance| {
        use helmholtz_apg::Block;
        let a = chance.choose(&[0.0, 0.4]).expect("finite") as f64;
        let given_a = Bits {
            a: tensor(&[a], [1, 1, 1]),
            c: tensor(&[0.0; 2], [1, 1, 2]),
        };
        let start = Cs(start);
        let law = Conditional::<B, Toy<B>, Enumerator>::law(&start, &model, &x, &given_a);
        let old = start.sample(&law, &given_a, chance);
        let moved = Update(Cs(Law::Learned)).advance(&model, &model, &x, &old, chance);
        let part = value(moved.log_v.clone().narrow(2, 0, 1)).exp();
        let particle = value(moved.log_v.sum_dim(2)).exp();
        let score = if value(moved.state.c.narrow(2, 0, 1)) == 1.0 {
            0.7
        } else {
            -0.3
        };
        vec![part * score, particle * score]
    })
}

#[test]
fn both_weights_give_the_same_expected_gradient_at_the_posterior() {
    let [part, particle] = expectations(Law::Exact)[..] else {
        panic!("two")
    };
    assert!((part - particle).abs() < 1e-14 && part.abs() > 1e-3);
    // Where the old values do not follow the posterior, they differ.
    let [part, particle] = expectations(Law::Prior)[..] else {
        panic!("two")
    };
    assert!((part - particle).abs() > 1e-3);
}
