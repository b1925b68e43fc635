//! A report, written.

use super::document::{Block, Document, tables};
use super::{csv, html, latex, markdown};
use crate::error::HarnessError;
use crate::table::files::{write_bytes, write_one};
use std::path::{Path, PathBuf};

/// Writes `report.html`, `report.md`, `report.tex`, and the folders `tables` (CSV), `figures` (SVG and CSV) and `images`
/// into `folder`; gives the paths of the first three.
///
/// # Errors
/// A folder or file that cannot be written.
pub fn write(document: &Document, folder: &Path) -> Result<Vec<PathBuf>, HarnessError> {
    for (_, table) in tables(document) {
        let name = format!("{}.csv", table.name);
        write_one(&folder.join("tables"), &name, &csv::render(table))?;
    }
    for section in &document.sections {
        write_blocks(&section.blocks, folder)?;
    }
    [
        ("report.html", html::render(document)),
        ("report.md", markdown::render(document)),
        ("report.tex", latex::render(document)),
    ]
    .iter()
    .map(|(name, text)| write_one(folder, name, text))
    .collect()
}

fn write_blocks(blocks: &[Block], folder: &Path) -> Result<(), HarnessError> {
    for block in blocks {
        match block {
            Block::Figure { name, figure } => {
                figure.write(&folder.join("figures"), name)?;
            }
            Block::Image { name, bytes, .. } => {
                write_bytes(&folder.join("images"), name, bytes)?;
            }
            Block::Folded { blocks, .. } => write_blocks(blocks, folder)?,
            Block::Text(_) | Block::Notes(_) | Block::Table(_) => {}
        }
    }
    Ok(())
}
