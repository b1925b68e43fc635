//! An estimator chosen at run time, by its name.

mod added;

use helmholtz_distributions::{Bits, Counts, Noise, Relaxable};
use helmholtz_ops::{AutodiffBackend, Backend};
use helmholtz_random::Chance;
use helmholtz_samplers::ChainStore;

use crate::family::{Member, not_defined};
use crate::latent::estimate_fn;
use crate::{
    Batch, Chosen, ControlsConfig, Declaration, Description, Domain, Estimate, EstimateError,
    Estimator, Latent, LatentKind, Layered, Learned, Logits, Model, Pathwise, Race, Signals,
    Variates, Weighted, Weighting,
};

pub use added::{Added, Adding, Erased, Kind, Seen};

/// An estimator chosen at run time, of whichever family: `Method::from(Rloo)`, or `"rloo".parse()`.
///
/// A new one is a file of its own and a line of its family.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    /// Of coefficients from log-weights.
    Weighted(Weighted),
    /// Of local signals.
    Signals(Signals),
    /// Of gradients in the logits.
    Logits(Logits),
    /// Of control variates made of the other particles.
    Variates(Variates),
    /// Of samples that carry a gradient.
    Pathwise(Pathwise),
    /// Of another crate.
    Added(Added),
}

/// What the same call gives of whichever family it is; after `as Method`, made a [`Method`] again.
macro_rules! each {
    ($self:ident, $own:ident => $call:expr, added $added:pat => $other:expr) => {
        match $self {
            Method::Weighted($own) => $call,
            Method::Signals($own) => $call,
            Method::Logits($own) => $call,
            Method::Variates($own) => $call,
            Method::Pathwise($own) => $call,
            Method::Added($added) => $other,
        }
    };
    ($self:ident as Method, $own:ident => $call:expr) => {
        match $self {
            Method::Weighted($own) => Method::Weighted($call),
            Method::Signals($own) => Method::Signals($call),
            Method::Logits($own) => Method::Logits($call),
            Method::Variates($own) => Method::Variates($call),
            Method::Pathwise($own) => Method::Pathwise($call),
            Method::Added($own) => Method::Added($call),
        }
    };
}

impl Method {
    /// All of the workspace's, in the order of tables.
    pub(crate) fn all() -> Vec<Self> {
        let weighted = Weighted::all().into_iter().map(Self::Weighted);
        let signals = Signals::all().into_iter().map(Self::Signals);
        let logits = Logits::all().into_iter().map(Self::Logits);
        let variates = Variates::all().into_iter().map(Self::Variates);
        let pathwise = Pathwise::all().into_iter().map(Self::Pathwise);
        weighted
            .chain(signals)
            .chain(logits)
            .chain(variates)
            .chain(pathwise)
            .collect()
    }

    /// What the estimator that it is states of itself.
    fn declared(&self) -> &dyn Declaration {
        each!(self, own => own.declared(), added own => own.declared())
    }

    /// The estimator as a function of log-weights, if it is one.
    pub fn weighting(&self) -> Option<&dyn Weighting> {
        each!(self, own => own.weighting(), added _ => None)
    }

    /// [`Declaration::with_stage1_extra`].
    pub fn with_stage1_extra(self, extra: bool) -> Self {
        each!(self as Method, own => own.with_stage1_extra(extra))
    }

    /// [`Declaration::sleeps`].
    pub fn sleeps(&self) -> bool {
        self.declared().sleeps()
    }

    /// [`Declaration::keeps_chains`].
    pub fn keeps_chains(&self) -> bool {
        self.declared().keeps_chains()
    }

    /// [`Declaration::least_particles`].
    pub fn least_particles(&self, retained: bool) -> usize {
        self.declared().least_particles(retained)
    }

    /// [`Declaration::evaluations`].
    pub fn evaluations(&self, particles: usize, layers: usize, retained: bool) -> usize {
        self.declared().evaluations(particles, layers, retained)
    }

