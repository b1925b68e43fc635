//! One categorical variable with free logits, many times over.

use burn::module::{Module, Param, ParamId};
use burn::tensor::{DType, Tensor, TensorData, backend::Backend};
use helmholtz_distributions::{Classes, Noise, Variables, uniforms};
use helmholtz_estimators::{Dream, Joint, Latent, Layered, Particles, Proposals, Propose};
use helmholtz_ops::{AutodiffBackend, Values};
use helmholtz_samplers::Latents;

/// Independent copies of one variable z with P(z = c) = softmax(φ)_c, in f64. Each datum of a batch is a copy with its own logits φ,
/// one a class, and all have the same f(0), …, f(C − 1).
///
/// log p is f + log q with the logits held constant: f does not depend on φ.
#[derive(Module, Debug)]
pub struct OneClass<B: Backend> {
    /// `[copies, C]`.
    logits: Param<Tensor<B, 2>>,
    /// f of each class `[C, 1]`.
    values: Tensor<B, 2>,
}

impl<B: Backend> OneClass<B> {
    /// So many copies with these logits and this f.
    ///
    /// # Panics
    /// If there are not as many values as logits.
    pub fn new(logits: &[f64], values: &[f64], copies: usize, device: &B::Device) -> Self {
        let classes = logits.len();
        assert_eq!(values.len(), classes, "a value for each logit");
        let tensor = |numbers: Vec<f64>, shape: [usize; 2]| {
            Tensor::from_data(TensorData::new(numbers, shape), (device, DType::F64))
        };
        let logits = tensor(logits.repeat(copies), [copies, classes]);
        Self {
            logits: Param::initialized(ParamId::from(1), logits).set_require_grad(true),
            values: tensor(values.to_vec(), [classes, 1]),
        }
    }

    fn variable(&self) -> Classes {
        Classes {
            variables: 1,
            classes: self.values.dims()[0],
        }
    }

    /// A batch with a datum for each copy `[copies, 1]`; there is nothing in it to see.
    pub fn data(&self) -> Tensor<B, 2> {
        self.logits.val().narrow(1, 0, 1).zeros_like()
    }

    /// The logits less that of the first class, which is how a variable takes them: `[copies, C − 1]`.
    fn pinned(&self) -> Tensor<B, 2> {
        let (logits, others) = (self.logits.val(), self.values.dims()[0] - 1);
        logits.clone().narrow(1, 1, others) - logits.narrow(1, 0, 1)
    }
}

impl<B: AutodiffBackend> OneClass<B> {
    /// Returns what an estimate with this surrogate loss ascends: the estimates of ∂ E f / ∂φ of each copy, one after the other.
    pub fn ascended(&self, loss: &Tensor<B, 1>) -> Vec<f64> {
        let logits = self.logits.val();
        // The loss is a mean over the batch.
        let copies = logits.dims()[0] as f64;
        let gradient = logits.grad(&loss.backward());
        let gradient = gradient.expect("the loss depends on the logits");
        let gradient = gradient.into_data();
        gradient.iter::<f64>().map(|g| -copies * g).collect()
    }
}

impl<B: helmholtz_ops::Backend> Propose<B> for OneClass<B> {
    type Encoded = Tensor<B, 2>;

    fn latents(&self) -> Latents {
        Latents::mixed(&[self.variable().layer()]).expect("a variable of classes")
    }

    fn encode(&self, _x: impl Into<Values<B>>) -> Tensor<B, 2> {
        self.pinned()
    }

    fn propose(
        &self,
        encoded: &Tensor<B, 2>,
        _retained: Option<Particles<B>>,
        particles: usize,
        noise: &mut impl Noise,
    ) -> Proposals<B> {
        let variable = self.variable();
        let shape = [particles * encoded.dims()[0], variable.uniforms()];
        let noise = uniforms(shape, encoded.dtype(), &encoded.device(), noise);
        let particles = Particles::new(vec![variable.sample(encoded.clone(), noise)]);
        Proposals {
            log_q: self.log_q(encoded, &particles),
            particles,
        }
    }

    fn log_q(&self, encoded: &Tensor<B, 2>, particles: &Particles<B>) -> Tensor<B, 1> {
        let variable = self.variable();
        variable.log_prob(encoded.clone(), particles.layers()[0].clone())
    }
}

impl<B: helmholtz_ops::Backend> Layered<B> for OneClass<B> {
    type Variables = Classes;

    fn layers(&self) -> Vec<Classes> {
        vec![self.variable()]
    }

    fn logits_above(&self, _level: usize, _below: impl Into<Values<B>>) -> Tensor<B, 2> {
        unreachable!("there is one layer")
    }
}

impl<B: helmholtz_ops::Backend> Joint<B> for OneClass<B> {
    fn log_joint(&self, _x: impl Into<Values<B>>, particles: &Particles<B>) -> Tensor<B, 1> {
        let one_hot = particles.layers()[0].numbers();
        let rows = one_hot.dims()[0];
        let f = one_hot.clone().matmul(self.values.clone()).reshape([rows]);
        f + self.variable().log_prob(self.pinned().detach(), one_hot)
    }
}

impl<B: helmholtz_ops::Backend> Dream<B> for OneClass<B> {
    fn dream(
        &self,
        _x: impl Into<Values<B>>,
        _noise: &mut impl Noise,
    ) -> (Values<B>, Particles<B>) {
        unreachable!("f is no density to dream from; no estimator here sleeps")
    }
}
