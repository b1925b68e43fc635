//! Runs that are chosen by validation among profiles: a learning rate, say.

use super::{Ours, Source};
use crate::cell::Cell;
use crate::error::HarnessError;
use crate::folders;
use crate::folders::{CellStatus, base_folder};
use crate::spec::Selection;
use std::path::Path;

/// The cells of a row, or those that another profile has in their place. Of the profile's own and those in its
/// [`chosen_from`](crate::spec::Profile::chosen_from) the ones with the least mean validation NLL over the seeds that are finished in
/// the profile's own. A profile that lacks one of these seeds is not chosen.
///
/// # Errors
/// An unknown profile.
pub(super) fn chosen(
    source: Source,
    base: &Path,
    own: Vec<(Cell, CellStatus)>,
) -> Result<Vec<(Cell, CellStatus)>, HarnessError> {
    let Some(mut least) = valid_nll(&own) else {
        return Ok(own);
    };
    let mut best = None;
    for profile in &source.spec.profile(source.profile)?.chosen_from {
        let others = in_place(source, base, profile, &own)?;
        if let Some(nll) = valid_nll(&others).filter(|&nll| nll < least) {
            (least, best) = (nll, Some(others));
        }
    }
    Ok(best.map_or(own.clone(), |best| {
        let unfinished = own.into_iter().filter(|(_, status)| !status.is_done());
        let mut cells: Vec<_> = best.into_iter().chain(unfinished).collect();
        cells.sort_by_key(|(cell, _)| cell.seed);
        cells
    }))
}

/// Mean validation NLL of the finished ones of these cells.
fn valid_nll(cells: &[(Cell, CellStatus)]) -> Option<f64> {
    let done = cells.iter().filter_map(|(_, status)| status.result());
    let done: Vec<f64> = done.map(|result| result.valid_nll).collect();
    Some(Ours::of(&done)?.mean)
}

/// The selection of a cell of an experiment, and of no other.
pub(crate) fn alone(cell: &Cell) -> Selection {
    Selection {
        nets: vec![cell.net.clone()],
        methods: vec![cell.method.clone()],
        particles: cell.particles().into_iter().collect(),
        seeds: vec![cell.seed],
        ..Selection::default()
    }
}

/// The finished cells' like in another profile; none if one of them is not finished there.
fn in_place(
    source: Source,
    base: &Path,
    profile: &str,
    own: &[(Cell, CellStatus)],
) -> Result<Vec<(Cell, CellStatus)>, HarnessError> {
    let finished = own.iter().filter(|(_, status)| status.is_done());
    let mut others = Vec::new();
    for (cell, _) in finished {
        let selection = Selection {
            epochs: source.epochs,
            images: source.images,
            ..alone(cell)
        };
        for other in source.spec.cells(profile, &selection, source.dataset)? {
            // <out>/<experiment>/<profile>/<dataset>
            let out = base.ancestors().nth(3).unwrap_or(Path::new(""));
            let experiment = &source.spec.name;
            let base = base_folder(out, experiment, profile, source.epochs, source.dataset);
            let width = cell.width;
            let other = Cell { width, ..other };
            let status = folders::status(&other.folder(&base), &other);
            if !status.is_done() {
                return Ok(vec![]);
            }
            others.push((other, status));
        }
    }
    Ok(others)
}