    /// [`Declaration::evaluations_of_classes`].
    pub fn evaluations_of_classes(&self) -> Option<&'static str> {
        self.declared().evaluations_of_classes()
    }

    /// [`Declaration::takes_analytic_kl`].
    pub fn takes_analytic_kl(&self) -> bool {
        self.declared().takes_analytic_kl()
    }

    /// [`Declaration::controls`].
    pub fn controls(&self) -> ControlsConfig {
        self.declared().controls()
    }

    /// [`Declaration::tested`].
    pub fn tested<B: Backend, M: Layered<B>>(&self, model: M, epochs: u64) -> M {
        Declaration::tested(self, model, epochs)
    }

    /// [`Estimator::estimate`].
    ///
    /// # Errors
    /// [`EstimateError`]; chains are refused by a method that [keeps](Self::keeps_chains) none, an analytic KL by one that does not
    /// [take](Self::takes_analytic_kl) it.
    ///
    /// # Panics
    /// If `learned` is not this method's, or the reference class of an [`Ars`](crate::Ars) is none of the model's.
    pub fn estimate<B, M, S>(
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
        batch.check(self)?;
        M::Variables::estimate(self, model, learned, batch, noise, chance)
    }
}

/// A family among the methods, and with it each estimator of its list.
macro_rules! from_family {
    ($($family:ident)*) => {
        $(
            impl From<$family> for Method {
                fn from(family: $family) -> Self {
                    Self::$family(family)
                }
            }
        )*
    };
}

from_family!(Weighted Signals Logits Variates Pathwise);

impl<E> From<E> for Method
where
    E: Member,
    Self: From<E::Family>,
{
    fn from(estimator: E) -> Self {
        Self::from(estimator.in_family())
    }
}

impl Chosen for Method {
    estimate_fn!(of_discrete(M::Variables: Relaxable + Race),
    (self, model, learned, batch, noise, chance) => {
        each!(self,
            own => own.of_discrete(model, learned, batch, noise, chance),
            added own => own.estimate(model, learned, batch, noise, chance))
    });

    estimate_fn!(of_bits(M: Layered<B, Variables = Bits>),
    (self, model, learned, batch, noise, chance) => {
        each!(self,
            own => own.of_bits(model, learned, batch, noise, chance),
            added own => own.estimate(model, learned, batch, noise, chance))
    });

    estimate_fn!(of_counts(M: Layered<B, Variables = Counts>),
    (self, model, learned, batch, noise, chance) => {
        // Chains cannot hold counts.
        if !self.domain().takes(LatentKind::Counts) {
            return not_defined(self, model);
        }
        each!(self,
            own => own.of_counts(model, learned, batch, noise, chance),
            added own => own.estimate(model, learned, batch, noise, chance))
    });
}

impl Declaration for Method {
    fn description(&self) -> Description {
        self.declared().description()
    }

    fn domain(&self) -> Domain {
        match self {
            Self::Added(added) => added.domain(),
            _ => self.declared().domain(),
        }
    }

    fn least_particles(&self, retained: bool) -> usize {
        self.declared().least_particles(retained)
    }

    fn evaluations(&self, particles: usize, layers: usize, retained: bool) -> usize {
        self.declared().evaluations(particles, layers, retained)
    }

    fn evaluations_of_classes(&self) -> Option<&'static str> {
        self.declared().evaluations_of_classes()
    }

    fn controls(&self) -> ControlsConfig {
        self.declared().controls()
    }

    fn keeps_chains(&self) -> bool {
        self.declared().keeps_chains()
    }

    fn sleeps(&self) -> bool {
        self.declared().sleeps()
    }

    fn awake(self) -> Self {
        each!(self as Method, own => own.awake())
    }

    fn claimed(self) -> Self {
        each!(self as Method, own => own.claimed())
    }

    fn with_stage1_extra(self, extra: bool) -> Self {
        Method::with_stage1_extra(self, extra)
    }

    fn takes_analytic_kl(&self) -> bool {
        self.declared().takes_analytic_kl()
    }

    fn slope_after(&self, epochs: u64) -> Option<f64> {
        self.declared().slope_after(epochs)
    }
}

