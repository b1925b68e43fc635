//! A model whose type is not known to who estimates.

use std::any::Any;
use std::fmt::{self, Debug, Formatter};
use std::marker::PhantomData;

use burn::backend::Autodiff;
use burn::module::{
    AutodiffModule, Devices, EmptyRecord, HasAutodiffModule, Module, ModuleMapper, ModuleVisitor,
};
use burn::tensor::Tensor;
use burn::tensor::backend::BackendTypes;
use helmholtz_distributions::{Bits, Classes, Counts, Mixed, Noise};
use helmholtz_ops::{AutodiffBackend, Backend, Values};
use helmholtz_samplers::{Latents, Layer};

use super::pointers::AnyNoise;
use crate::{
    Domain, Dream, Factored, Joint, Latent, Layered, Model, Particles, Proposals, Propose,
};

/// The latents as an estimator sees them: [`Mixed`]; [`Bits`] or [`Counts`] if it is defined for these alone.
pub trait Kind: Latent + Debug + 'static {
    /// What an estimator that sees them is defined for.
    const DOMAIN: Domain;

    /// The latents of a layer as this kind, if they are of it.
    fn of(seen: Seen) -> Option<Self>;
}

/// The latents of a layer, whatever their type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Seen {
    /// Bits or classes.
    Mixed(Mixed),
    /// Counts.
    Counts(Counts),
}

impl Kind for Mixed {
    const DOMAIN: Domain = Domain::Discrete;

    fn of(seen: Seen) -> Option<Self> {
        match seen {
            Seen::Mixed(mixed) => Some(mixed),
            Seen::Counts(_) => None,
        }
    }
}

impl Kind for Bits {
    const DOMAIN: Domain = Domain::Bits;

    fn of(seen: Seen) -> Option<Self> {
        Self::try_from(Mixed::of(seen)?).ok()
    }
}

impl Kind for Counts {
    const DOMAIN: Domain = Domain::Counts;

    fn of(seen: Seen) -> Option<Self> {
        match seen {
            Seen::Counts(counts) => Some(counts),
            Seen::Mixed(_) => None,
        }
    }
}

/// A [`Model`] of any type, with latents of kind V: what an estimator [added](super::Adding) at run time is given.
///
/// It has the capabilities of a model and the levels of differentiation that estimators use: without a tape, with one and
/// with two. As a module it shows no parameters: an estimator needs none.
pub struct Erased<B: Backend, V> {
    core: Core<B>,
    kind: PhantomData<fn() -> V>,
}

/// The model at one level, and how to come to the levels beside it.
pub(super) struct Core<B: Backend> {
    model: Box<dyn Part<B>>,
    inner: Option<Step>,
    taped: Option<Step>,
}

/// From a model of a known type to the [`Core`] of a level beside it.
type Step = fn(&dyn Any) -> Box<dyn Any>;

impl<B: AutodiffBackend> Core<B> {
    pub(super) fn new<M: Model<B>>(model: M) -> Self {
        Self {
            model: Box::new(model),
            inner: Some(inner_of::<B, M>),
            taped: Some(taped_of::<B, M>),
        }
    }
}

fn inner_of<B: AutodiffBackend, M: Model<B>>(model: &dyn Any) -> Box<dyn Any> {
    let core: Core<B::InnerBackend> = Core {
        model: Box::new(known::<M>(model).valid()),
        inner: None,
        taped: Some(back_from_inner::<B, M>),
    };
    Box::new(core)
}

fn taped_of<B: AutodiffBackend, M: Model<B>>(model: &dyn Any) -> Box<dyn Any> {
    let core: Core<Autodiff<B>> = Core {
        model: Box::new(known::<M>(model).clone().train::<Autodiff<B>>()),
        inner: Some(back_from_taped::<B, M>),
        taped: None,
    };
    Box::new(core)
}

fn back_from_inner<B: AutodiffBackend, M: Model<B>>(inner: &dyn Any) -> Box<dyn Any> {
    let model = M::from_inner(known::<M::InnerModule>(inner).clone());
    Box::new(Core::<B>::new(model))
}

fn back_from_taped<B: AutodiffBackend, M: Model<B>>(taped: &dyn Any) -> Box<dyn Any> {
    let model: M = known::<M::TrainModule>(taped).valid();
    Box::new(Core::<B>::new(model))
}

fn known<M: 'static>(model: &dyn Any) -> &M {
    model.downcast_ref().expect("the model of this step")
}

impl<B: Backend> Core<B> {
    /// That all latents are of the kind V.
    pub(super) fn is_of<V: Kind>(&self) -> bool {
        let layers = self.model.layers();
        layers.is_some_and(|layers| layers.into_iter().all(|layer| V::of(layer).is_some()))
    }

    pub(super) fn latents(&self) -> Latents {
        self.model.latents()
    }

    fn step<C: Backend>(&self, step: Option<Step>) -> Core<C> {
        let step = step.expect("models have three levels of differentiation");
        let core = step(self.model.as_any()).downcast();
        *core.expect("a level of the backend beside")
    }

