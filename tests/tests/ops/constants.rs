//! Results of constants, which our operations leave without a tape, in what burn recomputes from.

use burn::backend::Autodiff;
use burn::backend::autodiff::checkpoint::strategy::{BalancedCheckpointing, NoCheckpointing};
use burn::tensor::{Tensor, backend::AutodiffBackend};
use burn_flex::Flex;
use helmholtz_ops::{Backend, sigmoid};

/// ∂/∂w Σ exp(−σ(x) w), of which burn recomputes the product and the exponential where it keeps none.
fn gradient<B: AutodiffBackend + Backend>() -> Vec<f64> {
    let device = Default::default();
    let x = Tensor::<B, 2>::from_data([[-1.5, 0.0], [0.25, 3.0]], &device);
    let w = Tensor::<B, 2>::from_data([[0.5, -1.0], [2.0, 0.125]], &device).require_grad();
    let loss = (sigmoid(x) * w.clone()).neg().exp().sum();
    let gradient = w.grad(&loss.backward()).expect("a gradient");
    gradient.into_data().iter().collect()
}

#[test]
fn a_constant_serves_whether_steps_are_kept_or_recomputed() {
    let kept = gradient::<Autodiff<Flex, NoCheckpointing>>();
    let recomputed = gradient::<Autodiff<Flex, BalancedCheckpointing>>();
    assert_eq!(kept, recomputed);
    let pairs = [(-1.5, 0.5), (0.0, -1.0), (0.25, 2.0), (3.0, 0.125)];
    for ((x, w), found) in pairs.into_iter().zip(kept) {
        let share = 1.0 / (1.0 + f64::exp(-x));
        let expected = -share * f64::exp(-share * w);
        assert!((found - expected).abs() < 1e-6, "{found} is not {expected}");
    }
}
