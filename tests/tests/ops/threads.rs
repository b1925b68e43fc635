//! Tapes of several threads: no backward pass takes from another's.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use burn::backend::Autodiff;
use burn::tensor::Tensor;
use burn_flex::Flex;
use helmholtz_ops::{beta_log_prob, cat};

type Tape = Autodiff<Flex>;

fn leaf(rows: usize) -> Tensor<Tape, 2> {
    Tensor::full([rows, 64], 0.5, &Default::default()).require_grad()
}

/// How many of so many losses, each passing `join` right behind its leaves, miss a gradient, while another thread is busy with
/// backward passes of its own. A pass beforehand puts the leaves out of burn's sight, as that of an earlier loss does.
fn missing(losses: usize, join: impl Fn([Tensor<Tape, 2>; 2]) -> Tensor<Tape, 2> + Sync) -> usize {
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                let x = leaf(1);
                x.clone().square().sum().backward();
            }
        });
        let leaves = [leaf(4000), leaf(4000)];
        let loses = |_: &usize| {
            for x in &leaves {
                x.clone().sum().backward();
            }
            let parts = leaves.each_ref().map(|x| x.clone().mul_scalar(0.9));
            let gradients = join(parts).sum().backward();
            leaves.iter().any(|x| x.grad(&gradients).is_none())
        };
        let count = (0..losses).filter(loses).count();
        done.store(true, Ordering::Relaxed);
        count
    })
}

#[test]
fn tensors_side_by_side_keep_their_gradients_beside_other_threads() {
    assert_eq!(missing(200, |parts| cat(parts.into(), 0)), 0);
}

#[test]
fn operations_of_several_parts_keep_their_gradients_beside_other_threads() {
    let join = |[a, b]: [Tensor<Tape, 2>; 2]| {
        let x = Tensor::full([4000, 64], 0.3, &a.device());
        beta_log_prob(a, b, x)
    };
    assert_eq!(missing(20, join), 0);
}

/// The twin: if it passes no more, burn has mended its own, and ours can go.
#[test]
#[expect(clippy::disallowed_methods, reason = "it is what is shown to fail")]
fn burns_own_loses_some() {
    let lost = (0..20).any(|_| missing(200, |parts| Tensor::cat(parts.into(), 0)) > 0);
    assert!(lost, "none of 4000 lost its gradient");
}
