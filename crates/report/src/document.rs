//! The parts of a document, whatever the format.

use crate::figure::Figure;
use serde::Serialize;

/// A document: blocks, then sections.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Document {
    /// Heads it.
    pub title: String,
    /// Its parts.
    pub sections: Vec<Section>,
}

impl Document {
    /// A document of one section without a heading.
    pub fn of_blocks(title: impl Into<String>, blocks: Vec<Block>) -> Self {
        let section = Section {
            id: "main".into(),
            title: String::new(),
            blocks,
        };
        Self {
            title: title.into(),
            sections: vec![section],
        }
    }

    /// The blocks of all sections.
    pub fn into_blocks(self) -> Vec<Block> {
        let sections = self.sections.into_iter();
        sections.flat_map(|section| section.blocks).collect()
    }
}

/// A part of a document.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Section {
    /// Names its files and its place in the page: lower-case letters, digits and hyphens, and no other section's.
    pub id: String,
    /// Heads it; empty for a part without a heading.
    pub title: String,
    /// Its content, in order.
    pub blocks: Vec<Block>,
}

/// A piece of a section.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Block {
    /// A paragraph.
    Text(String),
    /// Lines as they are, in letters of one width.
    Verbatim(String),
    /// A list of remarks.
    Notes(Vec<Note>),
    /// A table.
    Table(Table),
    /// A figure, drawn from data.
    Figure {
        /// Names its files.
        name: String,
        /// Its data.
        figure: Figure,
    },
    /// A picture, or a figure that a run has drawn: as a file.
    Image {
        /// Its file's name; the ending tells its kind.
        name: String,
        /// Its caption.
        caption: String,
        /// The file's content; not in JSON.
        #[serde(skip)]
        bytes: Vec<u8>,
    },
    /// Blocks that most readers pass over.
    Folded {
        /// Heads them.
        title: String,
        /// The blocks.
        blocks: Vec<Block>,
    },
}

/// A remark.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Note {
    /// Importance of the note.
    pub severity: Severity,
    /// Its text.
    pub text: String,
}

/// Importance of a note.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Explains the numbers.
    Remark,
    /// Without it the numbers mislead: it stands out in every format.
    Caution,
}

impl Note {
    /// A note that explains.
    pub fn remark(text: impl Into<String>) -> Self {
        let text = text.into();
        Self {
            severity: Severity::Remark,
            text,
        }
    }

    /// A note that must not be overlooked.
    pub fn caution(text: impl Into<String>) -> Self {
        let text = text.into();
        Self {
            severity: Severity::Caution,
            text,
        }
    }

    /// Whether it must not be overlooked.
    pub fn is_caution(&self) -> bool {
        self.severity == Severity::Caution
    }
}

/// A table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Table {
    /// Names its files.
    pub name: String,
    /// Its caption; none if empty.
    pub caption: String,
    /// The heads of its columns.
    pub columns: Vec<String>,
    /// Its rows, each with a cell for each column.
    pub rows: Vec<Vec<Cell>>,
    /// Whether the first column names groups of rows: a terminal shows it as headings.
    pub grouped: bool,
    /// Columns at the end that a terminal leaves out.
    pub details: usize,
}

impl Table {
    /// A table without rows.
    pub fn new<T: Into<String>>(
        name: impl Into<String>,
        caption: impl Into<String>,
        columns: impl IntoIterator<Item = T>,
    ) -> Self {
        Self {
            name: name.into(),
            caption: caption.into(),
            columns: columns.into_iter().map(Into::into).collect(),
            rows: Vec::new(),
            grouped: false,
            details: 0,
        }
    }

    /// The same table, its first column naming groups of rows.
    pub fn grouped(self) -> Self {
        Self {
            grouped: true,
            ..self
        }
    }

    /// The same table, its last `details` columns left out on a terminal.
    pub fn with_details(self, details: usize) -> Self {
        Self { details, ..self }
    }

