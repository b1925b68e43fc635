//! The drawing of a figure.

use super::scale::Scale;
use super::style::{Marker, Style};
use super::{Figure, Mark, Panel, Series};
use plotters::coord::ranged1d::Ranged;
use plotters::coord::{CoordTranslate, Shift};
use plotters::element::DashedPathElement;
use plotters::prelude::{
    BLACK, ChartBuilder, Circle, Color, Cross, DrawingArea, DrawingAreaErrorKind, EmptyElement,
    IntoDrawingArea, PathElement, Rectangle, SVGBackend, Text, TriangleMarker, WHITE,
};

/// Pixels of a panel.
const PANEL: (u32, u32) = (460, 300);
/// Pixels above the panels, and of a line of the legend below them.
const TITLE: u32 = 34;
const LEGEND_LINE: u32 = 24;
/// Pixels of a legend's sample, and about those of a letter.
const SAMPLE: i32 = 42;
/// Markers along a line that has them, about.
const MARKERS: usize = 8;
const LETTER: i32 = 8;
const FONT: &str = "sans-serif";

type Area<'a, C> = DrawingArea<SVGBackend<'a>, C>;
type Drawn = Result<(), DrawingAreaErrorKind<std::io::Error>>;

/// The figure as an SVG document.
pub fn render(figure: &Figure) -> String {
    let columns = figure.columns.clamp(1, figure.panels.len().max(1));
    let rows = figure.panels.len().div_ceil(columns);
    let legend = Legend::new(figure, columns as u32 * PANEL.0);
    let size = (
        columns as u32 * PANEL.0,
        TITLE + rows as u32 * PANEL.1 + legend.lines() * LEGEND_LINE,
    );
    let mut out = String::new();
    let root = SVGBackend::with_string(&mut out, size).into_drawing_area();
    draw(figure, &legend, (rows, columns), &root).expect("a string takes any drawing");
    drop(root);
    out
}

fn draw(figure: &Figure, legend: &Legend, shape: (usize, usize), root: &Area<Shift>) -> Drawn {
    root.fill(&WHITE)?;
    root.draw(&Text::new(figure.title.clone(), (12, 10), (FONT, 18)))?;
    let (_, below) = root.split_vertically(TITLE);
    let (panels, bottom) = below.split_vertically(shape.0 as u32 * PANEL.1);
    for (area, panel) in panels.split_evenly(shape).iter().zip(&figure.panels) {
        draw_panel(area, panel)?;
    }
    legend.draw(&bottom)?;
    root.present()
}

fn draw_panel(area: &Area<Shift>, panel: &Panel) -> Drawn {
    let shown = |point: &&[f64; 2]| panel.x.shows(point[0]) && panel.y.shows(point[1]);
    let points = || panel.series.iter().flat_map(|s| &s.points).filter(shown);
    let mut chart = ChartBuilder::on(area)
        .caption(&panel.title, (FONT, 14))
        .margin(8)
        .margin_right(16)
        .x_label_area_size(40)
        .y_label_area_size(62)
        .build_cartesian_2d(
            Scale::new(panel.x.log, points().map(|p| p[0])),
            Scale::new(panel.y.log, points().map(|p| p[1])),
        )?;
    chart
        .configure_mesh()
        .light_line_style(WHITE)
        .bold_line_style(BLACK.mix(0.12))
        .x_labels(7)
        .y_labels(7)
        .x_desc(&panel.x.label)
        .y_desc(&panel.y.label)
        .label_style((FONT, 12))
        .axis_desc_style((FONT, 13))
        .draw()?;
    let y = chart.plotting_area().as_coord_spec().y_spec();
    let (bottom, top) = (y.range().start, y.near_end());
    for series in &panel.series {
        if series.mark == Mark::Rule {
            for point in series.points.iter().filter(shown) {
                let ends = [bottom, top].map(|y| (point[0], y));
                draw_series(chart.plotting_area(), series, ends.to_vec())?;
            }
            continue;
        }
        let runs = series.points.split(|point| !shown(&point));
        for run in runs.filter(|run| !run.is_empty()) {
            let points = run.iter().map(|&[x, y]| (x, y)).collect();
            draw_series(chart.plotting_area(), series, points)?;
        }
    }
    Ok(())
}

