//! The estimators by name.

use std::fmt;
use std::str::FromStr;

use helmholtz_random::Chance;
use helmholtz_samplers::{Mis, Mtmis};

use crate::{Coefficient, Jsa, Outcome, Reinforce, Rloo, Rws, Vimco, Weighting};

/// An estimator chosen at run time. A new one is its own file, a variant here and a line in [`Method::NAMES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// [`Jsa`] with Metropolis independence moves.
    Jsa(Jsa<Mis>),
    /// [`Jsa`] with the multiple-trial move.
    JsaMtmis(Jsa<Mtmis>),
    /// [`Rws`].
    Rws(Rws),
    /// [`Reinforce`].
    Reinforce(Reinforce),
    /// [`Rloo`].
    Rloo(Rloo),
    /// [`Vimco`].
    Vimco(Vimco),
}

impl Method {
    /// Every method and its name.
    pub const NAMES: [(&str, Self); 8] = [
        ("jsa", Self::Jsa(Jsa::MIS)),
        ("jsa-mtmis", Self::JsaMtmis(Jsa::MTMIS)),
        ("rws", Self::Rws(Rws::WAKE)),
        ("rws-sleep", Self::Rws(Rws::SLEEP)),
        ("rws-wake-sleep", Self::Rws(Rws::WAKE_SLEEP)),
        ("reinforce", Self::Reinforce(Reinforce)),
        ("rloo", Self::Rloo(Rloo)),
        ("vimco", Self::Vimco(Vimco)),
    ];

    /// The same method with this many stage-I particles beyond K, where it has a stage I ([`Jsa::stage1_extra`]).
    pub fn with_stage1_extra(self, extra: bool) -> Self {
        match self {
            Self::Jsa(jsa) => Self::Jsa(Jsa {
                stage1_extra: extra,
                ..jsa
            }),
            Self::JsaMtmis(jsa) => Self::JsaMtmis(Jsa {
                stage1_extra: extra,
                ..jsa
            }),
            other => other,
        }
    }
}

/// A name that no estimator has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no method `{name}`; choose one of {}", Names)]
pub struct UnknownMethod {
    /// The name that was asked for.
    pub name: String,
}

struct Names;

impl fmt::Display for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&Method::NAMES.map(|(name, _)| name).join(", "))
    }
}

impl FromStr for Method {
    type Err = UnknownMethod;

    fn from_str(name: &str) -> Result<Self, UnknownMethod> {
        let found = Self::NAMES.iter().find(|(known, _)| *known == name);
        found
            .map(|(_, method)| *method)
            .ok_or_else(|| UnknownMethod { name: name.into() })
    }
}

/// Calls the same method of whichever estimator it is.
macro_rules! delegate {
    ($self:ident, $estimator:ident => $call:expr) => {
        match $self {
            Method::Jsa($estimator) => $call,
            Method::JsaMtmis($estimator) => $call,
            Method::Rws($estimator) => $call,
            Method::Reinforce($estimator) => $call,
            Method::Rloo($estimator) => $call,
            Method::Vimco($estimator) => $call,
        }
    };
}

impl Weighting for Method {
    fn proposals(&self, particles: usize, retained: bool) -> usize {
        delegate!(self, e => e.proposals(particles, retained))
    }

    fn least_particles(&self, retained: bool) -> usize {
        delegate!(self, e => e.least_particles(retained))
    }

    fn sleeps(&self) -> bool {
        delegate!(self, e => e.sleeps())
    }

    fn keeps_chains(&self) -> bool {
        delegate!(self, e => e.keeps_chains())
    }

    fn weigh(
        &self,
        log_w: &[f64],
        retained: bool,
        chance: &mut impl Chance,
        coefficients: &mut [Coefficient],
    ) -> Outcome {
        delegate!(self, e => e.weigh(log_w, retained, chance, coefficients))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_and_an_unknown_one_lists_them() {
        for (name, method) in Method::NAMES {
            assert_eq!(name.parse(), Ok(method));
        }
        let error = "jas".parse::<Method>().unwrap_err().to_string();
        assert!(
            error.contains("`jas`") && error.contains("jsa-mtmis, rws"),
            "{error}"
        );
    }
}
