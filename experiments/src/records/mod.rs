//! A run as a report sees it: what its folder says, unopened.

pub mod curve;
mod reader;

pub use self::reader::{Figures, Kept, Reader, read};

use self::curve::Curve;
use crate::cell::Cell;
use crate::cell_runner::CellResult;
use crate::error::HarnessError;
use crate::folders::CellStatus;
use crate::works::outcome::{Evaluation, Outcome};
use helmholtz_report::figure::Figure;
use helmholtz_report::{Block, Note};
use helmholtz_runs::{Provenance, RunError, RunFolder, Status, read_config, read_metrics};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// A run.
#[derive(Debug, Clone)]
pub struct Record {
    /// Its folder, below the folder that was searched, with `/` between the parts.
    pub place: String,
    /// Its folder.
    pub folder: PathBuf,
    /// Content of the run.
    pub what: What,
    /// Problem of its metrics, if there is one: then they are not drawn.
    pub damage: Option<String>,
}

/// Content of a run: what was run, and what came of it.
#[derive(Debug, Clone)]
pub enum What {
    /// A net trained by a method.
    Cell(Box<CellRun>),
    /// An experiment of another kind, which keeps its own table and figures.
    Other(Box<OtherRun>),
}

/// A net trained by a method.
#[derive(Debug, Clone)]
pub struct CellRun {
    /// Cell that was run.
    pub cell: Cell,
    /// State of its run folder.
    pub status: CellStatus,
    /// Its checks.
    pub curve: Curve,
}

/// A run of another kind.
#[derive(Debug, Clone)]
pub struct OtherRun {
    /// Its title, or its place.
    pub title: String,
    /// Provenance of its numbers, if it is finished.
    pub provenance: Option<Provenance>,
    /// State of the run, if it is not finished.
    pub unfinished: Option<String>,
    /// Its numbers, as far as this program can read them.
    pub blocks: Vec<Block>,
    /// Its figures by name, drawn from its numbers.
    pub figures: Figures,
    /// The other figures and pictures that it keeps: name and content.
    pub images: Vec<(String, Vec<u8>)>,
    /// Measurement, where a net is trained for that.
    pub measured: Option<OfCell<Outcome>>,
    /// Evaluation, where a net that is trained is evaluated again.
    pub evaluated: Option<OfCell<Evaluation>>,
}

/// What came of a net with a method, beside its training: measurements on the way, or an evaluation after it.
#[derive(Debug, Clone)]
pub struct OfCell<T> {
    /// The cell.
    pub cell: Cell,
    /// Outcome; nothing before it is finished.
    pub outcome: Option<T>,
}

impl Record {
    /// The run in `folder`, called `place`. Runs without a cell are read by the first of `readers` that knows them.
    ///
    /// # Errors
    /// A folder that is damaged, or of another version, or cannot be read.
    pub fn read(place: String, folder: &Path, readers: &[Reader]) -> Result<Self, HarnessError> {
        let config = read_config(folder)?.unwrap_or_default();
        let status = RunFolder::peek(folder)?;
        let (metrics, damage) = match read_metrics(folder) {
            Ok(metrics) => (metrics, None),
            Err(error @ RunError::Damaged { .. }) => (Vec::new(), Some(error.to_string())),
            Err(error) => return Err(error.into()),
        };
        let what = match serde_json::from_value::<Cell>(config.clone()) {
            Ok(cell) => {
                let curve = Curve::of(&metrics);
                let status = cell_status(status, &curve, folder)?;
                What::Cell(Box::new(CellRun {
                    cell,
                    status,
                    curve,
                }))
            }
            Err(_) => {
                let (result, unfinished) = ended(status);
                let kept = Kept {
                    folder,
                    config: &config,
                    result: result.as_ref(),
                    metrics: &metrics,
                };
                let run = OtherRun::read(&place, &kept, unfinished, readers)?;
                What::Other(Box::new(run))
            }
        };
        Ok(Self {
            place,
            folder: folder.to_path_buf(),
            what,
            damage,
        })
    }

    /// The caution that damaged metrics are due.
    pub fn damage_note(&self) -> Option<Note> {
        let damage = self.damage.as_ref()?;
        Some(Note::caution(format!(
            "DAMAGED METRICS: {}: {damage}. No curve is drawn of them.",
            self.place
        )))
    }
}

/// Returns what the folder says, and where it keeps no checkpoint (a record does not), what its metrics say.
fn cell_status(status: Status, curve: &Curve, folder: &Path) -> Result<CellStatus, HarnessError> {
    Ok(match status {
        Status::Finished(result) => {
            let result: CellResult =
                serde_json::from_value(result).map_err(|source| HarnessError::Result {
                    folder: folder.to_path_buf(),
                    source,
                })?;
            CellStatus::Done(Box::new(result))
        }
        Status::Failed(failure) => CellStatus::Failed {
            reason: failure.to_string(),
            done: curve.epochs,
        },
        Status::Running { pid } => CellStatus::Running { pid },
        Status::Absent | Status::Started { .. } => CellStatus::Partial { done: curve.epochs },
    })
}

/// The result of a run, or why it has none.
fn ended(status: Status) -> (Option<Value>, Option<String>) {
    let unfinished = match status {
        Status::Finished(result) => return (Some(result), None),
        Status::Failed(failure) => format!("failed: {failure}"),
        Status::Running { .. } => "running".into(),
        Status::Absent | Status::Started { .. } => "no result".into(),
    };
    (None, Some(unfinished))
}