/// Draws points as a series has them, in whatever coordinates.
fn draw_series<C>(area: &Area<C>, series: &Series, points: Vec<C::From>) -> Drawn
where
    C: CoordTranslate,
    C::From: Clone + 'static,
{
    let style = Style::number(series.style);
    let stroke = style.stroke();
    let sparse = |points: &[C::From]| -> Vec<C::From> {
        let step = points.len().div_ceil(MARKERS).max(1);
        // Lines of different styles have their markers at different points.
        let first = (2 * series.style + 1) * step / (2 * Style::COUNT);
        points.iter().skip(first).step_by(step).cloned().collect()
    };
    match (series.mark, style.dash) {
        (Mark::Line, Some((dash, gap))) => {
            area.draw(&DashedPathElement::new(points, dash, gap, stroke))
        }
        (Mark::Line, None) => area.draw(&PathElement::new(points, stroke)),
        (Mark::Points, _) => draw_markers(area, style, points),
        (Mark::Solid, _) => {
            area.draw(&PathElement::new(points.clone(), stroke))?;
            draw_markers(area, style, sparse(&points))
        }
        (Mark::Dashed, _) => {
            area.draw(&DashedPathElement::new(points.clone(), 7, 5, stroke))?;
            draw_markers(area, style, sparse(&points))
        }
        // From the bottom to the top, by whoever knows how high the panel is; its style's marker stands on it.
        (Mark::Rule, _) => {
            area.draw(&DashedPathElement::new(points.clone(), 1, 4, stroke))?;
            draw_markers(area, style, points.last().cloned().into_iter().collect())
        }
    }
}

fn draw_markers<C>(area: &Area<C>, style: Style, points: Vec<C::From>) -> Drawn
where
    C: CoordTranslate,
    C::From: Clone + 'static,
{
    let (stroke, fill) = (style.stroke(), style.fill());
    points.into_iter().try_for_each(|point| match style.marker {
        Marker::Circle => area.draw(&Circle::new(point, 3, stroke)),
        Marker::Disc => area.draw(&Circle::new(point, 3, fill)),
        Marker::Cross => area.draw(&Cross::new(point, 3, stroke)),
        Marker::Triangle => area.draw(&TriangleMarker::new(point, 4, fill)),
        Marker::Square => {
            let square = Rectangle::new([(-3, -3), (3, 3)], stroke);
            area.draw(&(EmptyElement::at(point) + square))
        }
        Marker::Plus => {
            let across = PathElement::new(vec![(-4, 0), (4, 0)], stroke);
            let down = PathElement::new(vec![(0, -4), (0, 4)], stroke);
            area.draw(&(EmptyElement::at(point) + across + down))
        }
    })
}

/// The series of all panels, each name once.
struct Legend<'a> {
    entries: Vec<&'a Series>,
    /// Pixels of an entry, and how many stand in a line.
    width: i32,
    columns: usize,
}

impl<'a> Legend<'a> {
    fn new(figure: &'a Figure, width: u32) -> Self {
        let mut entries: Vec<&Series> = Vec::new();
        for series in figure.panels.iter().flat_map(|panel| &panel.series) {
            if entries.iter().all(|entry| entry.label != series.label) {
                entries.push(series);
            }
        }
        let letters = entries.iter().map(|s| s.label.chars().count()).max();
        let own = SAMPLE + 24 + LETTER * letters.unwrap_or(0) as i32;
        Self {
            entries,
            width: own,
            columns: (width as usize / own as usize).max(1),
        }
    }

    fn lines(&self) -> u32 {
        self.entries.len().div_ceil(self.columns) as u32
    }

