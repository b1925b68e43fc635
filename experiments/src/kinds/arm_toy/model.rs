//! One variable with free logits, many times over.

use burn::module::{Module, Param, ParamId};
use burn::tensor::{DType, Tensor, TensorData, backend::Backend};
use helmholtz_distributions::{Bits, Classes, Noise};
use helmholtz_estimators::{
    Dream, Factored, Joint, Latent, Layered, Particles, Proposals, Propose, propose_layers,
    score_layers,
};
use helmholtz_ops::{AutodiffBackend, Values};
use helmholtz_samplers::Latents;

/// Independent copies of one variable z with free logits, in f64. Each datum of a batch is a copy with its own logits and its own f: one
/// estimate of a batch is an estimate for each of them.
///
/// log p is f + log q with the logits held constant: f does not depend on them.
#[derive(Module, Debug)]
pub struct OneVariable<B: Backend, V: Latent> {
    /// `[copies, logits]`, or one more of a categorical variable.
    free: Param<Tensor<B, 2>>,
    /// f where all values are 0 `[copies, 1]`.
    zero: Tensor<B, 2>,
    /// Rise of f with each value `[copies, values]`.
    rise: Tensor<B, 2>,
    #[module(skip)]
    variable: V,
}

/// One bit z ~ Bernoulli(σ(a)).
pub type OneBit<B> = OneVariable<B, Bits>;

/// One categorical variable z with P(z = c) = softmax(φ)_c.
pub type OneClass<B> = OneVariable<B, Classes>;

/// A matrix of so many rows.
fn matrix<B: Backend>(numbers: Vec<f64>, rows: usize, device: &B::Device) -> Tensor<B, 2> {
    let columns = numbers.len() / rows;
    Tensor::from_data(
        TensorData::new(numbers, [rows, columns]),
        (device, DType::F64),
    )
}

impl<B: Backend> OneVariable<B, Bits> {
    /// With the logit of each copy, and its f(0) and f(1).
    ///
    /// # Panics
    /// If there are not as many tables as logits.
    pub fn new(logits: &[f64], tables: &[[f64; 2]], device: &B::Device) -> Self {
        assert_eq!(logits.len(), tables.len(), "a table for each logit");
        let (zeros, rises) = tables.iter().map(|f| (f[0], f[1] - f[0])).unzip();
        let column = |numbers| matrix(numbers, logits.len(), device);
        Self::with(
            Bits(1),
            column(logits.to_vec()),
            column(zeros),
            column(rises),
        )
    }
}

impl<B: Backend> OneVariable<B, Classes> {
    /// So many copies with these logits, one a class, and this f(0), …, f(C − 1).
    ///
    /// # Panics
    /// If there are not as many values as logits.
    pub fn new(logits: &[f64], values: &[f64], copies: usize, device: &B::Device) -> Self {
        assert_eq!(values.len(), logits.len(), "a value for each logit");
        let variable = Classes {
            variables: 1,
            classes: values.len(),
        };
        let repeated = |row: &[f64]| matrix(row.repeat(copies), copies, device);
        Self::with(
            variable,
            repeated(logits),
            repeated(&[0.0]),
            repeated(values),
        )
    }
}

impl<B: Backend, V: Latent> OneVariable<B, V> {
    fn with(variable: V, free: Tensor<B, 2>, zero: Tensor<B, 2>, rise: Tensor<B, 2>) -> Self {
        let free = Param::initialized(ParamId::from(1), free);
        Self {
            free: free.set_require_grad(true),
            zero,
            rise,
            variable,
        }
    }

    /// A batch with a datum for each copy `[copies, 1]`; there is nothing in it to see.
    pub fn data(&self) -> Tensor<B, 2> {
        self.zero.zeros_like()
    }

    /// The logits as the variable takes them, those of classes less that of the first: `[copies, logits]`.
    fn logits(&self) -> Tensor<B, 2> {
        let (free, logits) = (self.free.val(), self.variable.logits());
        match free.dims()[1] == logits {
            true => free,
            false => free.clone().narrow(1, 1, logits) - free.narrow(1, 0, 1),
        }
    }
}

impl<B: AutodiffBackend, V: Latent> OneVariable<B, V> {
    /// Returns what an estimate with this surrogate loss ascends: the estimates of ∂ E f in the free logits of each copy, one copy after
    /// the other.
    pub fn ascended(&self, loss: &Tensor<B, 1>) -> Vec<f64> {
        let free = self.free.val();
        // The loss is a mean over the batch.
        let copies = free.dims()[0] as f64;
        let gradient = free.grad(&loss.backward());
        let gradient = gradient.expect("the loss depends on the logits");
        let gradient = gradient.into_data();
        gradient.iter::<f64>().map(|g| -copies * g).collect()
    }
}

impl<B: helmholtz_ops::Backend, V: Latent> Propose<B> for OneVariable<B, V> {
    type Encoded = Tensor<B, 2>;

    fn latents(&self) -> Latents {
        Latents::mixed(&[self.variable.layer()]).expect("a layer of one variable")
    }

    fn encode(&self, _x: impl Into<Values<B>>) -> Tensor<B, 2> {
        self.logits()
    }

    fn propose(
        &self,
        encoded: &Tensor<B, 2>,
        retained: Option<Particles<B>>,
        particles: usize,
        noise: &mut impl Noise,
    ) -> Proposals<B> {
        propose_layers(self, encoded, retained, particles, noise)
    }

    fn log_q(&self, encoded: &Tensor<B, 2>, particles: &Particles<B>) -> Tensor<B, 1> {
        score_layers(self, encoded, particles)
    }
}

impl<B: helmholtz_ops::Backend, V: Latent> Layered<B> for OneVariable<B, V> {
    type Variables = V;

    fn layers(&self) -> Vec<V> {
        vec![self.variable]
    }

    fn logits_above(&self, _level: usize, _below: impl Into<Values<B>>) -> Tensor<B, 2> {
        unreachable!("there is one layer")
    }
}

impl<B: helmholtz_ops::Backend, V: Latent> Joint<B> for OneVariable<B, V> {
    fn log_joint(&self, x: impl Into<Values<B>>, particles: &Particles<B>) -> Tensor<B, 1> {
        let values = particles.layers()[0].clone();
        let held = self.logits().detach();
        self.log_likelihood(x, particles) + self.variable.log_prob(held, values)
    }
}

impl<B: helmholtz_ops::Backend, V: Latent> Factored<B> for OneVariable<B, V> {
    /// f.
    fn log_likelihood(&self, _x: impl Into<Values<B>>, particles: &Particles<B>) -> Tensor<B, 1> {
        let values = particles.layers()[0].numbers();
        let (rows, copies) = (values.dims()[0], self.zero.dims()[0]);
        let cyclic = |of: &Tensor<B, 2>| of.clone().repeat_dim(0, rows / copies);
        let f = cyclic(&self.zero) + (cyclic(&self.rise) * values).sum_dim(1);
        f.reshape([rows])
    }

    fn prior_logits(&self, _x: impl Into<Values<B>>, _: &Particles<B>) -> Vec<Tensor<B, 2>> {
        vec![self.logits().detach()]
    }
}

impl<B: helmholtz_ops::Backend, V: Latent> Dream<B> for OneVariable<B, V> {
    fn dream(
        &self,
        _x: impl Into<Values<B>>,
        _noise: &mut impl Noise,
    ) -> (Values<B>, Particles<B>) {
        unreachable!("f is no density to dream from; no estimator here sleeps")
    }
}
