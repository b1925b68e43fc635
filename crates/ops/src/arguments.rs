//! What operations take and give beside tensors.

use burn::tensor::backend::Backend;
use burn::tensor::ops::FloatTensor;

/// The scalars of one Adam update (Kingma & Ba 2015, algorithm 1).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdamStep {
    /// Learning rate α.
    pub learning_rate: f64,
    /// Decay β₁ of the first moment.
    pub beta_1: f64,
    /// Decay β₂ of the second moment.
    pub beta_2: f64,
    /// ε, added to the root of the corrected second moment.
    pub epsilon: f64,
    /// The number t ≥ 1 of this update.
    pub time: u64,
}

impl AdamStep {
    /// 1 − β₁ᵗ and 1 − β₂ᵗ.
    pub(crate) fn bias_corrections(&self) -> (f64, f64) {
        let power = |beta: f64| 1.0 - beta.powf(self.time as f64);
        (power(self.beta_1), power(self.beta_2))
    }
}

/// The gradients of a linear layer, as far as they were asked for.
pub struct LinearGradients<B: Backend> {
    /// In x.
    pub input: Option<FloatTensor<B>>,
    /// In W and b.
    pub parameters: Option<(FloatTensor<B>, FloatTensor<B>)>,
}

/// What is between the layers of a net, element by element.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Activation {
    /// tanh.
    Tanh,
    /// max(x, 0) + slope · min(x, 0), for a slope ≥ 0; its derivative at 0 is the slope.
    LeakyRelu(f64),
}

/// The gradients of a net of one hidden layer.
pub struct PerceptronGradients<B: Backend> {
    /// In x, if it was asked for.
    pub input: Option<FloatTensor<B>>,
    /// In the weights, in their order.
    pub weights: [FloatTensor<B>; 4],
}

/// The gradients of additive scores in all that they are made of.
pub struct AdditiveGradients<B: Backend> {
    /// In the queries `[R, N, H]`.
    pub queries: FloatTensor<B>,
    /// In the keys `[G, M, H]`.
    pub keys: FloatTensor<B>,
    /// In the weights `[H]`.
    pub weights: FloatTensor<B>,
}

/// The gradients of log-densities of data under their own normals.
pub struct OwnNormalGradients<B: Backend> {
    /// In the values `[R, N, D]`, if it was asked for.
    pub values: Option<FloatTensor<B>>,
    /// In the means and the precisions `[G, M, D]`.
    pub normals: [FloatTensor<B>; 2],
}
