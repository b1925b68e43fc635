//! Layers and small nets.

use burn::backend::autodiff::NodeId;
use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, unary};
use burn::tensor::ops::{FloatTensor, IntTensor};

use crate::{Activation, AdditiveGradients, Backend, LinearGradients, PerceptronGradients};

#[derive(Debug)]
pub struct BitLinear;

impl<B: Backend> Backward<B, 2> for BitLinear {
    /// The bits, and how many columns they have.
    type State = (IntTensor<B>, usize);

    fn backward(self, ops: Ops<Self::State, 2>, grads: &mut Gradients, _: &mut Checkpointer) {
        let grad = grads.consume::<B>(&ops.node);
        let (words, columns) = ops.state;
        let gradients = B::bit_linear_backward(words, columns, grad);
        for (node, gradient) in ops.parents.into_iter().zip(gradients) {
            if let Some(node) = node {
                grads.register::<B>(node.id, gradient);
            }
        }
    }
}

#[derive(Debug)]
pub struct Linear;

impl<B: Backend> Backward<B, 3> for Linear {
    type State = (Option<FloatTensor<B>>, Option<FloatTensor<B>>);

    fn backward(self, ops: Ops<Self::State, 3>, grads: &mut Gradients, _: &mut Checkpointer) {
        let grad = grads.consume::<B>(&ops.node);
        let (x, weight) = ops.state;
        let [x_node, weight_node, bias_node] = ops.parents;
        let LinearGradients { input, parameters } = B::fused_linear_backward(x, weight, grad);
        if let (Some(node), Some(input)) = (x_node, input) {
            grads.register::<B>(node.id, input);
        }
        if let Some((weight, bias)) = parameters {
            if let Some(node) = weight_node {
                grads.register::<B>(node.id, weight);
            }
            if let Some(node) = bias_node {
                grads.register::<B>(node.id, bias);
            }
        }
    }
}

#[derive(Debug)]
pub struct AdditiveScores;

impl<B: Backend> Backward<B, 3> for AdditiveScores {
    type State = ([FloatTensor<B>; 3], Activation);

    fn backward(self, ops: Ops<Self::State, 3>, grads: &mut Gradients, _: &mut Checkpointer) {
        let grad = grads.consume::<B>(&ops.node);
        let ([queries, keys, weights], activation) = ops.state;
        let AdditiveGradients {
            queries,
            keys,
            weights,
        } = B::additive_scores_backward(queries, keys, weights, activation, grad);
        for (node, gradient) in ops.parents.into_iter().zip([queries, keys, weights]) {
            if let Some(node) = node {
                grads.register::<B>(node.id, gradient);
            }
        }
    }
}

#[derive(Debug)]
pub struct Perceptron;

impl<B: Backend> Backward<B, 5> for Perceptron {
    /// x, the weights, and whether x has a gradient.
    type State = (FloatTensor<B>, [FloatTensor<B>; 4], Activation, bool);

    fn backward(self, ops: Ops<Self::State, 5>, grads: &mut Gradients, _: &mut Checkpointer) {
        let grad = grads.consume::<B>(&ops.node);
        let (x, weights, activation, of_input) = ops.state;
        let PerceptronGradients { input, weights } =
            B::perceptron_backward(x, weights, activation, grad, of_input);
        let nodes = ops.parents.map(|node| node.map(|node| node.id));
        register::<B>(grads, nodes, input, weights);
    }
}

/// Adds the gradients of a net to those of its input and weights, as far as they have one.
fn register<B: Backend>(
    grads: &mut Gradients,
    nodes: [Option<NodeId>; 5],
    input: Option<FloatTensor<B>>,
    weights: [FloatTensor<B>; 4],
) {
    let gradients = std::iter::once(input).chain(weights.map(Some));
    for (node, gradient) in nodes.into_iter().zip(gradients) {
        if let (Some(node), Some(gradient)) = (node, gradient) {
            grads.register::<B>(node, gradient);
        }
    }
}

#[derive(Debug)]
pub struct LinearSplines;

impl<B: Backend> Backward<B, 5> for LinearSplines {
    /// The points, their curves and the number of sums, the weights, the slope, and whether the points have a gradient.
    type State = (
        FloatTensor<B>,
        (Vec<usize>, usize),
        [FloatTensor<B>; 4],
        f64,
        bool,
    );

    fn backward(self, ops: Ops<Self::State, 5>, grads: &mut Gradients, _: &mut Checkpointer) {
        let grad = grads.consume::<B>(&ops.node);
        let (points, (curves, sums), weights, slope, of_points) = ops.state;
        let PerceptronGradients { input, weights } =
            B::linear_splines_backward(points, &curves, sums, weights, slope, grad, of_points);
        let nodes = ops.parents.map(|node| node.map(|node| node.id));
        register::<B>(grads, nodes, input, weights);
    }
}

#[derive(Debug)]
pub struct Activated;

impl<B: Backend> Backward<B, 1> for Activated {
    type State = (FloatTensor<B>, Activation);

    fn backward(self, ops: Ops<Self::State, 1>, grads: &mut Gradients, _: &mut Checkpointer) {
        let (output, activation) = ops.state;
        unary::<B, _>(ops.parents, ops.node, grads, |grad| {
            B::fused_activation_backward(output, grad, activation)
        });
    }
}
