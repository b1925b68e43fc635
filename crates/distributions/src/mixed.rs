//! A layer of either kind.

use burn::tensor::Tensor;
use helmholtz_ops::{Backend, Values};

use crate::{Bits, Classes, Relaxable, Variables};

/// Bits or classes: a layer of a model whose layers are not all of one kind, such as 200 bits below one variable of 10
/// classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mixed {
    /// A layer of bits.
    Bits(Bits),
    /// A layer of categorical variables.
    Classes(Classes),
}

/// The bits, or what is none.
impl TryFrom<Mixed> for Bits {
    type Error = Mixed;

    fn try_from(layer: Mixed) -> Result<Self, Mixed> {
        match layer {
            Mixed::Bits(bits) => Ok(bits),
            classes => Err(classes),
        }
    }
}

/// Calls the same method of whichever kind it is.
macro_rules! delegate {
    ($self:ident, $layer:ident => $call:expr) => {
        match $self {
            Mixed::Bits($layer) => $call,
            Mixed::Classes($layer) => $call,
        }
    };
}

impl Variables for Mixed {
    fn logits(&self) -> usize {
        delegate!(self, layer => layer.logits())
    }

    fn values(&self) -> usize {
        delegate!(self, layer => layer.values())
    }

    fn uniforms(&self) -> usize {
        delegate!(self, layer => layer.uniforms())
    }

    fn sample<B: Backend>(&self, logits: Tensor<B, 2>, uniforms: Tensor<B, 2>) -> Values<B> {
        delegate!(self, layer => layer.sample(logits, uniforms))
    }

    fn log_prob<B: Backend>(
        &self,
        logits: Tensor<B, 2>,
        values: impl Into<Values<B>>,
    ) -> Tensor<B, 1> {
        delegate!(self, layer => layer.log_prob(logits, values))
    }

    fn score<B: Backend>(
        &self,
        logits: Tensor<B, 2>,
        values: impl Into<Values<B>>,
    ) -> Tensor<B, 2> {
        delegate!(self, layer => layer.score(logits, values))
    }

    fn mean<B: Backend>(&self, logits: Tensor<B, 2>) -> Tensor<B, 2> {
        delegate!(self, layer => layer.mean(logits))
    }

    fn tangent<B: Backend>(&self, logits: Tensor<B, 2>, m: Tensor<B, 2>) -> Tensor<B, 2> {
        delegate!(self, layer => layer.tangent(logits, m))
    }

    fn logits_of<B: Backend>(&self, m: Tensor<B, 2>) -> Tensor<B, 2> {
        delegate!(self, layer => layer.logits_of(m))
    }
}

impl Relaxable for Mixed {
    fn noisy(&self) -> usize {
        delegate!(self, layer => layer.noisy())
    }

    fn noise<B: Backend>(&self, uniforms: Tensor<B, 2>) -> Tensor<B, 2> {
        delegate!(self, layer => layer.noise(uniforms))
    }

    fn perturb<B: Backend>(&self, logits: Tensor<B, 2>, noise: Tensor<B, 2>) -> Tensor<B, 2> {
        delegate!(self, layer => layer.perturb(logits, noise))
    }

    fn harden<B: Backend>(&self, z: Tensor<B, 2>) -> Tensor<B, 2> {
        delegate!(self, layer => layer.harden(z))
    }

    fn relax<B: Backend>(&self, z: Tensor<B, 2>, temperature: Tensor<B, 2>) -> Tensor<B, 2> {
        delegate!(self, layer => layer.relax(z, temperature))
    }

    fn perturb_given<B: Backend>(
        &self,
        logits: Tensor<B, 2>,
        values: Tensor<B, 2>,
        noise: Tensor<B, 2>,
    ) -> Tensor<B, 2> {
        delegate!(self, layer => layer.perturb_given(logits, values, noise))
    }

    fn noise_given<B: Backend>(
        &self,
        logits: Tensor<B, 2>,
        values: Tensor<B, 2>,
        z: Tensor<B, 2>,
    ) -> Tensor<B, 2> {
        delegate!(self, layer => layer.noise_given(logits, values, z))
    }
}
