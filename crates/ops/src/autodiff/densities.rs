//! Log-densities.

use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, unary};
use burn::tensor::ops::FloatTensor;

use super::register_all;
use crate::{Backend, OwnNormalGradients};

#[derive(Debug)]
pub struct OwnNormalLogProbs;

impl<B: Backend> Backward<B, 3> for OwnNormalLogProbs {
    type State = (FloatTensor<B>, FloatTensor<B>, [FloatTensor<B>; 2], bool);

    fn backward(self, ops: Ops<Self::State, 3>, grads: &mut Gradients, _: &mut Checkpointer) {
        let grad = grads.consume::<B>(&ops.node);
        let (values, classes, normals, of_values) = ops.state;
        let OwnNormalGradients { values, normals } =
            B::own_normal_log_probs_backward(values, classes, normals, grad, of_values);
        let [of_values, nodes @ ..] = ops.parents.map(|node| node.map(|node| node.id));
        if let (Some(node), Some(gradient)) = (of_values, values) {
            grads.register::<B>(node, gradient);
        }
        register_all::<B, 2>(grads, nodes, normals);
    }
}

#[derive(Debug)]
pub struct NormalGammaLogProb;

impl<B: Backend> Backward<B, 6> for NormalGammaLogProb {
    type State = ([FloatTensor<B>; 4], [FloatTensor<B>; 2]);

    fn backward(self, ops: Ops<Self::State, 6>, grads: &mut Gradients, _: &mut Checkpointer) {
        let grad = grads.consume::<B>(&ops.node);
        let (parameters, value) = ops.state;
        let gradients = B::normal_gamma_log_prob_backward(parameters, value, grad);
        let ([mean, nu, alpha, beta], [mu, tau]) = gradients;
        let nodes = ops.parents.map(|node| node.map(|node| node.id));
        register_all::<B, _>(grads, nodes, [mean, nu, alpha, beta, mu, tau]);
    }
}

#[derive(Debug)]
pub struct NormalLogProb;

impl<B: Backend> Backward<B, 3> for NormalLogProb {
    type State = [FloatTensor<B>; 3];

    fn backward(self, ops: Ops<Self::State, 3>, grads: &mut Gradients, _: &mut Checkpointer) {
        let grad = grads.consume::<B>(&ops.node);
        let [mean, deviation, x] = ops.state;
        let gradients = B::normal_log_prob_backward(mean, deviation, x, grad);
        let nodes = ops.parents.map(|node| node.map(|node| node.id));
        register_all::<B, _>(grads, nodes, gradients);
    }
}

#[derive(Debug)]
pub struct NormalGammaPosterior;

impl<B: Backend> Backward<B, 1> for NormalGammaPosterior {
    /// The prior, the moments, D.
    type State = ([f64; 4], FloatTensor<B>, usize);

    fn backward(self, ops: Ops<Self::State, 1>, grads: &mut Gradients, _: &mut Checkpointer) {
        let (prior, moments, dimensions) = ops.state;
        unary::<B, _>(ops.parents, ops.node, grads, |grad| {
            B::normal_gamma_posterior_backward(prior, moments, dimensions, grad)
        });
    }
}

#[derive(Debug)]
pub struct BetaLogProb;

impl<B: Backend> Backward<B, 3> for BetaLogProb {
    type State = [FloatTensor<B>; 3];

    fn backward(self, ops: Ops<Self::State, 3>, grads: &mut Gradients, _: &mut Checkpointer) {
        let grad = grads.consume::<B>(&ops.node);
        let [a, b, x] = ops.state;
        let gradients = B::beta_log_prob_backward(a, b, x, grad);
        let nodes = ops.parents.map(|node| node.map(|node| node.id));
        register_all::<B, _>(grads, nodes, gradients);
    }
}