    fn with(&self, model: Box<dyn Part<B>>) -> Self {
        Self {
            model,
            inner: self.inner,
            taped: self.taped,
        }
    }
}

impl<B: Backend, V> From<Core<B>> for Erased<B, V> {
    fn from(core: Core<B>) -> Self {
        let kind = PhantomData;
        Self { core, kind }
    }
}

impl<B: Backend, V> Clone for Erased<B, V> {
    fn clone(&self) -> Self {
        self.core.with(self.core.model.copy()).into()
    }
}

impl<B: Backend, V> Debug for Erased<B, V> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Erased").field(&self.core.latents()).finish()
    }
}

/// A model at one level, behind a pointer.
trait Part<B: Backend>: Send {
    fn as_any(&self) -> &dyn Any;
    fn copy(&self) -> Box<dyn Part<B>>;
    fn frozen(&self) -> Box<dyn Part<B>>;
    fn moved(&self, device: &<B as BackendTypes>::Device) -> Box<dyn Part<B>>;
    fn collect(&self, devices: Devices<B>) -> Devices<B>;
    fn latents(&self) -> Latents;
    fn encode(&self, x: Values<B>) -> Tensor<B, 2>;
    fn propose(
        &self,
        encoded: &Tensor<B, 2>,
        retained: Option<Particles<B>>,
        particles: usize,
        noise: &mut dyn Noise,
    ) -> Proposals<B>;
    fn log_q(&self, encoded: &Tensor<B, 2>, particles: &Particles<B>) -> Tensor<B, 1>;
    /// None where they are of another kind.
    fn layers(&self) -> Option<Vec<Seen>>;
    fn logits_above(&self, level: usize, below: Values<B>) -> Tensor<B, 2>;
    fn sloped(&self, slope: f64) -> Option<Box<dyn Part<B>>>;
    fn log_likelihood(&self, x: Values<B>, particles: &Particles<B>) -> Tensor<B, 1>;
    fn prior_logits(&self, x: Values<B>, particles: &Particles<B>) -> Vec<Tensor<B, 2>>;
    fn log_factors(&self, x: Values<B>, particles: &Particles<B>) -> Vec<Tensor<B, 1>>;
    fn log_joint(&self, x: Values<B>, particles: &Particles<B>) -> Tensor<B, 1>;
    fn dream(&self, x: Values<B>, noise: &mut dyn Noise) -> (Values<B>, Particles<B>);
}