impl<B: AutodiffBackend, M: Model<B>> Estimator<B, M> for Method {
    fn estimate<S: ChainStore + ?Sized>(
        &self,
        model: &M,
        learned: &mut Learned<B>,
        batch: Batch<'_, B, S>,
        noise: &mut impl Noise,
        chance: &mut impl Chance,
    ) -> Result<Estimate<B>, EstimateError> {
        Method::estimate(self, model, learned, batch, noise, chance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of three particles and two layers, without a chain state and with one, which is one more: K, but for those named here. Conditional
    /// importance sampling counts its state among its K.
    #[test]
    fn evaluations_are_those_of_the_formulas() {
        let methods = [
            (1, 1, "ws"),
            (3, 4, "jsa jsa-mtmis jsa-frozen-reference"),
            (5, 5, "muprop"),
            (8, 8, "coupled-chains"),
            (6, 6, "arms ar relax-all ovis-mc"),
            (
                12,
                12,
                "arm disarm ars arsm rebar-tied relax-tied disarm-bound disarm-sb disarm-tree disarm-iw",
            ),
            (18, 18, "rebar relax arms-bound"),
        ];
        for entry in Method::CATALOGUE {
            let own = |names: &str| names.split(' ').any(|name| name == entry.name);
            let stated = methods.iter().find(|(.., names)| own(names));
            let &(first, second, _) = stated.unwrap_or(&(3, 3, ""));
            for (retained, count) in [(false, first), (true, second)] {
                if !retained || entry.method.keeps_chains() {
                    let found = [
                        entry.method.evaluations(3, 2, retained),
                        Declaration::evaluations(&entry.method, 3, 2, retained),
                    ];
                    assert_eq!(found, [count; 2], "{}", entry.name);
                }
            }
        }
    }

    #[test]
    fn what_depends_on_classes_or_chance_has_a_formula() {
        for entry in Method::CATALOGUE {
            let expected = match entry.name {
                "ars" => Some("C K"),
                "arsm" => Some("(C (C − 1)/2 + 1) K"),
                "coupled-chains" => Some("K τ + 2, τ ≥ 2 the meeting time"),
                _ => None,
            };
            assert_eq!(
                entry.method.evaluations_of_classes(),
                expected,
                "{}",
                entry.name
            );
            assert_eq!(Declaration::evaluations_of_classes(&entry.method), expected);
        }
    }

    #[test]
    fn only_an_annealed_slope_grows_only_wake_sleep_dreams_and_pairs_take_two() {
        for entry in Method::CATALOGUE {
            let (name, method) = (entry.name, &entry.method);
            let after = [0, 1, 3].map(|epochs| method.slope_after(epochs));
            match name {
                "slope-annealed" => assert!(after[0] == after[1] && after[2] > after[1]),
                _ => assert_eq!(after, [None; 3], "{name}"),
            }
            let sleeps = ["ws", "rws-wake-sleep", "rws-sleep"].contains(&name);
            assert_eq!(
                [method.sleeps(), Declaration::sleeps(method)],
                [sleeps; 2],
                "{name}"
            );
            assert!(!Declaration::awake(*method).sleeps(), "{name}");
            let analytic = method.takes_analytic_kl();
            assert_eq!(Declaration::takes_analytic_kl(method), analytic, "{name}");
            let least = [false, true].map(|retained| method.least_particles(retained));
            assert_eq!(
                [false, true].map(|retained| Declaration::least_particles(method, retained)),
                least
            );
        }
        let least = |name: &str| name.parse::<Method>().unwrap().least_particles(false);
        assert_eq!(
            ["rws", "vimco", "ovis", "rloo", "arms"].map(least),
            [1, 2, 2, 2, 2]
        );
        let takes = |name: &str| name.parse::<Method>().unwrap().takes_analytic_kl();
        assert_eq!(
            ["arsm", "straight-through", "finite-2", "rws", "rebar"].map(takes),
            [true, true, true, false, false]
        );
    }

    #[test]
    fn without_particles_nothing_is_proposed() {
        for entry in Method::CATALOGUE {
            for retained in [false, true] {
                let evaluations = entry.method.evaluations(0, 1, retained);
                assert!(evaluations <= 2, "{}", entry.name);
            }
        }
    }

    #[test]
    fn names_are_found_and_an_unknown_one_lists_them() {
        for entry in Method::CATALOGUE {
            assert_eq!(entry.name.parse(), Ok(entry.method));
        }
        let error = "jas".parse::<Method>().unwrap_err().to_string();
        assert!(
            error.contains("`jas`") && error.contains("jsa-mtmis, jsa-frozen-reference"),
            "{error}"
        );
    }
}
