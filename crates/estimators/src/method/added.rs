//! An estimator of another crate, among those that are chosen at run time.

mod erased;
mod pointers;

use std::any::Any;
use std::fmt::{self, Debug, Formatter};
use std::marker::PhantomData;

use helmholtz_distributions::{Counts, Mixed, Noise};
use helmholtz_ops::AutodiffBackend;
use helmholtz_random::Chance;
use helmholtz_samplers::ChainStore;

use crate::{
    Batch, Chains, Declaration, Domain, Estimate, EstimateError, Estimator, LatentKind, Learned,
    Method, Model,
};

use erased::Core;
pub use erased::{Erased, Kind, Seen};
use pointers::{AnyChance, AnyNoise, AnyStore};

/// An [`Estimator`] on its way among those that are chosen at run time: it is named the backends that it is to run on.
///
/// V is what it sees of the latents: [`Mixed`](helmholtz_distributions::Mixed) for an estimator of bits and classes,
/// [`Bits`](helmholtz_distributions::Bits) for one that is defined for bits alone, [`Counts`] for one of counts.
///
/// ```
/// # #[cfg(feature = "flex")] {
/// use helmholtz_distributions::{Bits, Counts, Mixed};
/// use helmholtz_estimators::burn::backend::Autodiff;
/// use helmholtz_estimators::{Adding, Declaration, Disarm, Domain, FiniteOrder, Flex, Rloo};
///
/// let rloo = Adding::<_, Mixed>::new(Rloo).on::<Autodiff<Flex>>().method();
/// let disarm = Adding::<_, Bits>::new(Disarm).on::<Autodiff<Flex>>().method();
/// assert_eq!((rloo.domain(), disarm.domain()), (Domain::Discrete, Domain::Bits));
/// let all = Adding::<_, Mixed>::new(Rloo).on::<Autodiff<Flex>>().on_counts::<Autodiff<Flex>>().method();
/// let counts = Adding::<_, Counts>::new(FiniteOrder::Second).on::<Autodiff<Flex>>().method();
/// assert_eq!((all.domain(), counts.domain()), (Domain::All, Domain::Counts));
/// # }
/// ```
pub struct Adding<E, V> {
    variants: [(E, Variant); VARIANTS],
    seen: Domain,
    kind: PhantomData<fn() -> V>,
}

/// With and without a particle more in stage I, with and without its sleep phase.
const VARIANTS: usize = 4;

/// One of the forms of an added estimator, on each of its backends.
struct Variant {
    declared: Box<dyn Declaration + Send + Sync>,
    /// A `Box<dyn On<B>>` for each backend B and kind of latents.
    on: Vec<Box<dyn Any + Send + Sync>>,
}

impl<E, V> Adding<E, V>
where
    E: Declaration + Clone + Send + Sync + 'static,
    V: Kind,
{
    /// An estimator, on no backend yet.
    pub fn new(estimator: E) -> Self {
        let variant = |extra, awake| {
            let own = Declaration::with_stage1_extra(estimator.clone(), extra);
            let own = if awake { Declaration::awake(own) } else { own };
            let variant = Variant {
                declared: Box::new(own.clone()),
                on: Vec::new(),
            };
            (own, variant)
        };
        Self {
            variants: [
                variant(false, false),
                variant(true, false),
                variant(false, true),
                variant(true, true),
            ],
            seen: V::DOMAIN,
            kind: PhantomData,
        }
    }

    /// The same on one more backend.
    pub fn on<B>(mut self) -> Self
    where
        B: AutodiffBackend,
        E: Estimator<B, Erased<B, V>>,
    {
        self.add::<B, V>();
        self
    }

    fn add<B, Own: Kind>(&mut self)
    where
        B: AutodiffBackend,
        E: Estimator<B, Erased<B, Own>>,
    {
        for (estimator, variant) in &mut self.variants {
            let estimator = Of::<E, Own>(estimator.clone(), PhantomData);
            let on: Box<dyn On<B>> = Box::new(estimator);
            variant.on.push(Box::new(on));
        }
    }

    /// The estimator, chosen at run time. It is kept to the end of the program.
    pub fn method(self) -> Method {
        let variants = self.variants.map(|(_, variant)| variant);
        Method::Added(Added {
            variants: Box::leak(Box::new(variants)),
            seen: self.seen,
            extra: false,
            awake: false,
        })
    }
}

impl<E: Declaration + Clone + Send + Sync + 'static> Adding<E, Mixed> {
    /// The same for counts too, on one more backend.
    pub fn on_counts<B>(mut self) -> Self
    where
        B: AutodiffBackend,
        E: Estimator<B, Erased<B, Counts>>,
    {
        self.seen = Domain::All;
        self.add::<B, Counts>();
        self
    }
}

