//! One bit with a free logit, many times over.

use burn::module::{Module, Param, ParamId};
use burn::tensor::{DType, Tensor, TensorData, backend::Backend};
use helmholtz_distributions::{Bits, Noise, Variables, uniforms};
use helmholtz_estimators::{Dream, Joint, Layered, Particles, Proposals, Propose};
use helmholtz_ops::{AutodiffBackend, Values};
use helmholtz_samplers::Latents;

/// The variable of each copy.
const BIT: Bits = Bits(1);

/// Independent copies of one bit z ~ Bernoulli(σ(a)), in f64. Each datum of a batch is a copy with its own logit a and its own f(0), f(1):
/// one estimate of a batch is an estimate for each of them.
///
/// log p is f + log q with the logit held constant: f does not depend on a.
#[derive(Module, Debug)]
pub struct OneBit<B: Backend> {
    logits: Param<Tensor<B, 2>>,
    /// f(0) `[copies, 1]`.
    zero: Tensor<B, 2>,
    /// f(1) − f(0) `[copies, 1]`.
    rise: Tensor<B, 2>,
}

impl<B: Backend> OneBit<B> {
    /// With the logit of each copy, and its f(0) and f(1).
    ///
    /// # Panics
    /// If there are not as many tables as logits.
    pub fn new(logits: &[f64], tables: &[[f64; 2]], device: &B::Device) -> Self {
        assert_eq!(logits.len(), tables.len(), "a table for each logit");
        let column = |values: Vec<f64>| {
            let data = TensorData::new(values, [logits.len(), 1]);
            Tensor::from_data(data, (device, DType::F64))
        };
        let a = Param::initialized(ParamId::from(1), column(logits.to_vec()));
        Self {
            logits: a.set_require_grad(true),
            zero: column(tables.iter().map(|f| f[0]).collect()),
            rise: column(tables.iter().map(|f| f[1] - f[0]).collect()),
        }
    }

    /// A batch with a datum for each copy `[copies, 1]`; there is nothing in it to see.
    pub fn data(&self) -> Tensor<B, 2> {
        self.zero.zeros_like()
    }
}

impl<B: AutodiffBackend> OneBit<B> {
    /// Returns what an estimate with this surrogate loss ascends, for each copy: the estimate of ∂ E f / ∂a.
    pub fn ascended(&self, loss: &Tensor<B, 1>) -> Vec<f64> {
        let logits = self.logits.val();
        let gradient = logits.grad(&loss.backward());
        let gradient = gradient
            .expect("the loss depends on the logits")
            .into_data();
        // The loss is a mean over the batch.
        let copies = gradient.num_elements() as f64;
        gradient.iter::<f64>().map(|g| -copies * g).collect()
    }
}

impl<B: helmholtz_ops::Backend> Propose<B> for OneBit<B> {
    type Encoded = Tensor<B, 2>;

    fn latents(&self) -> Latents {
        Latents::new(&[1]).expect("a layer of bits")
    }

    fn encode(&self, _x: impl Into<Values<B>>) -> Tensor<B, 2> {
        self.logits.val()
    }

    fn propose(
        &self,
        encoded: &Tensor<B, 2>,
        _retained: Option<Particles<B>>,
        particles: usize,
        noise: &mut impl Noise,
    ) -> Proposals<B> {
        let rows = particles * encoded.dims()[0];
        let noise = uniforms([rows, 1], encoded.dtype(), &encoded.device(), noise);
        let particles = Particles::new(vec![BIT.sample(encoded.clone(), noise)]);
        Proposals {
            log_q: self.log_q(encoded, &particles),
            particles,
        }
    }

    fn log_q(&self, encoded: &Tensor<B, 2>, particles: &Particles<B>) -> Tensor<B, 1> {
        BIT.log_prob(encoded.clone(), particles.layers()[0].clone())
    }
}

impl<B: helmholtz_ops::Backend> Layered<B> for OneBit<B> {
    type Variables = Bits;

    fn layers(&self) -> Vec<Bits> {
        vec![BIT]
    }

    fn logits_above(&self, _level: usize, _below: impl Into<Values<B>>) -> Tensor<B, 2> {
        unreachable!("there is one layer")
    }
}

impl<B: helmholtz_ops::Backend> Joint<B> for OneBit<B> {
    fn log_joint(&self, _x: impl Into<Values<B>>, particles: &Particles<B>) -> Tensor<B, 1> {
        let bits = particles.layers()[0].numbers();
        let (rows, copies) = (bits.dims()[0], self.zero.dims()[0]);
        let cyclic = |column: &Tensor<B, 2>| {
            let column = column.clone().reshape([1, copies, 1]);
            column.expand([rows / copies, copies, 1]).reshape([rows, 1])
        };
        let f = cyclic(&self.zero) + cyclic(&self.rise) * bits.clone();
        f.reshape([rows]) + BIT.log_prob(self.logits.val().detach(), bits)
    }
}

impl<B: helmholtz_ops::Backend> Dream<B> for OneBit<B> {
    fn dream(
        &self,
        _x: impl Into<Values<B>>,
        _noise: &mut impl Noise,
    ) -> (Values<B>, Particles<B>) {
        unreachable!("f is no density to dream from; no estimator here sleeps")
    }
}
