//! The production path, from chosen uniforms to numbers.

use burn::module::{Module, ModuleMapper, ModuleVisitor, Param};
use burn::tensor::{DType, Tensor, TensorData};
use burn_flex::Flex;
use helmholtz_distributions::Noise;
use helmholtz_estimators::{
    Chains, Dream, Estimate, Joint, Layered, Learned, Method, Model, Propose, Weighting, estimate,
};
use helmholtz_invariance::gradients::held;
use helmholtz_ops::Values;
use helmholtz_random::{Chance, Purpose, Stream};
use helmholtz_samplers::{ChainStore, Info};

use crate::{Chosen, Enumerable, Reference, State};

pub use helmholtz_invariance::gradients::{Tape, flat_gradient};

/// The backend without a tape.
pub type Inner = Flex;

/// The production model with the reference's parameters.
pub fn build<B: helmholtz_ops::Backend, R: Enumerable>(
    reference: &R,
    dtype: DType,
) -> R::Production<B> {
    struct Fill<'a>(&'a [f64], DType);
    impl<B: helmholtz_ops::Backend> ModuleMapper<B> for Fill<'_> {
        fn map_float<const D: usize>(&mut self, param: Param<Tensor<B, D>>) -> Param<Tensor<B, D>> {
            param.map(|tensor| {
                let (own, rest) = self.0.split_at(tensor.shape().num_elements());
                self.0 = rest;
                let data = TensorData::new(own.to_vec(), tensor.shape());
                Tensor::from_data(data, (&tensor.device(), self.1)).require_grad()
            })
        }
    }
    let mut fill = Fill(reference.parameters(), dtype);
    let model = reference.production(dtype).map(&mut fill);
    assert!(fill.0.is_empty(), "as many parameters as the reference has");
    model
}

/// All parameters of a module in one vector, in visiting order.
pub fn flat_parameters<B: burn::tensor::backend::Backend, M: Module<B>>(model: &M) -> Vec<f64> {
    struct Collect(Vec<f64>);
    impl<B: burn::tensor::backend::Backend> ModuleVisitor<B> for Collect {
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<B, D>>) {
            self.0.extend(param.val().into_data().iter::<f64>());
        }
    }
    let mut collect = Collect(vec![]);
    model.visit(&mut collect);
    collect.0
}

/// What one production estimate gave.
#[derive(Clone, Debug)]
pub struct Step {
    /// What the optimiser ascends: minus the gradient of the loss, flat.
    pub gradient: Vec<f64>,
    /// The value of the surrogate loss.
    pub loss: f64,
    /// The estimate of the ELBO.
    pub elbo: f64,
    /// Rows with a coefficient.
    pub live_rows: usize,
    /// The kernel's diagnostics.
    pub info: Info,
}

/// A model and a batch of data, ready to estimate.
#[derive(Clone, Debug)]
pub struct Batch<R: Enumerable = Reference> {
    reference: R,
    x: Vec<Vec<f64>>,
    dtype: DType,
    taped: R::Production<Tape>,
    plain: R::Production<Inner>,
}

impl<R: Enumerable> Batch<R> {
    /// In f64.
    pub fn new(reference: &R, x: &[Vec<f64>]) -> Self {
        Self::with_dtype(reference, x, DType::F64)
    }

    /// In f32 or f64.
    pub fn with_dtype(reference: &R, x: &[Vec<f64>], dtype: DType) -> Self {
        Self {
            taped: build(reference, dtype),
            plain: build(reference, dtype),
            reference: reference.clone(),
            x: x.to_vec(),
            dtype,
        }
    }

    /// The uniforms that propose these tuples of states, one tuple a datum.
    pub fn proposing(&self, tuples: &[Vec<&State>]) -> Chosen {
        Chosen::proposals(&self.reference, &self.x, tuples)
    }

    /// One estimate with its gradient.
    pub fn step(
        &self,
        method: &(impl Weighting + ?Sized),
        chains: Option<Chains<'_, dyn ChainStore>>,
        particles: usize,
        mut noise: Chosen,
        chance: &mut impl Chance,
    ) -> Step {
        let estimated = self.estimate(&self.taped, method, chains, particles, &mut noise, chance);
        Step {
            gradient: flat_gradient(&estimated.loss, &self.taped)
                .into_iter()
                .map(|g| -g)
                .collect(),
            loss: estimated.loss.into_data().iter::<f64>().sum(),
            elbo: estimated.elbo,
            live_rows: estimated.live_rows,
            info: estimated.info,
        }
    }

    /// What the method learns, at random values.
    pub fn learned(&self, method: &Method, seed: u64) -> Learned<Tape> {
        let mean = vec![0.3; self.reference.visible()];
        let layers = Layered::<Tape>::layers(&self.taped);
        let (controls, device) = (method.controls(), Default::default());
        Learned::init(&controls, || mean, &layers, seed, self.dtype, &device)
    }

    /// The model with a tape.
    pub fn model(&self) -> &R::Production<Tape> {
        &self.taped
    }

    /// The data `[batch, visible]`.
    pub fn x<B: helmholtz_ops::Backend>(&self) -> Tensor<B, 2> {
        let shape = [self.x.len(), self.reference.visible()];
        let data = TensorData::new(self.x.concat(), shape);
        Tensor::from_data(data, (&Default::default(), self.dtype))
    }

    /// One estimate without a tape, for what it does to the chains.
    pub fn advance(
        &self,
        method: &(impl Weighting + ?Sized),
        chains: Chains<'_, dyn ChainStore>,
        particles: usize,
        mut noise: Chosen,
        chance: &mut impl Chance,
    ) -> Info {
        let chains = Some(chains);
        self.estimate(&self.plain, method, chains, particles, &mut noise, chance)
            .info
    }

    fn estimate<B, M>(
        &self,
        model: &M,
        method: &(impl Weighting + ?Sized),
        chains: Option<Chains<'_, dyn ChainStore>>,
        particles: usize,
        noise: &mut Chosen,
        chance: &mut impl Chance,
    ) -> Estimate<B>
    where
        B: helmholtz_ops::Backend,
        M: Propose<B> + Joint<B> + Dream<B>,
    {
        let estimated = estimate(method, model, self.x(), chains, particles, noise, chance);
        assert!(noise.is_spent(), "every uniform was asked for");
        estimated.expect("a valid estimate")
    }
}

impl<R: Enumerable> Batch<R>
where
    R::Production<Tape>: Model<Tape>,
{
    /// The gradient that one estimate by any method ascends, without chains.
    pub fn gradient(
        &self,
        method: &Method,
        learned: &Learned<Tape>,
        particles: usize,
        noise: &mut impl Noise,
    ) -> Vec<f64> {
        let batch = helmholtz_estimators::Batch::<Tape, dyn ChainStore> {
            x: Values::binary(self.x()),
            chains: None,
            particles,
            epoch: 0,
            analytic_kl: false,
        };
        let mut chance = Stream::new(1, Purpose::new("chance"), [0, 0]);
        let mut learned = held(learned);
        let estimated = method.estimate(&self.taped, &mut learned, batch, noise, &mut chance);
        let loss = estimated.expect("a valid estimate").loss;
        let gradient = flat_gradient(&loss, &self.taped);
        gradient.into_iter().map(|g| -g).collect()
    }
}
