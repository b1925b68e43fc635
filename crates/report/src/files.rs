//! Files, each replaced in one step, and a document in all formats.

use crate::document::{Block, Document, tables};
use crate::error::ReportError;
pub use crate::write::{write_bytes, write_text};
use crate::{csv, html, latex, markdown};
use std::path::{Path, PathBuf};

/// Writes `report.html`, `report.md`, `report.tex`, and the folders `tables` (CSV), `figures` (SVG and CSV) and `images`
/// into `folder`; gives the paths of the first three. Files of an earlier report in those folders are removed. A browser loads the page
/// `again` after so many seconds.
///
/// # Errors
/// A folder or file that cannot be written.
pub fn write(
    document: &Document,
    again: Option<u64>,
    folder: &Path,
) -> Result<Vec<PathBuf>, ReportError> {
    let page = html::render(document, again);
    let is_there = folder.join(PAGE).is_file();
    let mut written = Vec::new();
    for (_, table) in tables(document) {
        let name = format!("{}.csv", table.name);
        written.push(write_text(
            &folder.join("tables"),
            &name,
            &csv::render(table),
        )?);
    }
    for section in &document.sections {
        write_blocks(&section.blocks, folder, &mut written)?;
    }
    let paths = [
        (PAGE, page),
        ("report.md", markdown::render(document)),
        ("report.tex", latex::render(document)),
    ]
    .iter()
    .map(|(name, text)| write_text(folder, name, text))
    .collect::<Result<_, _>>()?;
    if is_there {
        for (part, endings) in PARTS {
            remove_others(&folder.join(part), endings, &written)?;
        }
    }
    Ok(paths)
}

/// Writes a document into `folder` as `table.md`, and its tables with every digit: one as `table.csv`, several as `table-<name>.csv`;
/// gives all paths.
///
/// # Errors
/// A folder or file that cannot be written.
pub fn write_tables(document: &Document, folder: &Path) -> Result<Vec<PathBuf>, ReportError> {
    let mut written = vec![write_text(folder, "table.md", &markdown::render(document))?];
    let tables = tables(document);
    for (_, table) in &tables {
        let name = match tables.len() {
            1 => "table.csv".to_string(),
            _ => format!("table-{}.csv", table.name),
        };
        written.push(write_text(folder, &name, &csv::render(table))?);
    }
    Ok(written)
}

/// The page.
const PAGE: &str = "report.html";

/// The folders beside it, and the endings of the files in each.
const PARTS: [(&str, &[&str]); 3] = [
    ("tables", &["csv"]),
    ("figures", &["svg", "csv"]),
    ("images", &["svg", "png"]),
];

fn write_blocks(
    blocks: &[Block],
    folder: &Path,
    written: &mut Vec<PathBuf>,
) -> Result<(), ReportError> {
    for block in blocks {
        match block {
            Block::Figure { name, figure } => {
                written.extend(figure.write(&folder.join("figures"), name)?);
            }
            Block::Image { name, bytes, .. } => {
                let path = folder.join("images").join(name);
                write_bytes(&path, bytes)?;
                written.push(path);
            }
            Block::Folded { blocks, .. } => write_blocks(blocks, folder, written)?,
            Block::Text(_) | Block::Verbatim(_) | Block::Notes(_) | Block::Table(_) => {}
        }
    }
    Ok(())
}

/// Removes the files with these endings, but for those that are written.
fn remove_others(folder: &Path, endings: &[&str], written: &[PathBuf]) -> Result<(), ReportError> {
    // An earlier report need not have had any.
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Ok(());
    };
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        let ending = path.extension().and_then(|ending| ending.to_str());
        let is_ours = ending.is_some_and(|ending| endings.contains(&ending)) && path.is_file();
        if is_ours && !written.contains(&path) {
            std::fs::remove_file(&path).map_err(|source| ReportError {
                action: "remove",
                path: path.clone(),
                source,
            })?;
        }
    }
    Ok(())
}
