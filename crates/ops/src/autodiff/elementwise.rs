//! Functions of each element.

use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, unary};
use burn::tensor::ops::FloatTensor;

use super::register_all;
use crate::Backend;

#[derive(Debug)]
pub struct Sigmoid;

impl<B: Backend> Backward<B, 1> for Sigmoid {
    type State = FloatTensor<B>;

    fn backward(self, ops: Ops<Self::State, 1>, grads: &mut Gradients, _: &mut Checkpointer) {
        unary::<B, _>(ops.parents, ops.node, grads, |grad| {
            B::fused_sigmoid_backward(ops.state, grad)
        });
    }
}

#[derive(Debug)]
pub struct BoundedExp;

impl<B: Backend> Backward<B, 1> for BoundedExp {
    type State = (FloatTensor<B>, f64);

    fn backward(self, ops: Ops<Self::State, 1>, grads: &mut Gradients, _: &mut Checkpointer) {
        let (x, bound) = ops.state;
        unary::<B, _>(ops.parents, ops.node, grads, |grad| {
            B::bounded_exp_backward(x, bound, grad)
        });
    }
}

/// The gradient as it is, to both.
#[derive(Debug)]
pub struct Carried;

impl<B: Backend> Backward<B, 2> for Carried {
    type State = ();

    fn backward(self, ops: Ops<Self::State, 2>, grads: &mut Gradients, _: &mut Checkpointer) {
        let grad = grads.consume::<B>(&ops.node);
        let nodes = ops.parents.map(|node| node.map(|n| n.id));
        register_all::<B, 2>(grads, nodes, [grad.clone(), grad]);
    }
}

#[derive(Debug)]
pub struct LogGamma;

impl<B: Backend> Backward<B, 1> for LogGamma {
    type State = FloatTensor<B>;

    fn backward(self, ops: Ops<Self::State, 1>, grads: &mut Gradients, _: &mut Checkpointer) {
        unary::<B, _>(ops.parents, ops.node, grads, |grad| {
            B::float_mul(grad, B::digamma(ops.state))
        });
    }
}

#[derive(Debug)]
pub struct Digamma;

impl<B: Backend> Backward<B, 1> for Digamma {
    type State = FloatTensor<B>;

    fn backward(self, ops: Ops<Self::State, 1>, grads: &mut Gradients, _: &mut Checkpointer) {
        unary::<B, _>(ops.parents, ops.node, grads, |grad| {
            B::float_mul(grad, B::trigamma(ops.state))
        });
    }
}
