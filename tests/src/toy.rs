//! A model whose f is a polynomial in its bits.

use burn::module::{Module, Param, ParamId};
use burn::tensor::{DType, Tensor, TensorData, backend::Backend};
use helmholtz_distributions::{Bits, Noise, uniforms};
use helmholtz_estimators::{Joint, Layered, Particles, Proposals, Propose};
use helmholtz_ops::{Values, bernoulli_log_prob, sample_bernoulli};
use helmholtz_samplers::Latents;

/// One layer of bits with free logits, q(h) = Π σ(a)..., and f(h) = c·h + hᵀ Q h: log p is f + log q with the logits held
/// constant, so that f does not depend on them.
#[derive(Module, Debug)]
pub struct Toy<B: Backend> {
    logits: Param<Tensor<B, 2>>,
    linear: Param<Tensor<B, 2>>,
    quadratic: Param<Tensor<B, 2>>,
}

impl<B: Backend> Toy<B> {
    /// With these logits a, c, and Q row by row.
    pub fn new(logits: &[f64], linear: &[f64], quadratic: &[f64]) -> Self {
        let bits = logits.len();
        let constant = |id: u64, values: &[f64], shape: [usize; 2]| {
            let data = TensorData::new(values.to_vec(), shape);
            let tensor = Tensor::from_data(data, (&Default::default(), DType::F64));
            Param::initialized(ParamId::from(id), tensor)
        };
        Self {
            logits: constant(1, logits, [1, bits]).set_require_grad(true),
            linear: constant(2, linear, [bits, 1]),
            quadratic: constant(3, quadratic, [bits, bits]),
        }
    }

    /// The logits.
    pub fn logits(&self) -> Tensor<B, 2> {
        self.logits.val()
    }
}

impl<B: helmholtz_ops::Backend> Propose<B> for Toy<B> {
    type Encoded = Tensor<B, 2>;

    fn latents(&self) -> Latents {
        Latents::new(&[self.logits.dims()[1]]).expect("a layer of bits")
    }

    fn encode(&self, x: impl Into<Values<B>>) -> Tensor<B, 2> {
        let x: Values<B> = x.into();
        self.logits.val().repeat_dim(0, x.dims()[0])
    }

    fn propose(
        &self,
        encoded: &Tensor<B, 2>,
        _retained: Option<Particles<B>>,
        particles: usize,
        noise: &mut impl Noise,
    ) -> Proposals<B> {
        let [batch, bits] = encoded.dims();
        let noise = uniforms(
            [particles * batch, bits],
            DType::F64,
            &encoded.device(),
            noise,
        );
        let particles = Particles::new(vec![sample_bernoulli(encoded.clone(), noise)]);
        Proposals {
            log_q: self.log_q(encoded, &particles),
            particles,
        }
    }

    fn log_q(&self, encoded: &Tensor<B, 2>, particles: &Particles<B>) -> Tensor<B, 1> {
        bernoulli_log_prob(encoded.clone(), particles.layers()[0].clone())
    }
}

impl<B: helmholtz_ops::Backend> Layered<B> for Toy<B> {
    type Variables = Bits;

    fn layers(&self) -> Vec<Bits> {
        vec![Bits(self.logits.dims()[1])]
    }

    fn logits_above(&self, _level: usize, _below: impl Into<Values<B>>) -> Tensor<B, 2> {
        unreachable!("there is one layer")
    }
}

impl<B: helmholtz_ops::Backend> Joint<B> for Toy<B> {
    fn log_joint(&self, _x: impl Into<Values<B>>, particles: &Particles<B>) -> Tensor<B, 1> {
        let h = particles.layers()[0].numbers();
        let rows = h.dims()[0];
        let linear = h.clone().matmul(self.linear.val()).reshape([rows]);
        let quadratic = (h.clone().matmul(self.quadratic.val()) * h.clone()).sum_dim(1);
        let constant = self.logits.val().detach();
        linear + quadratic.reshape([rows]) + bernoulli_log_prob(constant, h)
    }
}
