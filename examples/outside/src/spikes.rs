//! A net of one's own, with a Poisson likelihood.

use helmholtz::burn::module::{Module, Param, ParamId};
use helmholtz::burn::tensor::backend::Backend as AnyBackend;
use helmholtz::burn::{self, tensor::DType, tensor::Tensor, tensor::TensorData};
use helmholtz::distributions::{Bits, Noise, Variables, uniforms};
use helmholtz::estimators::{Dream, Joint, Layered, Particles, Parts, Proposals, Propose};
use helmholtz::estimators::{propose_layers, score_layers};
use helmholtz::ops::{Backend, Values, linear, log_gamma};
use helmholtz::random::{Purpose, Stream};
use helmholtz::samplers::Latents;

pub const CELLS: usize = 4;
const CAUSES: usize = 3;

/// Spike counts x_v ~ Poisson(exp(c_v + Σ_i h_i W_iv)) of causes h, fair bits; q(h | x) = Bernoulli(σ(V x + b)).
#[derive(Module, Debug)]
pub struct Spikes<B: AnyBackend> {
    recognition: Param<Tensor<B, 2>>,
    recognition_bias: Param<Tensor<B, 1>>,
    rates: Param<Tensor<B, 2>>,
    base: Param<Tensor<B, 1>>,
}

impl<B: Backend> Spikes<B> {
    pub fn new(dtype: DType) -> Self {
        let (mut stream, device) = (
            Stream::new(1, Purpose::new("start"), [0, 0]),
            B::Device::default(),
        );
        let mut numbers =
            |count: usize| -> Vec<f64> { (0..count).map(|_| stream.uniform_f64() - 0.5).collect() };
        let mut matrix = |rows: usize, columns: usize| {
            let data = TensorData::new(numbers(rows * columns), [rows, columns]);
            Param::from_tensor(Tensor::from_data(data, (&device, dtype)))
        };
        let (recognition, rates) = (matrix(CELLS, CAUSES), matrix(CAUSES, CELLS));
        let zeros = |count| Param::from_tensor(Tensor::zeros([count], (&device, dtype)));
        Self {
            recognition,
            recognition_bias: zeros(CAUSES),
            rates,
            base: zeros(CELLS),
        }
    }

    /// ln λ of each row of causes `[rows, cells]`.
    fn log_rates(&self, causes: Values<B>) -> Tensor<B, 2> {
        linear(causes, self.rates.val(), self.base.val())
    }
}

impl<B: Backend> Propose<B> for Spikes<B> {
    type Encoded = Tensor<B, 2>;

    fn latents(&self) -> Latents {
        Latents::new(&[CAUSES]).expect("a layer of bits")
    }

    fn encode(&self, x: impl Into<Values<B>>) -> Tensor<B, 2> {
        linear(x, self.recognition.val(), self.recognition_bias.val())
    }

    fn propose(
        &self,
        logits: &Tensor<B, 2>,
        retained: Option<Particles<B>>,
        count: usize,
        noise: &mut impl Noise,
    ) -> Proposals<B> {
        propose_layers(self, logits, retained, count, noise)
    }

    fn log_q(&self, logits: &Tensor<B, 2>, particles: &Particles<B>) -> Tensor<B, 1> {
        score_layers(self, logits, particles)
    }
}

impl<B: Backend> Layered<B> for Spikes<B> {
    type Variables = Bits;

    fn layers(&self) -> Vec<Bits> {
        vec![Bits(CAUSES)]
    }

    fn logits_above(&self, _level: usize, _below: impl Into<Values<B>>) -> Tensor<B, 2> {
        unreachable!("there is one layer")
    }
}

impl<B: Backend> Joint<B> for Spikes<B> {
    fn log_joint(&self, x: impl Into<Values<B>>, particles: &Particles<B>) -> Tensor<B, 1> {
        let (x, rows): (Values<B>, _) = (x.into(), particles.rows());
        let (x, a) = (
            x.cycle(rows).numbers(),
            self.log_rates(particles.layers()[0].clone()),
        );
        let each = x.clone() * a.clone() - a.exp() - log_gamma(x + 1.0);
        each.sum_dim(1).reshape([rows]) - CAUSES as f64 * 2f64.ln()
    }
}

impl<B: Backend> Dream<B> for Spikes<B> {
    /// By inversion of the Poisson law, up to 100 spikes.
    fn dream(&self, x: impl Into<Values<B>>, noise: &mut impl Noise) -> (Values<B>, Particles<B>) {
        let x: Values<B> = x.into();
        let (rows, dtype, device) = (x.dims()[0], x.dtype(), x.device());
        let causes = Bits(CAUSES).sample(
            Tensor::zeros([rows, CAUSES], (&device, dtype)),
            uniforms([rows, CAUSES], dtype, &device, noise),
        );
        let rate = self.log_rates(causes.clone()).exp();
        let u: Tensor<B, 2> = uniforms([rows, CELLS], dtype, &device, noise);
        let mut term = rate.clone().neg().exp();
        let (mut below, mut count) = (term.clone(), term.zeros_like());
        for spikes in 1..=100 {
            count = count + u.clone().greater_equal(below.clone()).float().cast(dtype);
            term = term * rate.clone() / f64::from(spikes);
            below = below + term.clone();
        }
        (count.detach().into(), Particles::new(vec![causes]))
    }
}

impl<B: Backend> Parts<B> for Spikes<B> {
    fn generative(&self) -> Vec<ParamId> {
        vec![self.rates.id, self.base.id]
    }

    fn inference(&self) -> Vec<ParamId> {
        vec![self.recognition.id, self.recognition_bias.id]
    }
}