impl OtherRun {
    fn read(
        place: &str,
        kept: &Kept<'_>,
        unfinished: Option<String>,
        readers: &[Reader],
    ) -> Result<Self, HarnessError> {
        let Kept { config, folder, .. } = *kept;
        let provenance = kept.result.map(|result| result["provenance"].clone());
        let figures = kept.figures(readers);
        let mut images = images(folder)?;
        images.retain(|(file, _)| {
            let drawn = |(name, _): &(&str, Figure)| file.strip_suffix(".svg") == Some(*name);
            !figures.iter().any(drawn)
        });
        let titled = [&config["title"], &config["settings"]["title"]];
        let title = titled.into_iter().find_map(Value::as_str);
        Ok(Self {
            title: title.unwrap_or(place).to_string(),
            provenance: provenance.and_then(|from| serde_json::from_value(from).ok()),
            unfinished,
            blocks: match kept.document(readers) {
                Some(document) => document.into_blocks(),
                None => verbatim(&folder.join("table.md"))?.into_iter().collect(),
            },
            measured: OfCell::of(kept, "replicates"),
            evaluated: OfCell::of(kept, "samples"),
            figures,
            images,
        })
    }

    /// Whether there is nothing to say of it.
    pub fn is_empty(&self) -> bool {
        let drawn = !self.figures.is_empty() || !self.images.is_empty();
        let shows = self.provenance.is_some() || !self.blocks.is_empty() || drawn;
        !shows && self.unfinished.is_none()
    }
}

impl<T: DeserializeOwned> OfCell<T> {
    /// Reads a configuration and a result, if they are of such a run, which has this key beside its cell.
    fn of(kept: &Kept<'_>, key: &str) -> Option<Self> {
        let cell = read(&kept.config["cell"]).filter(|_| kept.config.get(key).is_some())?;
        let outcome = kept.result.cloned().map(serde_json::from_value).transpose();
        Some(Self {
            cell,
            outcome: outcome.ok()?,
        })
    }
}

/// The table that an older program has written, as it is; nothing where there is none.
fn verbatim(path: &Path) -> Result<Option<Block>, HarnessError> {
    match std::fs::read(path) {
        Ok(bytes) => Ok(Some(Block::Verbatim(
            String::from_utf8_lossy(&bytes).into_owned(),
        ))),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(unreadable(path, source)),
    }
}

/// The figures and pictures in a run folder, by name.
pub fn images(folder: &Path) -> Result<Vec<(String, Vec<u8>)>, HarnessError> {
    let mut found = Vec::new();
    let entries = std::fs::read_dir(folder).map_err(|error| unreadable(folder, error))?;
    for entry in entries {
        let path = entry.map_err(|error| unreadable(folder, error))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.ends_with(".svg") || name.ends_with(".png") {
            let bytes = std::fs::read(&path).map_err(|error| unreadable(&path, error))?;
            found.push((name.into_owned(), bytes));
        }
    }
    found.sort();
    Ok(found)
}

fn unreadable(path: &Path, source: std::io::Error) -> HarnessError {
    HarnessError::Io {
        action: "read",
        path: path.to_path_buf(),
        source,
    }
}

/// Whether a run was made in a folder that does not say which.
fn is_run_without_config(folder: &Path) -> bool {
    let begun = folder.join("metrics.jsonl").is_file() && folder.join("checkpoints").is_dir();
    begun || folder.join("result.json").is_file()
}

/// The runs below `root`, by place, and what is wrong with the folders of others, or with the metrics of these. Folders that were set aside
/// (`seed-1.old-1`) are none. What is not a cell's is read by `readers`.
///
/// # Errors
/// A root that cannot be listed.
pub fn find(root: &Path, readers: &[Reader]) -> Result<(Vec<Record>, Vec<String>), HarnessError> {
    let (mut records, mut problems) = (Vec::new(), Vec::new());
    let mut folders = vec![(String::new(), root.to_path_buf())];
    while let Some((place, folder)) = folders.pop() {
        if folder.join("config.json").is_file() {
            match Record::read(place.clone(), &folder, readers) {
                Ok(record) => {
                    let damage = record.damage.iter();
                    problems.extend(damage.map(|damage| format!("{place}: {damage}")));
                    records.push(record);
                }
                Err(error) => problems.push(format!("{place}: {error}")),
            }
            continue;
        }
        if is_run_without_config(&folder) {
            problems.push(format!(
                "{place}: a run whose config.json is gone; put it back, or move the rest away"
            ));
        }
        let entries = match std::fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if place.is_empty() => return Err(unreadable(&folder, error)),
            Err(error) => {
                problems.push(format!("{place}: cannot be read: {error}"));
                continue;
            }
        };
        for entry in entries {
            let entry = entry.map_err(|error| unreadable(&folder, error))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            // Links may lead in circles.
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_folder && !name.starts_with('.') && !name.contains(".old-") {
                let below = match place.is_empty() {
                    true => name,
                    false => format!("{place}/{name}"),
                };
                folders.push((below, entry.path()));
            }
        }
    }
    records.sort_by(|a: &Record, b| a.place.cmp(&b.place));
    problems.sort();
    Ok((records, problems))
}
