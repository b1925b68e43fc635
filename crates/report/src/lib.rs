//! Documents of tables, notes, figures and images, and their renderers.
//!
//! | module | holds |
//! |---|---|
//! | [`document`] | [`Document`], [`Table`], [`Cell`] (text, exact value, kind), [`Note`] (severity, text) |
//! | [`text`] | a document on a terminal |
//! | [`markdown`] | a document in Markdown |
//! | [`csv`](mod@csv) | a table as comma-separated values, every number with all its digits |
//! | [`latex`] | all tables of a document in LaTeX |
//! | [`html`] | a document as one page that needs no network |
//! | [`figure`] | series of points, drawn as SVG, with their data as CSV |
//! | [`picture`] | grey pictures as PNG |
//! | [`files`] | files replaced in one step, and a document in all formats in a folder |
//!
//! ```
//! use helmholtz_report::{Block, Cell, Document, Kind, Note, Table, text};
//!
//! let mut table = Table::new("results", "Test NLL, nats", ["Method", "Ours", "Published"]);
//! table.push([
//!     "JSA".into(),
//!     Cell::number(Kind::Ours, "105.6", 105.583),
//!     Cell::number(Kind::Published, "105.5 ± 0.1", 105.5),
//! ]);
//! let notes = vec![Note::caution("One seed of five.")];
//! let document = Document::of_blocks("Table 1", vec![Block::Table(table), Block::Notes(notes)]);
//! assert!(text::render(&document, false).contains("105.5 ± 0.1"));
//! ```

pub mod csv;
pub mod document;
mod error;
mod escape;
pub mod figure;
pub mod files;
pub mod html;
pub mod latex;
pub mod markdown;
pub mod picture;
mod records;
pub mod text;
mod write;

pub use document::{Block, Cell, Document, Kind, Note, Section, Severity, Table};
pub use error::ReportError;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