    /// Adds a row.
    ///
    /// # Panics
    /// If it has not a cell for each column.
    pub fn push(&mut self, cells: impl IntoIterator<Item = Cell>) {
        let cells: Vec<Cell> = cells.into_iter().collect();
        assert_eq!(cells.len(), self.columns.len(), "a cell for each column");
        self.rows.push(cells);
    }

    /// Whether a column holds numbers.
    pub(crate) fn is_numeric(&self, column: usize) -> bool {
        let numeric =
            |row: &Vec<Cell>| row[column].value.is_some() || row[column].kind != Kind::Plain;
        self.rows.iter().any(numeric)
    }
}

/// Whose number stands in a cell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Names and settings.
    #[default]
    Plain,
    /// A number of our runs.
    Ours,
    /// A published number; its looks tell it apart in every format.
    Published,
    /// A number that the publication took from elsewhere.
    Quoted,
    /// Ours minus published.
    Difference,
}

/// A cell of a table.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Cell {
    /// The text.
    pub text: String,
    /// The number with every digit, where it is one.
    pub value: Option<f64>,
    /// What stands after its ± with every digit, where there is that: a standard deviation, or a standard error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spread: Option<f64>,
    /// Whose number it is.
    pub kind: Kind,
    /// The place in the page where it comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// The place in the page that this is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub anchor: Option<String>,
}

impl Cell {
    /// A number, as text and with every digit.
    pub fn number(kind: Kind, text: impl Into<String>, value: f64) -> Self {
        Self {
            value: Some(value),
            ..Self::of(kind, text)
        }
    }

    /// A text that stands in place of a number of this kind.
    pub fn of(kind: Kind, text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            kind,
            ..Self::default()
        }
    }

    /// A number of ours with so many digits after the point.
    pub fn fixed(value: f64, digits: usize) -> Self {
        Self::number(Kind::Ours, format!("{value:.digits$}"), value)
    }

    /// A number of ours with so many digits, and an exponent.
    pub fn scientific(value: f64, digits: usize) -> Self {
        Self::number(Kind::Ours, format!("{value:.digits$e}"), value)
    }

    /// A number of ours and its spread, both with so many digits after the point.
    pub fn measured(value: f64, spread: f64, digits: usize) -> Self {
        let text = format!("{value:.digits$} ± {spread:.digits$}");
        Self::number(Kind::Ours, text, value).with_spread(Some(spread))
    }

    /// The same with what stands after its ±.
    pub fn with_spread(self, spread: Option<f64>) -> Self {
        Self { spread, ..self }
    }

    /// A count or a setting.
    pub fn count(value: impl std::fmt::Display) -> Self {
        value.to_string().into()
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self::of(Kind::Plain, text)
    }
}

/// A text as a part of a file's name, and of a place in a page.
pub fn slug(text: &str) -> String {
    let mut slug = String::new();
    for character in text.to_lowercase().chars() {
        match character {
            'a'..='z' | '0'..='9' => slug.push(character),
            _ if slug.ends_with('-') || slug.is_empty() => {}
            _ => slug.push('-'),
        }
    }
    slug.trim_end_matches('-').to_string()
}

/// Every table of the document, with its section.
pub fn tables(document: &Document) -> Vec<(&Section, &Table)> {
    fn find<'a>(blocks: &'a [Block], found: &mut Vec<&'a Table>) {
        for block in blocks {
            match block {
                Block::Table(table) => found.push(table),
                Block::Folded { blocks, .. } => find(blocks, found),
                _ => {}
            }
        }
    }
    let mut all = Vec::new();
    for section in &document.sections {
        let mut found = Vec::new();
        find(&section.blocks, &mut found);
        all.extend(found.into_iter().map(|table| (section, table)));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slug_names_a_file_anywhere() {
        assert_eq!(slug("Linear, K = 5 / JSA (MTMIS)"), "linear-k-5-jsa-mtmis");
        assert_eq!(slug("../../etc"), "etc");
        assert_eq!(slug("±"), "");
    }

    #[test]
    #[should_panic(expected = "a cell for each column")]
    fn a_row_has_a_cell_for_each_column() {
        Table::new("t", "", ["a", "b"]).push(["1".into()]);
    }
}
