//! Latents that an exponential race draws.

use burn::tensor::Tensor;
use helmholtz_distributions::{Bits, Classes, Mixed, Relaxable, Variables};
use helmholtz_ops::{Backend, cat};

/// Variables that are drawn as z = argmin_i (ln π_i − φ_i), π ~ Dirichlet(1, …, 1) for each.
pub trait Race: Variables {
    /// The same variables as classes; bits have two, a one is the second.
    fn classes(&self) -> Classes;

    /// Uniforms that π of a row takes.
    fn simplex_uniforms(&self) -> usize;

    /// π `[N, V C]` from uniforms, strictly inside the simplex.
    fn simplex<B: Backend>(&self, uniforms: Tensor<B, 2>) -> Tensor<B, 2>;

    /// Values `[N, values]` of one-hot classes `[N, V C]`.
    fn values_of<B: Backend>(&self, one_hot: Tensor<B, 2>) -> Tensor<B, 2>;
}

impl Race for Classes {
    fn classes(&self) -> Classes {
        *self
    }

    fn simplex_uniforms(&self) -> usize {
        self.values()
    }

    /// Exponential numbers over their sum.
    fn simplex<B: Backend>(&self, uniforms: Tensor<B, 2>) -> Tensor<B, 2> {
        let rows = uniforms.dims()[0];
        let exponential = self.noise(uniforms);
        let exponential = exponential.reshape([rows, self.variables, self.classes]);
        let total = exponential.clone().sum_dim(2).expand(exponential.dims());
        (exponential / total).reshape([rows, self.values()])
    }

    fn values_of<B: Backend>(&self, one_hot: Tensor<B, 2>) -> Tensor<B, 2> {
        one_hot
    }
}

impl Race for Bits {
    fn classes(&self) -> Classes {
        Classes {
            variables: self.0,
            classes: 2,
        }
    }

    fn simplex_uniforms(&self) -> usize {
        self.0
    }

    /// (1 − u, u): a one iff u < σ(a).
    fn simplex<B: Backend>(&self, uniforms: Tensor<B, 2>) -> Tensor<B, 2> {
        let u = uniforms.clamp_min(1e-30);
        let pair = [u.clone().neg().add_scalar(1.0), u];
        cat(pair.map(|u| u.unsqueeze_dim::<3>(2)).into(), 2).flatten(1, 2)
    }

    fn values_of<B: Backend>(&self, one_hot: Tensor<B, 2>) -> Tensor<B, 2> {
        let rows = one_hot.dims()[0];
        let pairs = one_hot.reshape([rows, self.0, 2]);
        pairs.narrow(2, 1, 1).reshape([rows, self.0])
    }
}

impl Race for Mixed {
    fn classes(&self) -> Classes {
        match self {
            Self::Bits(bits) => bits.classes(),
            Self::Classes(classes) => *classes,
        }
    }

    fn simplex_uniforms(&self) -> usize {
        match self {
            Self::Bits(bits) => bits.simplex_uniforms(),
            Self::Classes(classes) => classes.simplex_uniforms(),
        }
    }

    fn simplex<B: Backend>(&self, uniforms: Tensor<B, 2>) -> Tensor<B, 2> {
        match self {
            Self::Bits(bits) => bits.simplex(uniforms),
            Self::Classes(classes) => classes.simplex(uniforms),
        }
    }

    fn values_of<B: Backend>(&self, one_hot: Tensor<B, 2>) -> Tensor<B, 2> {
        match self {
            Self::Bits(bits) => bits.values_of(one_hot),
            Self::Classes(classes) => classes.values_of(one_hot),
        }
    }
}