/// An estimator whose type is not known here; two are equal if they describe themselves alike.
#[derive(Clone, Copy)]
pub struct Added {
    variants: &'static [Variant; VARIANTS],
    seen: Domain,
    extra: bool,
    awake: bool,
}

impl Added {
    fn variant(&self) -> &'static Variant {
        &self.variants[usize::from(self.extra) + 2 * usize::from(self.awake)]
    }

    /// What it states of itself.
    pub(crate) fn declared(&self) -> &dyn Declaration {
        &*self.variant().declared
    }

    /// The latents that it is defined for: those that it sees, unless it states fewer. Chains cannot hold counts.
    pub(crate) fn domain(&self) -> Domain {
        let declared = self.declared();
        match (declared.domain(), self.seen) {
            (Domain::All | Domain::Discrete, seen) => match seen.takes(LatentKind::Counts) {
                true if declared.keeps_chains() => Domain::Discrete,
                _ => seen,
            },
            (stated, _) => stated,
        }
    }

    /// [`Declaration::with_stage1_extra`].
    pub(crate) fn with_stage1_extra(self, extra: bool) -> Self {
        Self { extra, ..self }
    }

    /// [`Declaration::awake`].
    pub(crate) fn awake(self) -> Self {
        Self {
            awake: true,
            ..self
        }
    }

    /// The same as it claims.
    pub(crate) fn claimed(self) -> Self {
        self
    }

    /// [`Estimator::estimate`].
    pub(crate) fn estimate<B, M, S>(
        &self,
        model: &M,
        learned: &mut Learned<B>,
        batch: Batch<'_, B, S>,
        noise: &mut impl Noise,
        chance: &mut impl Chance,
    ) -> Result<Estimate<B>, EstimateError>
    where
        B: AutodiffBackend,
        M: Model<B>,
        S: ChainStore + ?Sized,
    {
        let model = Core::new(model.clone());
        let on = self.variant().on.iter();
        let mut on = on
            .filter_map(|on| on.downcast_ref::<Box<dyn On<B>>>())
            .peekable();
        if on.peek().is_none() {
            let name = self.declared().description().name;
            return Err(EstimateError::OtherBackend { name });
        }
        let own = on
            .find(|on| on.takes(&model))
            .ok_or_else(|| EstimateError::NotDefined {
                domain: self.domain(),
                model: model.latents(),
            })?;
        let mut chains = batch
            .chains
            .map(|Chains { store, rows }| (AnyStore(store), rows));
        let batch = Batch {
            x: batch.x,
            chains: chains.as_mut().map(|(store, rows)| Chains {
                store: store as &mut dyn ChainStore,
                rows,
            }),
            particles: batch.particles,
            epoch: batch.epoch,
            analytic_kl: batch.analytic_kl,
        };
        own.estimate(model, learned, batch, noise, chance)
    }
}

impl Debug for Added {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let name = self.declared().description().name;
        f.debug_tuple("Added").field(&name).finish()
    }
}

impl PartialEq for Added {
    fn eq(&self, other: &Self) -> bool {
        self.declared().description() == other.declared().description()
    }
}

/// An estimator on one backend, behind a pointer.
trait On<B: AutodiffBackend>: Send + Sync {
    /// Whether it sees the model's latents.
    fn takes(&self, model: &Core<B>) -> bool;

    fn estimate(
        &self,
        model: Core<B>,
        learned: &mut Learned<B>,
        batch: Batch<'_, B, dyn ChainStore + '_>,
        noise: &mut dyn Noise,
        chance: &mut dyn Chance,
    ) -> Result<Estimate<B>, EstimateError>;
}

/// An estimator that sees latents of the kind V.
struct Of<E, V>(E, PhantomData<fn() -> V>);

impl<B, E, V> On<B> for Of<E, V>
where
    B: AutodiffBackend,
    E: Estimator<B, Erased<B, V>> + Send + Sync,
    V: Kind,
{
    fn takes(&self, model: &Core<B>) -> bool {
        model.is_of::<V>()
    }

    fn estimate(
        &self,
        model: Core<B>,
        learned: &mut Learned<B>,
        batch: Batch<'_, B, dyn ChainStore + '_>,
        noise: &mut dyn Noise,
        chance: &mut dyn Chance,
    ) -> Result<Estimate<B>, EstimateError> {
        let (noise, chance) = (&mut AnyNoise(noise), &mut AnyChance(chance));
        let model = Erased::from(model);
        self.0.estimate(&model, learned, batch, noise, chance)
    }
}
