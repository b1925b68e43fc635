//! The kinds of experiment: what each file may be, and what opens it.

use crate::request::Request;
use crate::{apg_bmnist, apg_dmm, apg_gmm, apg_kl, apg_table, arm_toy, figures, likelihood};
use crate::{evaluations, population, variance_curve};
use helmholtz_harness::error::HarnessError;
use helmholtz_harness::experiment::Experiment;
use serde::{Deserialize, Serialize};

/// Files of experiments by their names: name, path and content.
macro_rules! bundled {
    ($($name:literal),* $(,)?) => {
        &[$((
            $name,
            concat!("experiments/", $name, ".toml"),
            include_str!(concat!("../", $name, ".toml")),
        )),*]
    };
}

/// The experiments that come with the program.
pub(crate) const BUNDLED: &[(&str, &str, &str)] = bundled![
    "table1",
    "table2",
    "table3",
    "helmholtz",
    "showdown",
    "arm-toy",
    "arm-table2",
    "arm-table3",
    "arm-fig2",
    "disarm",
    "rodeo",
    "rodeo-3",
    "categorical",
    "apg-gmm",
    "apg-dmm",
    "apg-bmnist",
    "apg-kl",
    "apg-table1",
    "estimators",
    "fig1",
    "fig2",
    "fig3",
    "fig4",
    "fig-poster",
    "fig-table3",
    "table1-samples",
];

/// What kind of experiment a file describes: its key `kind`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Nets trained by methods, and a table of their NLL ([`Spec`](crate::spec::Spec)); files without the key.
    #[default]
    Table,
    /// The toy experiment of ARM ([`Settings`](crate::arm_toy::Settings)).
    ArmToy,
    /// Amortized population Gibbs on Gaussian mixtures ([`Settings`](crate::apg_gmm::Settings)).
    ApgGmm,
    /// Amortized population Gibbs on deep mixtures ([`Settings`](crate::apg_dmm::Settings)).
    ApgDmm,
    /// Amortized population Gibbs on bouncing digits ([`Settings`](crate::apg_bmnist::Settings)).
    ApgBmnist,
    /// The mixtures' proposals during training, by sweeps and particles.
    ApgKl,
    /// What amortized population Gibbs reaches on several models.
    ApgTable,
    /// The runs of a table, drawn.
    Curves,
    /// The variance of gradients during training.
    VarianceCurve,
    /// The finished runs of a table, evaluated with several numbers of samples.
    Evaluations,
}

/// The experiment that is asked for.
///
/// # Errors
/// A flag that means nothing to it, a file that makes no sense, an unknown name, data or a device that are not there.
pub fn open<'a>(request: &Request<'a>) -> Result<Box<dyn Experiment + 'a>, HarnessError> {
    Ok(match request.source.kind()? {
        Kind::Table => Box::new(likelihood::open(request)?),
        Kind::ArmToy => Box::new(arm_toy::open(request)?),
        Kind::ApgGmm => Box::new(population::open::<apg_gmm::Settings>(request)?),
        Kind::ApgDmm => Box::new(population::open::<apg_dmm::Settings>(request)?),
        Kind::ApgBmnist => Box::new(population::open::<apg_bmnist::Settings>(request)?),
        Kind::ApgKl => Box::new(apg_kl::open(request)?),
        Kind::ApgTable => Box::new(apg_table::open(request)?),
        Kind::Curves => Box::new(figures::open(request)?),
        Kind::VarianceCurve => Box::new(variance_curve::open(request)?),
        Kind::Evaluations => Box::new(evaluations::open(request)?),
    })
}
