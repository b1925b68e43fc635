//! The cells that a table is built from: the run folders that there are.

use super::{Source, choice};
use crate::cell::Cell;
use crate::error::HarnessError;
use crate::folders;
use crate::folders::CellStatus;
use crate::spec::Selection;
use helmholtz_report::Note;
use helmholtz_runs::read_metrics;
use std::path::Path;

/// The cells that have a run folder below `base`, of whatever seed, and those in `wanted`, each with its state:
/// a table holds what earlier requests made, too.
///
/// # Errors
/// An unknown profile.
pub fn gather(
    source: Source,
    base: &Path,
    wanted: &[Cell],
) -> Result<Vec<(Cell, CellStatus)>, HarnessError> {
    let mut cells = Vec::new();
    for net in &source.spec.net {
        let mut particles: Vec<usize> = wanted.iter().filter_map(Cell::particles).collect();
        if !particles.is_empty() {
            particles.extend(folders::particles(base, &net.name));
        }
        let selection = Selection {
            nets: vec![net.name.clone()],
            methods: source.spec.methods_on(source.profile, &net.name)?,
            particles,
            seeds: vec![0],
            epochs: source.epochs,
            images: source.images,
        };
        for row in source
            .spec
            .cells(source.profile, &selection, source.dataset)?
        {
            let folder = row.row_folder(base);
            let mut seeds = folders::seeds(&folder);
            let of_row = wanted.iter().filter(|cell| cell.row_folder(base) == folder);
            seeds.extend(of_row.map(|cell| cell.seed));
            seeds.sort_unstable();
            seeds.dedup();
            let own = seeds.into_iter().map(|seed| {
                let cell = Cell {
                    seed,
                    fingerprint: wanted.first().and_then(|cell| cell.fingerprint.clone()),
                    width: wanted.first().and_then(|cell| cell.width),
                    ..row.clone()
                };
                let status = folders::status(&cell.folder(base), &cell);
                (cell, status)
            });
            cells.extend(choice::chosen(source, base, own.collect())?);
        }
    }
    Ok(cells)
}

/// Cautions about the finished runs below `base` whose metrics are not those that they finished with.
pub fn damages(base: &Path, cells: &[(Cell, CellStatus)]) -> Vec<Note> {
    let done = cells.iter().filter(|(_, status)| status.is_done());
    let damage = done.filter_map(|(cell, _)| {
        let error = read_metrics(cell.folder(base)).err()?;
        let text = format!("DAMAGED METRICS: {}: {error}.", cell.label());
        Some(Note::caution(text))
    });
    damage.collect()
}