/// Variables of whatever type, if they are of a kind.
fn seen(variables: &(impl Latent + 'static)) -> Option<Seen> {
    match variables.layer() {
        Layer::Bernoulli(bits) => Some(Seen::Mixed(Mixed::Bits(Bits(bits)))),
        Layer::Categorical { variables, classes } => Some(Seen::Mixed(Mixed::Classes(Classes {
            variables,
            classes: classes as usize,
        }))),
        _ => {
            let counts = (variables as &dyn Any).downcast_ref();
            counts.copied().map(Seen::Counts)
        }
    }
}

impl<B, M> Part<B> for M
where
    B: Backend,
    M: Module<B> + Layered<B, Variables: Latent + 'static> + Factored<B> + Dream<B> + 'static,
{
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn copy(&self) -> Box<dyn Part<B>> {
        Box::new(self.clone())
    }

    fn frozen(&self) -> Box<dyn Part<B>> {
        Box::new(self.clone().no_grad())
    }

    fn moved(&self, device: &<B as BackendTypes>::Device) -> Box<dyn Part<B>> {
        Box::new(self.clone().to_device(device))
    }

    fn collect(&self, devices: Devices<B>) -> Devices<B> {
        self.collect_devices(devices)
    }

    fn latents(&self) -> Latents {
        Propose::latents(self)
    }

    fn encode(&self, x: Values<B>) -> Tensor<B, 2> {
        Propose::encode(self, x)
    }

    fn propose(
        &self,
        encoded: &Tensor<B, 2>,
        retained: Option<Particles<B>>,
        particles: usize,
        noise: &mut dyn Noise,
    ) -> Proposals<B> {
        Propose::propose(self, encoded, retained, particles, &mut AnyNoise(noise))
    }

    fn log_q(&self, encoded: &Tensor<B, 2>, particles: &Particles<B>) -> Tensor<B, 1> {
        Propose::log_q(self, encoded, particles)
    }

    fn layers(&self) -> Option<Vec<Seen>> {
        Layered::layers(self).iter().map(seen).collect()
    }

    fn logits_above(&self, level: usize, below: Values<B>) -> Tensor<B, 2> {
        Layered::logits_above(self, level, below)
    }

    fn sloped(&self, slope: f64) -> Option<Box<dyn Part<B>>> {
        let sloped = Layered::sloped(self, slope)?;
        Some(Box::new(sloped))
    }

    fn log_likelihood(&self, x: Values<B>, particles: &Particles<B>) -> Tensor<B, 1> {
        Factored::log_likelihood(self, x, particles)
    }

    fn prior_logits(&self, x: Values<B>, particles: &Particles<B>) -> Vec<Tensor<B, 2>> {
        Factored::prior_logits(self, x, particles)
    }

    fn log_factors(&self, x: Values<B>, particles: &Particles<B>) -> Vec<Tensor<B, 1>> {
        Factored::log_factors(self, x, particles)
    }

    fn log_joint(&self, x: Values<B>, particles: &Particles<B>) -> Tensor<B, 1> {
        Joint::log_joint(self, x, particles)
    }

    fn dream(&self, x: Values<B>, noise: &mut dyn Noise) -> (Values<B>, Particles<B>) {
        Dream::dream(self, x, &mut AnyNoise(noise))
    }
}

impl<B: Backend, V> Propose<B> for Erased<B, V> {
    type Encoded = Tensor<B, 2>;

    fn latents(&self) -> Latents {
        self.core.latents()
    }

    fn encode(&self, x: impl Into<Values<B>>) -> Tensor<B, 2> {
        self.core.model.encode(x.into())
    }

    fn propose(
        &self,
        encoded: &Tensor<B, 2>,
        retained: Option<Particles<B>>,
        particles: usize,
        noise: &mut impl Noise,
    ) -> Proposals<B> {
        let model = &self.core.model;
        model.propose(encoded, retained, particles, noise)
    }

    fn log_q(&self, encoded: &Tensor<B, 2>, particles: &Particles<B>) -> Tensor<B, 1> {
        self.core.model.log_q(encoded, particles)
    }
}

impl<B: Backend, V: Kind> Layered<B> for Erased<B, V> {
    type Variables = V;

    fn layers(&self) -> Vec<V> {
        let layers = self.core.model.layers().into_iter().flatten();
        let of_kind = |layer| V::of(layer).expect("latents of this kind");
        layers.map(of_kind).collect()
    }

    fn logits_above(&self, level: usize, below: impl Into<Values<B>>) -> Tensor<B, 2> {
        self.core.model.logits_above(level, below.into())
    }

    fn sloped(&self, slope: f64) -> Option<Self> {
        let sloped = self.core.model.sloped(slope)?;
        Some(self.core.with(sloped).into())
    }
}

impl<B: Backend, V> Joint<B> for Erased<B, V> {
    fn log_joint(&self, x: impl Into<Values<B>>, particles: &Particles<B>) -> Tensor<B, 1> {
        self.core.model.log_joint(x.into(), particles)
    }
}

impl<B: Backend, V> Factored<B> for Erased<B, V> {
    fn log_likelihood(&self, x: impl Into<Values<B>>, particles: &Particles<B>) -> Tensor<B, 1> {
        self.core.model.log_likelihood(x.into(), particles)
    }

    fn prior_logits(&self, x: impl Into<Values<B>>, particles: &Particles<B>) -> Vec<Tensor<B, 2>> {
        self.core.model.prior_logits(x.into(), particles)
    }

    fn log_factors(&self, x: impl Into<Values<B>>, particles: &Particles<B>) -> Vec<Tensor<B, 1>>
    where
        Self: Layered<B>,
    {
        self.core.model.log_factors(x.into(), particles)
    }
}

impl<B: Backend, V> Dream<B> for Erased<B, V> {
    fn dream(&self, x: impl Into<Values<B>>, noise: &mut impl Noise) -> (Values<B>, Particles<B>) {
        self.core.model.dream(x.into(), noise)
    }
}

impl<B: Backend, V: Kind> Module<B> for Erased<B, V> {
    type Record = EmptyRecord;

    fn collect_devices(&self, devices: Devices<B>) -> Devices<B> {
        self.core.model.collect(devices)
    }

    fn fork(self, device: &<B as BackendTypes>::Device) -> Self {
        self.to_device(device)
    }

    fn to_device(self, device: &<B as BackendTypes>::Device) -> Self {
        self.core.with(self.core.model.moved(device)).into()
    }

    fn no_grad(self) -> Self {
        self.core.with(self.core.model.frozen()).into()
    }

    fn visit<Visitor: ModuleVisitor<B>>(&self, _: &mut Visitor) {}

    fn map<Mapper: ModuleMapper<B>>(self, _: &mut Mapper) -> Self {
        self
    }

    fn load_record(self, _: EmptyRecord) -> Self {
        self
    }

    fn into_record(self) -> EmptyRecord {
        EmptyRecord::new()
    }
}

impl<B: AutodiffBackend, V: Kind> AutodiffModule<B> for Erased<B, V> {
    type InnerModule = Erased<B::InnerBackend, V>;

    fn valid(&self) -> Self::InnerModule {
        self.core.step(self.core.inner).into()
    }

    fn from_inner(inner: Self::InnerModule) -> Self {
        inner.core.step(inner.core.taped).into()
    }
}

impl<B: AutodiffBackend, V: Kind> HasAutodiffModule<B> for Erased<B::InnerBackend, V> {
    type TrainModule = Erased<B, V>;
}
