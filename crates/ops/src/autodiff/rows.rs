//! Rows of bits, of classes and of numbers.

use burn::backend::Autodiff;
use burn::backend::autodiff::checkpoint::{base::Checkpointer, strategy::CheckpointStrategy};
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind, unary};
use burn::tensor::ops::FloatTensor;
use burn::tensor::{Tensor, TensorMetadata, TensorPrimitive};

use super::constant;
use crate::Backend;
use crate::backend::portable::cycle;

/// Log-probabilities of rows that are linear in their values.  `all_logits` makes of the logits, or means, their derivative in
/// the values, `scored` gives them with their derivative in the logits, `alone` without.
pub fn row_pass<B: Backend, C: CheckpointStrategy>(
    logits: FloatTensor<Autodiff<B, C>>,
    values: FloatTensor<Autodiff<B, C>>,
    all_logits: impl FnOnce(FloatTensor<B>) -> FloatTensor<B>,
    scored: impl FnOnce(FloatTensor<B>, FloatTensor<B>) -> (FloatTensor<B>, FloatTensor<B>),
    alone: impl FnOnce(FloatTensor<B>, FloatTensor<B>) -> FloatTensor<B>,
) -> FloatTensor<Autodiff<B, C>> {
    let rows = [logits.shape()[0], values.shape()[0]];
    let values_tracked = values.is_tracked();
    match RowPass
        .prepare::<C>([logits.node.clone(), values.node.clone()])
        .compute_bound()
        .stateful()
    {
        OpsKind::Tracked(prep) => {
            let kept = values_tracked.then(|| all_logits(logits.primitive.clone()));
            let (log_prob, residual) = scored(logits.primitive, values.primitive);
            prep.finish((residual, kept, rows), log_prob)
        }
        OpsKind::UnTracked(_) => constant::<B>(alone(logits.primitive, values.primitive)),
    }
}

/// ∂/∂logits = g · (value − its mean) and ∂/∂value = g · its logit, folded over the rows that were repeated.
#[derive(Debug)]
struct RowPass;

impl<B: Backend> Backward<B, 2> for RowPass {
    type State = (FloatTensor<B>, Option<FloatTensor<B>>, [usize; 2]);

    fn backward(self, ops: Ops<Self::State, 2>, grads: &mut Gradients, _: &mut Checkpointer) {
        let grad = grads.consume::<B>(&ops.node);
        let (residual, logits, [logit_rows, value_rows]) = ops.state;
        let [logits_node, values_node] = ops.parents;
        if let (Some(node), Some(logits)) = (values_node, logits) {
            let logits = Tensor::<B, 2>::from_primitive(TensorPrimitive::Float(logits));
            let rows = cycle(logits, residual.shape()[0]).into_primitive().tensor();
            grads.register::<B>(node.id, B::fold_rows(grad.clone(), rows, value_rows));
        }
        if let Some(node) = logits_node {
            grads.register::<B>(node.id, B::fold_rows(grad, residual, logit_rows));
        }
    }
}

/// ∂/∂logits = g · (bit − its mean), folded over the rows that were repeated.
#[derive(Debug)]
pub struct BitRowPass;

impl<B: Backend> Backward<B, 1> for BitRowPass {
    type State = (FloatTensor<B>, usize);

    fn backward(self, ops: Ops<Self::State, 1>, grads: &mut Gradients, _: &mut Checkpointer) {
        let (residual, rows) = ops.state;
        unary::<B, _>(ops.parents, ops.node, grads, |grad| {
            B::fold_rows(grad, residual, rows)
        });
    }
}

#[derive(Debug)]
pub struct CategoricalMove;

/// ∂/∂logits = g · (class − its probability).
impl<B: Backend> Backward<B, 1> for CategoricalMove {
    type State = FloatTensor<B>;

    fn backward(self, ops: Ops<Self::State, 1>, grads: &mut Gradients, _: &mut Checkpointer) {
        unary::<B, _>(ops.parents, ops.node, grads, |grad| {
            let rows = ops.state.shape()[0];
            B::fold_rows(grad, ops.state, rows)
        });
    }
}

#[derive(Debug)]
pub struct CategoricalLogProbabilities;

impl<B: Backend> Backward<B, 1> for CategoricalLogProbabilities {
    type State = (FloatTensor<B>, usize);

    fn backward(self, ops: Ops<Self::State, 1>, grads: &mut Gradients, _: &mut Checkpointer) {
        let (output, classes) = ops.state;
        unary::<B, _>(ops.parents, ops.node, grads, |grad| {
            B::categorical_log_probabilities_backward(output, grad, classes)
        });
    }
}

#[derive(Debug)]
pub struct SoftmaxRows;

impl<B: Backend> Backward<B, 2> for SoftmaxRows {
    /// x, if the temperature has a gradient, τ and the softmaxes.
    type State = (Option<FloatTensor<B>>, [FloatTensor<B>; 2]);

    fn backward(self, ops: Ops<Self::State, 2>, grads: &mut Gradients, _: &mut Checkpointer) {
        let grad = grads.consume::<B>(&ops.node);
        let (x, [temperature, output]) = ops.state;
        let (of_x, of_temperature) = B::softmax_rows_backward(x, temperature, output, grad);
        let [x_node, temperature_node] = ops.parents;
        if let Some(node) = x_node {
            grads.register::<B>(node.id, of_x);
        }
        if let (Some(node), Some(gradient)) = (temperature_node, of_temperature) {
            grads.register::<B>(node.id, gradient);
        }
    }
}

#[derive(Debug)]
pub struct SquaredNorms;

impl<B: Backend> Backward<B, 1> for SquaredNorms {
    type State = FloatTensor<B>;

    fn backward(self, ops: Ops<Self::State, 1>, grads: &mut Gradients, _: &mut Checkpointer) {
        unary::<B, _>(ops.parents, ops.node, grads, |grad| {
            B::squared_norms_backward(ops.state, grad)
        });
    }
}

#[derive(Debug)]
pub struct Directions;

impl<B: Backend> Backward<B, 1> for Directions {
    type State = (FloatTensor<B>, f64);

    fn backward(self, ops: Ops<Self::State, 1>, grads: &mut Gradients, _: &mut Checkpointer) {
        let (x, epsilon) = ops.state;
        unary::<B, _>(ops.parents, ops.node, grads, |grad| {
            B::directions_backward(x, epsilon, grad)
        });
    }
}
