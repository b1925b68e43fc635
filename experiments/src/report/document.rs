//! What a report holds, before it is written in one format or another.

use crate::plot::Figure;

/// A report.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// Heads it.
    pub title: String,
    /// Its parts.
    pub sections: Vec<Section>,
}

/// A part of a report, with a heading of its own.
#[derive(Debug, Clone, PartialEq)]
pub struct Section {
    /// Names its files and its place in the page: lower-case letters, digits and hyphens, and no other section's.
    pub id: String,
    /// Heads it.
    pub title: String,
    /// What is in it, in order.
    pub blocks: Vec<Block>,
}

/// A piece of a section.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// A paragraph.
    Text(String),
    /// A list of remarks.
    Notes(Vec<String>),
    /// A table.
    Table(Table),
    /// A figure that is drawn from data.
    Figure {
        /// Names its files.
        name: String,
        /// What is drawn.
        figure: Figure,
    },
    /// A picture, or a figure that a run has drawn: as a file.
    Image {
        /// Its file's name; the ending tells its kind.
        name: String,
        /// What it shows.
        caption: String,
        /// The file's content.
        bytes: Vec<u8>,
    },
    /// What most readers pass over.
    Folded {
        /// What it is.
        title: String,
        /// What is in it.
        blocks: Vec<Block>,
    },
}

/// A table.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// Names its files.
    pub name: String,
    /// What it shows.
    pub caption: String,
    /// Its columns.
    pub columns: Vec<Column>,
    /// Its rows, as long as there are columns.
    pub rows: Vec<Vec<Datum>>,
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Heads it.
    pub head: String,
    /// Whose numbers it holds.
    pub kind: Kind,
}

/// Whose numbers a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Names and settings.
    Plain,
    /// Numbers of our runs.
    Own,
    /// Published numbers: never in a column with ours, and told apart by their looks too.
    Published,
}

impl Column {
    /// A column of names or settings.
    pub fn plain(head: &str) -> Self {
        Self::new(head, Kind::Plain)
    }

    /// A column.
    pub fn new(head: &str, kind: Kind) -> Self {
        let head = head.into();
        Self { head, kind }
    }
}

/// What stands in a cell of a table.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Datum {
    /// As a person reads it.
    pub text: String,
    /// With every digit, where it is a number.
    pub exact: Option<f64>,
    /// The place in the page where it comes from.
    pub link: Option<String>,
    /// The place in the page that this is.
    pub anchor: Option<String>,
}

impl Datum {
    /// A number, as a person reads it and with every digit.
    pub fn number(text: String, exact: f64) -> Self {
        Self {
            text,
            exact: Some(exact),
            ..Self::default()
        }
    }
}

impl<T: Into<String>> From<T> for Datum {
    fn from(text: T) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
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
}
