//! The estimators of the toy, those of the catalogue.

use super::{OneVariable, law};
use crate::error::HarnessError;
use crate::framework::failed;
use helmholtz_estimators::{Batch, Declaration, Entry, Latent, LatentKind, Learned, Method};
use helmholtz_ops::AutodiffBackend;
use helmholtz_random::Stream;
use helmholtz_samplers::ChainStore;
use serde::{Deserialize, Serialize};

/// An estimator that asks the model for values of f alone. Files have the names of the catalogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Estimator {
    /// [`Reinforce`](helmholtz_estimators::Reinforce).
    Reinforce,
    /// [`Rloo`](helmholtz_estimators::Rloo).
    Rloo,
    /// [`Arm`](helmholtz_estimators::Arm).
    Arm,
    /// [`Disarm`](helmholtz_estimators::Disarm).
    Disarm,
    /// [`Arms`](helmholtz_estimators::Arms).
    Arms,
    /// [`Ar`](helmholtz_estimators::Ar).
    Ar,
    /// [`Ars`](helmholtz_estimators::Ars) with the first class as reference.
    Ars,
    /// [`Arsm`](helmholtz_estimators::Arsm).
    Arsm,
}

impl Estimator {
    /// Its entry in the catalogue.
    pub fn entry(self) -> &'static Entry {
        let name = serde_json::to_value(self).expect("a name");
        let mut entries = Method::CATALOGUE.iter();
        let found = entries.find(|entry| name == entry.name);
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

    /// Whether one value of f of classes makes an estimate.
    pub fn takes_classes(self) -> bool {
        let entry = self.entry();
        entry.least_particles() == 1 && entry.method.domain().takes(LatentKind::Classes)
    }

    /// An estimate of the gradient of E f in the free logits of each copy, K = `samples`.
    ///
    /// # Errors
    /// Too few samples for the estimator, or latents that it is not defined for.
    pub fn estimate<B: AutodiffBackend, V: Latent + Send + 'static>(
        self,
        model: &OneVariable<B, V>,
        samples: usize,
        noise: &mut Stream,
    ) -> Result<Vec<f64>, HarnessError> {
        let batch = Batch::<B, dyn ChainStore> {
            x: model.data().into(),
            chains: None,
            particles: samples,
            epoch: 0,
            analytic_kl: false,
        };
        let mut nothing = Learned {
            controls: None,
            moments: vec![],
        };
        // None of them takes a decision by chance.
        let mut chance = noise.clone();
        let method = &self.entry().method;
        let estimated = method.estimate(model, &mut nothing, batch, noise, &mut chance);
        Ok(model.ascended(&estimated.map_err(failed)?.loss))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_catalogues_and_a_budget_of_values_gives_k() {
        for (name, samples, takes_classes) in [
            ("reinforce", Some(2), true),
            ("rloo", Some(2), false),
            ("arm", Some(1), false),
            ("disarm", Some(1), false),
            ("arms", Some(2), false),
            ("ar", Some(2), true),
            ("ars", Some(1), true),
            ("arsm", Some(1), true),
        ] {
            let estimator: Estimator = serde_json::from_value(name.into()).unwrap();
            assert_eq!(estimator.entry().name, name);
            let found = (estimator.samples(2), estimator.takes_classes());
            assert_eq!(found, (samples, takes_classes), "{name}");
        }
        assert_eq!(Estimator::Arm.samples(3), None);
        assert_eq!(Estimator::Rloo.samples(1), None);
    }
}
