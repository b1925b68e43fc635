//! What a kind of experiment shows of its runs.

use helmholtz_report::Document;
use helmholtz_report::figure::{Figure, Panel};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::path::Path;

/// Figures by the names of their files.
pub type Figures = Vec<(&'static str, Figure)>;

/// A run as its folder keeps it.
#[derive(Debug, Clone, Copy)]
pub struct Kept<'a> {
    /// Its folder.
    pub folder: &'a Path,
    /// Its configuration.
    pub config: &'a Value,
    /// Its result; none before it is finished.
    pub result: Option<&'a Value>,
    /// Rows of its metrics.
    pub metrics: &'a [Value],
}

/// Functions of a kind of experiment that read its runs. They give nothing of a run of another kind, or of a format that they do not
/// know.
#[derive(Debug, Clone, Copy)]
pub struct Reader {
    /// Document of a finished run.
    pub document: fn(&Kept<'_>) -> Option<Document>,
    /// What was watched during training, and, of a finished run, what was measured.
    pub figures: fn(&Kept<'_>) -> Figures,
}

impl Reader {
    /// Of a kind that draws nothing from its numbers.
    pub const fn of_documents(document: fn(&Kept<'_>) -> Option<Document>) -> Self {
        Self {
            document,
            figures: |_| Vec::new(),
        }
    }
}

/// A value of this type, if that is what it is.
pub fn read<T: DeserializeOwned>(value: &Value) -> Option<T> {
    serde_json::from_value(value.clone()).ok()
}

impl Kept<'_> {
    /// Document of the run by the first reader that knows it.
    pub(super) fn document(&self, readers: &[Reader]) -> Option<Document> {
        readers.iter().find_map(|reader| (reader.document)(self))
    }

    /// Figures of the run by all readers, those in which there is something to see.
    pub(super) fn figures(&self, readers: &[Reader]) -> Figures {
        let figures = readers.iter().flat_map(|reader| (reader.figures)(self));
        let figures = figures.filter(|(_, figure)| figure.panels.iter().any(has_points));
        figures.collect()
    }
}

/// Whether there is anything to see.
fn has_points(panel: &Panel) -> bool {
    panel.series.iter().any(|series| series.points.len() > 1)
}
