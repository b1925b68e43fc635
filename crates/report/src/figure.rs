//! Figures: series of points as SVG, with their data beside them as CSV.
//!
//! A figure is read without its colours as well as with them: a style is a colour, a dash pattern and a marker together.
//!
//! ```
//! use helmholtz_report::figure::{Axis, Figure, Mark, Panel, Series};
//!
//! let squares = (1..=9).map(|x| [f64::from(x), f64::from(x * x)]).collect();
//! let series = vec![Series::new("exact", Mark::Line, 0, squares)];
//! let panel = Panel::new("squares", Axis::linear("x"), Axis::log("x²"), series);
//! let figure = Figure { title: "A figure".into(), columns: 1, panels: vec![panel] };
//! assert!(figure.svg().starts_with("<svg") && figure.csv().contains("squares,exact,9,81\n"));
//! ```

mod csv;
mod scale;
mod style;

mod svg;

pub use style::Style;

use crate::error::ReportError;
use crate::write::write_text;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// A figure of panels, filled row by row, with one legend for all of them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Figure {
    /// Heads it.
    pub title: String,
    /// Panels in a row.
    pub columns: usize,
    /// The panels.
    pub panels: Vec<Panel>,
}

/// A pair of axes and what is drawn on them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Panel {
    /// Heads it, and names it in the data.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// Series that are drawn, the first at the bottom.
    pub series: Vec<Series>,
}

impl Panel {
    /// Series on a pair of axes.
    pub fn new(title: impl Into<String>, x: Axis, y: Axis, series: Vec<Series>) -> Self {
        Self {
            title: title.into(),
            x,
            y,
            series,
        }
    }
}

/// An axis; it spans the values that are drawn on it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Axis {
    /// Quantity that it measures, with the unit.
    pub label: String,
    /// Whether it is logarithmic: values that are not positive are left out of the drawing, and kept in the data.
    pub log: bool,
    /// The values that are drawn, from the first to the last: others are left out of the drawing, and kept in the data.
    pub within: Option<[f64; 2]>,
}

impl Axis {
    /// A linear axis.
    pub fn linear(label: &str) -> Self {
        Self {
            label: label.into(),
            log: false,
            within: None,
        }
    }

    /// A logarithmic axis.
    pub fn log(label: &str) -> Self {
        Self {
            log: true,
            ..Self::linear(label)
        }
    }

    /// Whether a value can be drawn.
    fn shows(&self, value: f64) -> bool {
        let within = |[first, last]: [f64; 2]| (first..=last).contains(&value);
        value.is_finite() && (value > 0.0 || !self.log) && self.within.is_none_or(within)
    }
}

/// Points with a name.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Series {
    /// Its name in the legend and in the data; series of one name in several panels share an entry.
    pub label: String,
    /// Mark that draws the points.
    pub mark: Mark,
    /// Number of the colour, dash pattern and marker: the first is solid and black. Numbers beyond the last style begin again.
    pub style: usize,
    /// Pairs (x, y); a line breaks where one cannot be drawn.
    pub points: Vec<[f64; 2]>,
}

impl Series {
    /// Points drawn by a mark.
    pub fn new(label: impl Into<String>, mark: Mark, style: usize, points: Vec<[f64; 2]>) -> Self {
        Self {
            label: label.into(),
            mark,
            style,
            points,
        }
    }

    /// Points joined by a line.
    pub fn line(label: impl Into<String>, style: usize, points: Vec<[f64; 2]>) -> Self {
        Self::new(label, Mark::Line, style, points)
    }
}

/// Mark that draws the points of a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mark {
    /// Joined by a line.
    Line,
    /// A marker each.
    Points,
    /// Joined by a solid line, with a marker here and there, so that lines of different styles are told apart by it.
    Solid,
    /// The same with a dashed line.
    Dashed,
    /// A vertical line over the whole panel at each x; y counts only for what the axis spans.
    Rule,
}

impl Figure {
    /// The drawing, as a document of its own; each curve has its name as a title.
    pub fn svg(&self) -> String {
        svg::render(self, false)
    }

    /// The drawing for a page, with the data of its points in attributes.
    pub(crate) fn in_page(&self) -> String {
        svg::render(self, true).replace(" xmlns=\"http://www.w3.org/2000/svg\"", "")
    }

    /// The data: `panel,series,x,y`, a line for each point.
    pub fn csv(&self) -> String {
        csv::render(self)
    }

    /// Writes `<name>.svg` and `<name>.csv` into `folder`, and returns their paths.
    ///
    /// # Errors
    /// A folder or file that cannot be written; what was there before stays whole.
    pub fn write(&self, folder: &Path, name: &str) -> Result<[PathBuf; 2], ReportError> {
        Ok([
            write_text(folder, &format!("{name}.svg"), &self.svg())?,
            write_text(folder, &format!("{name}.csv"), &self.csv())?,
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn series(label: &str, mark: Mark, style: usize, points: &[[f64; 2]]) -> Series {
        Series::new(label, mark, style, points.to_vec())
    }

    pub(super) fn figure(y: Axis, series: Vec<Series>) -> Figure {
        let panel = |title| Panel::new(title, Axis::linear("iteration"), y.clone(), series.clone());
        Figure {
            title: "f < g & h".into(),
            columns: 2,
            panels: ["one", "two"].map(panel).to_vec(),
        }
    }

    #[test]
    fn drawing_and_data_are_written_side_by_side() {
        let dir = tempfile::tempdir().unwrap();
        let figure = figure(
            Axis::linear("y"),
            vec![series("a", Mark::Line, 0, &[[0.0, 1.0]])],
        );
        let paths = figure.write(&dir.path().join("new"), "fig").unwrap();
        assert!(paths[0].ends_with("new/fig.svg") && paths[1].ends_with("new/fig.csv"));
        assert_eq!(std::fs::read_to_string(&paths[1]).unwrap(), figure.csv());
        assert_eq!(
            std::fs::read_dir(dir.path().join("new")).unwrap().count(),
            2
        );
    }
}
