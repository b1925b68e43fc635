//! Sums over data, weighted by softmaxes.

use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops};
use burn::tensor::ops::FloatTensor;

use super::register_all;
use crate::Backend;

#[derive(Debug)]
pub struct SoftmaxSums;

impl<B: Backend> Backward<B, 2> for SoftmaxSums {
    type State = [FloatTensor<B>; 2];

    fn backward(self, ops: Ops<Self::State, 2>, grads: &mut Gradients, _: &mut Checkpointer) {
        let grad = grads.consume::<B>(&ops.node);
        let [logits, values] = ops.state;
        let gradients = B::softmax_sums_backward(logits, values, grad);
        let nodes = ops.parents.map(|node| node.map(|node| node.id));
        register_all::<B, _>(grads, nodes, gradients);
    }
}

#[derive(Debug)]
pub struct SoftmaxMoments;

impl<B: Backend> Backward<B, 2> for SoftmaxMoments {
    type State = [FloatTensor<B>; 3];

    fn backward(self, ops: Ops<Self::State, 2>, grads: &mut Gradients, _: &mut Checkpointer) {
        let grad = grads.consume::<B>(&ops.node);
        let [logits, values, present] = ops.state;
        let gradients = B::softmax_moments_backward(logits, values, present, grad);
        let nodes = ops.parents.map(|node| node.map(|node| node.id));
        register_all::<B, _>(grads, nodes, gradients);
    }
}