    fn draw(&self, area: &Area<Shift>) -> Drawn {
        for (index, series) in self.entries.iter().enumerate() {
            let x = 12 + self.width * (index % self.columns) as i32;
            let y = LEGEND_LINE as i32 * (index / self.columns) as i32 + 10;
            let sample = match series.mark {
                Mark::Line => vec![(x, y), (x + SAMPLE, y)],
                Mark::Solid | Mark::Dashed => {
                    vec![(x, y), (x + SAMPLE / 2, y), (x + SAMPLE, y)]
                }
                Mark::Rule => vec![(x + SAMPLE / 2, y + 9), (x + SAMPLE / 2, y - 6)],
                Mark::Points => [1, 2, 3].map(|k| (x + k * SAMPLE / 4, y)).to_vec(),
            };
            draw_series(area, series, sample)?;
            let at = (x + SAMPLE + 8, y - 6);
            area.draw(&Text::new(series.label.clone(), at, (FONT, 13)))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::Axis;
    use crate::figure::tests::{figure, series};

    #[test]
    fn the_drawing_holds_titles_labels_and_one_legend_for_all_panels() {
        let points = [[0.0, 1.0], [1.0, 3.0], [2.0, 2.0]];
        let drawing = render(&figure(
            Axis::linear("height, cm"),
            vec![
                series("exact law", Mark::Line, 0, &points),
                series("sampled", Mark::Points, 0, &points),
            ],
        ));
        assert!(drawing.starts_with("<svg") && drawing.trim_end().ends_with("</svg>"));
        for text in ["f &lt; g &amp; h", "one", "two", "iteration", "height, cm"] {
            assert!(drawing.contains(text), "no `{text}`");
        }
        assert_eq!(drawing.matches("exact law").count(), 1);
        // Two panels of three markers, and three in the legend.
        assert_eq!(drawing.matches("<circle").count(), 9);
    }

    #[test]
    fn what_a_logarithmic_axis_cannot_show_breaks_the_line() {
        let points = [
            [0.0, 1.0],
            [1.0, 10.0],
            [2.0, 0.0],
            [3.0, f64::NAN],
            [4.0, 10.0],
            [5.0, 1.0],
        ];
        let lines = |y: Axis| {
            let drawing = render(&figure(y, vec![series("a", Mark::Line, 0, &points)]));
            drawing.matches("stroke-width=\"2\"").count()
        };
        // Two panels and the legend; NaN breaks the line in either case.
        assert_eq!(lines(Axis::log("y")), 2 * 2 + 1);
        assert_eq!(lines(Axis::linear("y")), 2 * 2 + 1);
        let gap = render(&figure(
            Axis::log("y"),
            vec![series("a", Mark::Line, 0, &points[..2])],
        ));
        assert_eq!(gap.matches("stroke-width=\"2\"").count(), 3);
    }

    #[test]
    fn marked_lines_have_a_few_markers_and_rules_stand_over_the_whole_panel() {
        let points: Vec<[f64; 2]> = (0..100).map(|x| [f64::from(x), 1.0]).collect();
        let drawing = render(&figure(
            Axis::linear("y"),
            vec![
                series("train", Mark::Solid, 0, &points),
                series("test", Mark::Dashed, 3, &points),
                series("switch", Mark::Rule, 0, &[[60.0, 1.0]]),
            ],
        ));
        // Two panels of eight circles, and three in the legend; the rule's own in each panel and in the legend.
        assert_eq!(drawing.matches("<circle").count(), 2 * 8 + 3 + 3);
        assert!(drawing.contains("switch") && drawing.contains("<rect"));
    }

    #[test]
    fn values_beyond_an_axis_are_in_the_data_alone() {
        let y = Axis {
            within: Some([1.0, 3.0]),
            ..Axis::linear("y")
        };
        let points = [[0.0, 90.0], [1.0, 3.0], [2.0, 1.0]];
        let figure = figure(y, vec![series("a", Mark::Points, 0, &points)]);
        // Two panels of two circles, and three in the legend.
        assert_eq!(render(&figure).matches("<circle").count(), 2 * 2 + 3);
        assert!(figure.csv().contains("one,a,0,90\n"));
    }

    #[test]
    fn nothing_to_draw_is_drawn() {
        let empty = Figure {
            title: String::new(),
            columns: 3,
            panels: vec![],
        };
        assert!(render(&empty).starts_with("<svg"));
        assert!(render(&figure(Axis::log("y"), vec![])).contains("two"));
    }
}
