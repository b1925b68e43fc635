//! The estimators of the toy, called where only a few capabilities are there.

use burn::module::AutodiffModule;
use burn::tensor::Tensor;
use helmholtz_distributions::{Bits, Classes};
use helmholtz_estimators::{
    Ar, Arm, Arms, Ars, Arsm, Chains, Disarm, Dream, Entry, Estimate, EstimateError, Joint,
    Layered, Method, Propose, Reinforce, Rloo, Weighting, estimate, estimate_logits,
};
use helmholtz_ops::AutodiffBackend;
use helmholtz_random::Stream;
use helmholtz_samplers::ChainStore;
use serde::{Deserialize, Serialize};

use super::law;

/// An estimator that asks the model for values of f alone. Files have the names of the catalogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Estimator {
    /// [`Reinforce`].
    Reinforce,
    /// [`Rloo`].
    Rloo,
    /// [`Arm`].
    Arm,
    /// [`Disarm`].
    Disarm,
    /// [`Arms`].
    Arms,
    /// [`Ar`].
    Ar,
    /// [`Ars`] with the first class as reference.
    Ars,
    /// [`Arsm`].
    Arsm,
}

impl Estimator {
    /// Its entry in the catalogue.
    pub fn entry(self) -> &'static Entry {
        let name = match self {
            Self::Reinforce => "reinforce",
            Self::Rloo => "rloo",
            Self::Arm => "arm",
            Self::Disarm => "disarm",
            Self::Arms => "arms",
            Self::Ar => "ar",
            Self::Ars => "ars",
            Self::Arsm => "arsm",
        };
        let mut entries = Method::CATALOGUE.iter();
        let found = entries.find(|entry| entry.name == name);
        found.expect("the catalogue has it")
    }

    /// Label in figures and tables.
    pub fn label(self) -> &'static str {
        self.entry().label
    }

    /// The K with which an estimate takes this many values of f, if there is one.
    pub fn samples(self, values: usize) -> Option<usize> {
        let entry = self.entry();
        (entry.least_particles()..=values)
            .find(|&samples| entry.method.evaluations(samples, 1, false) == values)
    }

    /// Its variance with K = 1 for one bit in closed form, from σ and [f(0), f(1)], where it is known.
    pub fn law(self) -> Option<fn(f64, [f64; 2]) -> f64> {
        match self {
            Self::Reinforce => Some(law::reinforce),
            Self::Arm => Some(law::arm),
            Self::Disarm => Some(law::disarm),
            Self::Rloo | Self::Arms | Self::Ar | Self::Ars | Self::Arsm => None,
        }
    }

    /// One estimate for the batch x, K = `samples`.
    ///
    /// # Errors
    /// [`EstimateError::TooFewParticles`].
    pub fn estimate<B, M>(
        self,
        model: &M,
        x: Tensor<B, 2>,
        samples: usize,
        noise: &mut Stream,
    ) -> Result<Estimate<B>, EstimateError>
    where
        B: AutodiffBackend,
        M: AutodiffModule<B> + Layered<B, Variables = Bits> + Joint<B> + Dream<B>,
        M::InnerModule: Layered<B::InnerBackend, Variables = Bits> + Joint<B::InnerBackend>,
    {
        match self {
            Self::Reinforce => weighted(&Reinforce::default(), model, x, samples, noise),
            Self::Rloo => weighted(&Rloo, model, x, samples, noise),
            Self::Arm => estimate_logits(&Arm, model, x, samples, noise),
            Self::Disarm => estimate_logits(&Disarm, model, x, samples, noise),
            Self::Arms => estimate_logits(&Arms, model, x, samples, noise),
            Self::Ar => estimate_logits(&Ar, model, x, samples, noise),
            Self::Ars => estimate_logits(&Ars::default(), model, x, samples, noise),
            Self::Arsm => estimate_logits(&Arsm, model, x, samples, noise),
        }
    }

    /// Whether [`Estimator::estimate_class`] knows it.
    pub fn takes_classes(self) -> bool {
        matches!(self, Self::Reinforce | Self::Ar | Self::Ars | Self::Arsm)
    }

    /// [`Estimator::estimate`] for categorical variables.
    ///
    /// # Errors
    /// [`EstimateError::TooFewParticles`].
    ///
    /// # Panics
    /// If it is none of those that [take classes](Estimator::takes_classes).
    pub fn estimate_class<B, M>(
        self,
        model: &M,
        x: Tensor<B, 2>,
        samples: usize,
        noise: &mut Stream,
    ) -> Result<Estimate<B>, EstimateError>
    where
        B: AutodiffBackend,
        M: AutodiffModule<B> + Layered<B, Variables = Classes> + Joint<B> + Dream<B>,
        M::InnerModule: Layered<B::InnerBackend, Variables = Classes> + Joint<B::InnerBackend>,
    {
        match self {
            Self::Reinforce => weighted(&Reinforce::default(), model, x, samples, noise),
            Self::Ar => estimate_logits(&Ar, model, x, samples, noise),
            Self::Ars => estimate_logits(&Ars::default(), model, x, samples, noise),
            Self::Arsm => estimate_logits(&Arsm, model, x, samples, noise),
            Self::Rloo | Self::Arm | Self::Disarm | Self::Arms => {
                panic!("{} is not for classes here", self.label())
            }
        }
    }
}

fn weighted<B, M>(
    method: &impl Weighting,
    model: &M,
    x: Tensor<B, 2>,
    samples: usize,
    noise: &mut Stream,
) -> Result<Estimate<B>, EstimateError>
where
    B: AutodiffBackend,
    M: Propose<B> + Joint<B> + Dream<B>,
{
    let no_chains: Option<Chains<'_, dyn ChainStore>> = None;
    // None of them takes a decision by chance.
    let mut chance = noise.clone();
    estimate(method, model, x, no_chains, samples, noise, &mut chance)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_catalogues_and_a_budget_of_values_gives_k() {
        for (name, samples) in [
            ("reinforce", Some(2)),
            ("rloo", Some(2)),
            ("arm", Some(1)),
            ("disarm", Some(1)),
            ("arms", Some(2)),
        ] {
            let estimator: Estimator = serde_json::from_value(name.into()).unwrap();
            assert_eq!(estimator.entry().name, name);
            assert_eq!(estimator.samples(2), samples);
        }
        assert_eq!(Estimator::Arm.samples(3), None);
        assert_eq!(Estimator::Rloo.samples(1), None);
    }
}
