//! A net of one's own, with a Poisson likelihood.

use helmholtz::burn::module::Module;
use helmholtz::burn::tensor::backend::Backend as AnyBackend;
use helmholtz::burn::{self, backend::Autodiff, tensor::DType, tensor::Tensor};
use helmholtz::distributions::{LogProb, Poisson, SampleReal};
use helmholtz::estimators::{OneLayer, one_layer};
use helmholtz::nets::{Activation, Initialisation, Initialiser, Net};
use helmholtz::ops::{Backend, Values};
use helmholtz::random::Stream;
use helmholtz::program::Artifacts;
use helmholtz::program::nets::{Failed, NetConfig};

/// Spike counts x ~ Poisson(exp(W h + c)) of causes h, fair bits; q(h | x) = Bernoulli(σ(V x + b)).
#[derive(Module, Debug)]
pub struct Spikes<B: AnyBackend> {
    encoder: Net<B>,
    decoder: Net<B>,
}

one_layer!(Spikes { generative: decoder; inference: encoder });

/// Its sizes.
#[derive(Clone, Debug)]
pub struct Sizes {
    pub cells: usize,
    pub causes: usize,
}

impl Sizes {
    pub fn model<B: Backend>(&self, seed: u64, dtype: DType, device: &B::Device) -> Spikes<B> {
        let mut draw = Initialiser::new(seed, dtype, device);
        let mut net = |sizes| draw.net(sizes, Activation::LeakyRelu(0.0), Initialisation::FanIn);
        Spikes {
            encoder: net(&[self.cells, self.causes]),
            decoder: net(&[self.causes, self.cells]),
        }
    }
}

impl<B: Backend> OneLayer<B> for Spikes<B> {
    fn bits(&self) -> usize {
        self.decoder.layers()[0].weight.dims()[0]
    }

    fn posterior(&self, x: Values<B>) -> Tensor<B, 2> {
        self.encoder.of(x)
    }

    fn likelihood(&self, x: Values<B>, h: Values<B>) -> Tensor<B, 1> {
        let rate = self.decoder.of(h).exp();
        let each = Poisson { rate }.log_prob(x.numbers());
        each.sum_dim(1).squeeze_dim(1)
    }

    fn sample(&self, h: Values<B>, draws: &mut Stream) -> Tensor<B, 2> {
        let rate = self.decoder.of(h).exp();
        let shape = rate.dims();
        Poisson { rate }.sample(shape, draws)
    }
}

impl<B: Backend> Artifacts<B> for Spikes<Autodiff<B>> {}

impl NetConfig for Sizes {
    type Model<B: Backend> = Spikes<Autodiff<B>>;
    const ANY_NUMBERS: bool = true;

    fn of_width(self, cells: usize) -> Self {
        Self { cells, ..self }
    }

    fn values(&self) -> usize {
        self.cells + self.causes
    }

    fn init<B: Backend>(&self, seed: u64, device: &B::Device) -> Result<Self::Model<B>, Failed> {
        Ok(self.model(seed, DType::F32, device))
    }
}
