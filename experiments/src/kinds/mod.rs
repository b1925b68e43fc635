//! Kinds of experiment: opening of each, and reading of its runs.
//!
//! | folder | holds |
//! |---|---|
//! | [`likelihood`] | nets that are trained by a method and scored by their likelihood |
//! | `grid` | such nets at several values of a setting, each at its best |
//! | `figures` | the runs of such an experiment, drawn |
//! | `evaluations` | finished runs, evaluated again |
//! | `variance_curve` | the variance of gradients during training |
//! | [`arm_toy`] | the toy experiment of ARM |
//! | [`apg_gmm`], [`apg_dmm`], [`apg_bmnist`] | amortized population Gibbs, a model each |
//! | `apg_kl`, `apg_table` | what several of its runs show together |

pub mod apg_bmnist;
pub mod apg_dmm;
pub mod apg_gmm;
pub(crate) mod apg_kl;
mod apg_table;
pub mod arm_toy;
pub(crate) mod evaluations;
pub(crate) mod figures;
mod grid;
pub mod likelihood;
pub(crate) mod variance_curve;

use crate::population::{self, Column};
use crate::records::{Kept, Reader};
use crate::request::Request;
use crate::source::Kind;
use helmholtz_harness::error::HarnessError;
use helmholtz_harness::experiment::Experiment;

/// Readers of the runs of all kinds, but for those of cells.
pub const READERS: &[Reader] = &[
    population::reader::<apg_gmm::Settings>(),
    population::reader::<apg_dmm::Settings>(),
    population::reader::<apg_bmnist::Settings>(),
    arm_toy::READER,
    apg_table::READER,
    apg_kl::READER,
    grid::READER,
];

/// What the samplers of amortized population Gibbs reached in a recorded run, or in those of a recorded table.
pub(crate) fn columns(kept: &Kept<'_>) -> Vec<Column> {
    if let Some(table) = apg_table::Table::kept(kept) {
        return table.columns;
    }
    let kinds = [
        population::column::<apg_gmm::Settings>,
        population::column::<apg_dmm::Settings>,
        population::column::<apg_bmnist::Settings>,
    ];
    kinds.iter().filter_map(|column| column(kept)).collect()
}

/// The experiment that is asked for.
///
/// # Errors
/// A flag that means nothing to it, a file that makes no sense, an unknown name, data or a device that are not there.
pub fn open<'a>(request: &Request<'a>) -> Result<Box<dyn Experiment + 'a>, HarnessError> {
    let kind = request.source.kind()?;
    if matches!(kind, Kind::ArmToy | Kind::Curves | Kind::VarianceCurve) {
        let flags = [("--threads", request.args.threads.is_some())];
        let remedy = "its runs have a thread each, and `--jobs` says how many run at once";
        request
            .args
            .reject(&request.args.experiment, &flags, remedy)?;
    }
    Ok(match kind {
        Kind::Table => Box::new(likelihood::open(request)?),
        Kind::ArmToy => Box::new(arm_toy::open(request)?),
        Kind::ApgGmm => Box::new(population::open::<apg_gmm::Settings>(request)?),
        Kind::ApgDmm => Box::new(population::open::<apg_dmm::Settings>(request)?),
        Kind::ApgBmnist => Box::new(population::open::<apg_bmnist::Settings>(request)?),
        Kind::ApgKl => Box::new(apg_kl::open(request)?),
        Kind::ApgTable => Box::new(apg_table::open(request)?),
        Kind::Grid => Box::new(grid::open(request)?),
        Kind::Curves => Box::new(figures::open(request)?),
        Kind::VarianceCurve => Box::new(variance_curve::open(request)?),
        Kind::Evaluations => Box::new(evaluations::open(request)?),
    })
}
