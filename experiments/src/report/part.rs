//! Runs that a report shows together.

use super::build::{Pictures, below, provenance};
use crate::records::Record;
use helmholtz_report::{Block, Document, Section};
use helmholtz_runs::Provenance;

/// Makes a section, given how the report calls its folder, and its id.
type Make<'a> = dyn FnOnce(&str, String, &mut Pictures<'_>) -> Section + 'a;

/// Runs that are one section.
pub struct Part<'a> {
    /// Path of their folder, below the one that was searched.
    pub place: String,
    /// How many there are, and how many are finished.
    pub runs: [usize; 2],
    /// Makes the section.
    pub section: Box<Make<'a>>,
}

/// The blocks of a document in the section `id`, where its table has this caption.
pub fn blocks_of(document: Document, id: &str, caption: &str) -> Vec<Block> {
    let mut blocks = document.into_blocks();
    for block in &mut blocks {
        if let Block::Table(table) = block {
            table.name = format!("{id}-{}", table.name);
            table.caption = caption.into();
        }
    }
    blocks
}

/// Folded table of where the numbers of these runs come from, whose group is at `own` and which the report calls `place`.
pub fn behind<'a>(
    runs: impl IntoIterator<Item = (&'a Record, &'a Provenance)>,
    (own, place): (&str, &str),
    id: &str,
) -> Block {
    let runs = runs.into_iter();
    let from = runs.map(|(record, from)| (format!("{place}/{}", below(own, record)), from));
    Block::Folded {
        title: "Runs behind the numbers".into(),
        blocks: vec![Block::Table(provenance(from, id))],
    }
}
