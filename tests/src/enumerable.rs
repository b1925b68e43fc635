//! What a model must offer to be enumerated.

use std::fmt::Debug;
use std::ops::Range;

use burn::module::Module;
use burn::tensor::DType;
use helmholtz_estimators::{Dream, Joint, Layered};
use helmholtz_ops::Backend;
use helmholtz_samplers::Latents;

/// A latent state: the values of each stochastic layer, nearest the data first, as tensors hold them.
pub type State = Vec<Vec<f64>>;

/// p(x, h) and q(h | x) in plain `f64`, with so few latents that all can be listed, beside the production model that they are
/// held against.
///
/// All parameters lie in one flat vector, in the order in which the production model visits its own: those of q first.
/// Gradients are flat the same way.
pub trait Enumerable: Clone + Debug {
    /// The production model.
    type Production<B: Backend>: Module<B> + Layered<B> + Joint<B> + Dream<B>;

    /// A production model of the same sizes, with any parameters.
    fn production<B: Backend>(&self, dtype: DType) -> Self::Production<B>;

    /// The flat parameters.
    fn parameters(&self) -> &[f64];

    /// The same model with other parameters.
    fn with_parameters(&self, parameters: Vec<f64>) -> Self;

    /// The parameters of q among the flat ones.
    fn phi(&self) -> Range<usize>;

    /// The parameters of p among the flat ones.
    fn theta(&self) -> Range<usize> {
        self.phi().end..self.parameters().len()
    }

    /// Bits of x.
    fn visible(&self) -> usize;

    /// Every x.
    fn observations(&self) -> Vec<Vec<f64>> {
        bits(self.visible())
    }

    /// Every x that can be dreamt in the place of a datum.
    fn dreamt_beside(&self, _x: &[f64]) -> Vec<Vec<f64>> {
        self.observations()
    }

    /// The layout of a state.
    fn latents(&self) -> Latents;

    /// Every state, the first variable of the layer nearest the data changing fastest.
    fn states(&self) -> Vec<State>;

    /// log q(h | x), nats, and its gradient.
    fn log_q(&self, x: &[f64], h: &State) -> (f64, Vec<f64>);

    /// log p(x, h), nats, and its gradient.
    fn log_p(&self, x: &[f64], h: &State) -> (f64, Vec<f64>);

    /// The intervals of uniforms that propose h for x, layer by layer.
    fn proposing(&self, x: &[f64], h: &State) -> Vec<Vec<Range<f64>>>;

    /// The intervals of uniforms that dream (x, h), from the top layer down to x.
    fn dreaming(&self, x: &[f64], h: &State) -> Vec<Vec<Range<f64>>>;
}

/// Every vector of `count` bits; bit i of the index is entry i.
pub fn bits(count: usize) -> Vec<Vec<f64>> {
    let row = |index: usize| (0..count).map(move |i| (index >> i & 1) as f64).collect();
    (0..1 << count).map(row).collect()
}

/// The intervals that draw bits with these probabilities of ones: [0, p) a one, [p, 1) a zero.
pub(crate) fn of_bits(ones: &[f64], bits: &[f64]) -> Vec<Range<f64>> {
    let pairs = ones.iter().zip(bits);
    let interval = |(&p, &bit)| if bit == 1.0 { 0.0..p } else { p..1.0 };
    pairs.map(interval).collect()
}
