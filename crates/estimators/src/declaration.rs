//! What an estimator states of itself.

use std::any::type_name;
use std::fmt;

use helmholtz_ops::Backend;

use crate::{ControlsConfig, Layered};

/// What an estimate is unbiased for: θ are the parameters of p, φ those of q.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// ∇ ELBO.
    Elbo,
    /// ∇ of the importance-weighted bound with K samples.
    Bound,
    /// ∇_θ log p(x) and −∇_φ KL(p(h | x) ‖ q(h | x)).
    Likelihood,
    /// The gradients of [`Likelihood`](Self::Likelihood), where the chains' states are draws from p(h | x).
    Inclusive,
    /// The gradients of [`Likelihood`](Self::Likelihood) in the limit K → ∞.
    InclusiveAsymptotically,
    /// ∇_θ log p(x) in the limit K → ∞; φ learns from dreams too.
    LikelihoodsTheta,
    /// ∇_θ ELBO; φ learns from dreams.
    ElbosTheta,
    /// ∇ of an objective with relaxed latents.
    Relaxed,
    /// Nothing.
    Nothing,
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Elbo => "∇ ELBO",
            Self::Bound => "∇ of the K-sample bound",
            Self::Likelihood => "∇ log p and −∇ KL(p‖q)",
            Self::Inclusive => "∇ log p and −∇ KL(p‖q), in stationarity",
            Self::InclusiveAsymptotically => "the same as `jsa`, as K grows",
            Self::LikelihoodsTheta => "θ: the same as `jsa`, as K grows",
            Self::ElbosTheta => "θ: ∇ ELBO",
            Self::Relaxed => "∇ of a relaxed objective",
            Self::Nothing => "nothing",
        })
    }
}

/// The latents of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LatentKind {
    /// Bits alone.
    Bits,
    /// Classes, or bits and classes.
    Classes,
    /// Counts.
    Counts,
}

/// The latents that an estimator is defined for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Domain {
    /// Bits, classes and counts.
    All,
    /// Bits and classes.
    Discrete,
    /// Bits alone.
    Bits,
    /// Counts alone.
    Counts,
}

impl Domain {
    /// Whether these latents are among them.
    pub fn takes(self, latents: LatentKind) -> bool {
        match self {
            Self::All => true,
            Self::Discrete => latents != LatentKind::Counts,
            Self::Bits => latents == LatentKind::Bits,
            Self::Counts => latents == LatentKind::Counts,
        }
    }
}

impl fmt::Display for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::All => "bits, classes, counts",
            Self::Discrete => "bits, classes",
            Self::Bits => "bits",
            Self::Counts => "counts",
        })
    }
}

/// An estimator in words, and its claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Description {
    /// As `--method` takes it.
    pub name: &'static str,
    /// As tables print it.
    pub label: &'static str,
    /// What it does, in a line.
    pub idea: &'static str,
    /// What its estimate is unbiased for.
    pub target: Target,
}

impl Description {
    /// Of an estimator that states nothing: the name of its type, and no claim.
    pub fn of_type<E: ?Sized>() -> Self {
        Self {
            name: type_name::<E>(),
            label: type_name::<E>(),
            idea: "",
            target: Target::Nothing,
        }
    }
}

/// What an estimator states of itself: tables, help texts, checks of settings and certificates are made from it.
///
/// A [`Weighting`](crate::Weighting) has it already; any other estimator implements it beside [`Estimator`](crate::Estimator).
pub trait Declaration {
    /// Its name, its idea, its claim.
    fn description(&self) -> Description;

    /// The latents that it is defined for.
    fn domain(&self) -> Domain {
        Domain::Discrete
    }

    /// The least particle number K for which it is defined, with chain states at hand or not.
    fn least_particles(&self, _retained: bool) -> usize {
        1
    }

    /// Values of f = log p(x, h) − log q(h | x), relaxed or not, that the estimate for one datum is made of. The estimate has K
    /// particles, `layers` stochastic layers, and a chain state at hand or not. With C classes,
    /// [`evaluations_of_classes`](Self::evaluations_of_classes) says more.
    ///
    /// Not counted: dreams, derivatives of f and values that are computed again for them, learned baselines and control variates. Nor is
    /// the draw at which the estimators of logit gradients let θ learn.
    fn evaluations(&self, particles: usize, layers: usize, retained: bool) -> usize;

    /// Values of f a datum and layer with C classes, as a formula, where they depend on C, or on chance; [`evaluations`](Self::evaluations)
    /// are those for bits, C = 2.
    fn evaluations_of_classes(&self) -> Option<&'static str> {
        None
    }

    /// What it learns beside the model.
    fn controls(&self) -> ControlsConfig {
        ControlsConfig::AS_THE_MODEL
    }

    /// Whether a chain per datum is kept in its second stage.
    fn keeps_chains(&self) -> bool {
        false
    }

    /// Whether the inference model also learns from dreams.
    fn sleeps(&self) -> bool {
        false
    }

    /// The same without a sleep phase, where it has one: for those who dream apart from it ([`dreams`](crate::dreams)).
    fn awake(self) -> Self
    where
        Self: Sized,
    {
        self
    }

    /// The same with one stage-I particle beyond K or without it, where it has a stage I ([`Jsa::stage1_extra`](crate::Jsa::stage1_extra)).
    fn with_stage1_extra(self, _extra: bool) -> Self
    where
        Self: Sized,
    {
        self
    }

    /// The form of it that its claim is of, if that is another: the same without what scales a gradient.
    fn claimed(self) -> Self
    where
        Self: Sized,
    {
        self
    }

    /// Whether it can be given the divergence in closed form: the estimators whose released code is.
    fn takes_analytic_kl(&self) -> bool {
        false
    }

    /// The slope that a model's own layers have in tests after so many epochs of training ([`Layered::sloped`]).
    fn slope_after(&self, _epochs: u64) -> Option<f64> {
        None
    }

    /// The model as it is tested after so many epochs of training, with [`slope_after`](Self::slope_after) them.
    fn tested<B: Backend, M: Layered<B>>(&self, model: M, epochs: u64) -> M
    where
        Self: Sized,
    {
        match self.slope_after(epochs) {
            Some(slope) => model.sloped(slope).unwrap_or(model),
            None => model,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// It states the least that there is to state.
    struct Plain;

    impl Declaration for Plain {
        fn description(&self) -> Description {
            Description::of_type::<Self>()
        }

        fn evaluations(&self, particles: usize, _layers: usize, _retained: bool) -> usize {
            particles
        }
    }

    #[test]
    fn what_is_not_stated_is_nothing_more() {
        let plain = Plain;
        assert_eq!(plain.domain(), Domain::Discrete);
        assert_eq!(
            [false, true].map(|retained| plain.least_particles(retained)),
            [1, 1]
        );
        assert_eq!(plain.evaluations_of_classes(), None);
        assert_eq!(plain.slope_after(3), None);
        assert!(!plain.keeps_chains() && !plain.sleeps() && !plain.takes_analytic_kl());
        assert_eq!(plain.description().target.to_string(), "nothing");
    }
}
