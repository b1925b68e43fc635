//! A model whose f is a polynomial in one-hot classes.

use burn::module::{Module, Param, ParamId};
use burn::tensor::{DType, Tensor, TensorData, backend::Backend};
use helmholtz_distributions::{Classes, Noise, Variables, uniforms};
use helmholtz_estimators::{Joint, Layered, Particles, Proposals, Propose};
use helmholtz_ops::Values;
use helmholtz_samplers::{Latents, Layer};

/// One layer of variables of C classes with free, pinned logits, and f(z) = c·z + zᵀ Q z: log p is f + log q with the logits
/// held constant, so that f does not depend on them. What [`Toy`](crate::Toy) is for bits.
#[derive(Module, Debug)]
pub struct Choice<B: Backend> {
    logits: Param<Tensor<B, 2>>,
    linear: Param<Tensor<B, 2>>,
    quadratic: Param<Tensor<B, 2>>,
    classes: usize,
}

impl<B: Backend> Choice<B> {
    /// With these logits φ, C − 1 a variable, c, and Q row by row.
    pub fn new(classes: usize, logits: &[f64], linear: &[f64], quadratic: &[f64]) -> Self {
        let values = linear.len();
        let constant = |id: u64, numbers: &[f64], shape: [usize; 2]| {
            let data = TensorData::new(numbers.to_vec(), shape);
            let tensor = Tensor::from_data(data, (&Default::default(), DType::F64));
            Param::initialized(ParamId::from(id), tensor)
        };
        Self {
            logits: constant(1, logits, [1, logits.len()]).set_require_grad(true),
            linear: constant(2, linear, [values, 1]),
            quadratic: constant(3, quadratic, [values, values]),
            classes,
        }
    }

    fn variables(&self) -> Classes {
        Classes {
            variables: self.linear.dims()[0] / self.classes,
            classes: self.classes,
        }
    }
}

impl<B: helmholtz_ops::Backend> Propose<B> for Choice<B> {
    type Encoded = Tensor<B, 2>;

    fn latents(&self) -> Latents {
        let Classes { variables, classes } = self.variables();
        let layer = Layer::Categorical {
            variables,
            classes: classes as u32,
        };
        Latents::mixed(&[layer]).expect("a layer of classes")
    }

    fn encode(&self, x: impl Into<Values<B>>) -> Tensor<B, 2> {
        let x: Values<B> = x.into();
        let logits = self.logits.val();
        let columns = logits.dims()[1];
        logits.expand([x.dims()[0], columns])
    }

    fn propose(
        &self,
        encoded: &Tensor<B, 2>,
        _retained: Option<Particles<B>>,
        particles: usize,
        noise: &mut impl Noise,
    ) -> Proposals<B> {
        let shape = [particles * encoded.dims()[0], self.variables().uniforms()];
        let noise = uniforms(shape, DType::F64, &encoded.device(), noise);
        let particles = Particles::new(vec![self.variables().sample(encoded.clone(), noise)]);
        Proposals {
            log_q: self.log_q(encoded, &particles),
            particles,
        }
    }

    fn log_q(&self, encoded: &Tensor<B, 2>, particles: &Particles<B>) -> Tensor<B, 1> {
        let values = particles.layers()[0].clone();
        self.variables().log_prob(encoded.clone(), values)
    }
}

impl<B: helmholtz_ops::Backend> Layered<B> for Choice<B> {
    type Variables = Classes;

    fn layers(&self) -> Vec<Classes> {
        vec![self.variables()]
    }

    fn logits_above(&self, _level: usize, _below: impl Into<Values<B>>) -> Tensor<B, 2> {
        unreachable!("there is one layer")
    }
}

impl<B: helmholtz_ops::Backend> Joint<B> for Choice<B> {
    fn log_joint(&self, _x: impl Into<Values<B>>, particles: &Particles<B>) -> Tensor<B, 1> {
        let z = particles.layers()[0].numbers();
        let rows = z.dims()[0];
        let linear = z.clone().matmul(self.linear.val()).reshape([rows]);
        let quadratic = (z.clone().matmul(self.quadratic.val()) * z.clone()).sum_dim(1);
        let constant = self.logits.val().detach();
        linear + quadratic.reshape([rows]) + self.variables().log_prob(constant, z)
    }
}
