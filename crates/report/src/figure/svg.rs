//! The drawing of a figure.
//!
//! | group | class | attributes |
//! |---|---|---|
//! | a panel | `panel` | `data-x`, `data-y`: `low high`, then `log` on a logarithmic axis; `data-box`: left, top, width, height in pixels; `data-xlabel`, `data-ylabel` |
//! | a series in it | `series` | `data-name`; `data-points` in a page: `x,y` pairs with seven digits |
//! | an entry of the legend | `entry` | `data-name` |

use super::scale::Scale;
use super::style::{Marker, Style};
use super::{Axis, Figure, Mark, Panel, Series};
use crate::escape::escape;
use std::fmt::Write;

/// Pixels of a panel.
const PANEL: (f64, f64) = (460.0, 300.0);
/// Pixels around a panel's axes: left, right, top, bottom.
const MARGIN: (f64, f64, f64, f64) = (70.0, 16.0, 30.0, 46.0);
/// Pixels above the panels, and of a line of the legend below them.
const TITLE: f64 = 34.0;
const LEGEND_LINE: f64 = 24.0;
/// Pixels of a legend's sample, and about those of a letter.
const SAMPLE: f64 = 42.0;
const LETTER: f64 = 7.5;
/// Markers along a line that has them, about.
const MARKERS: usize = 8;
/// Labels along an axis, at the most.
const TICKS: usize = 7;

/// The figure as an SVG document of its own, or with the data of its points, for a page.
pub fn render(figure: &Figure, with_data: bool) -> String {
    let columns = figure.columns.clamp(1, figure.panels.len().max(1));
    let rows = figure.panels.len().div_ceil(columns);
    let width = columns as f64 * PANEL.0;
    let legend = Legend::new(figure, width);
    let height = TITLE + rows as f64 * PANEL.1 + legend.lines() as f64 * LEGEND_LINE;
    let title = escape(&figure.title);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"sans-serif\" font-size=\"11\" role=\"img\">\n<title>{title}</title>\n\
         <rect class=\"paper\" width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\n\
         <text x=\"12\" y=\"21\" font-size=\"14.5\">{title}</text>\n"
    );
    for (number, panel) in figure.panels.iter().enumerate() {
        let left = (number % columns) as f64 * PANEL.0;
        let top = TITLE + (number / columns) as f64 * PANEL.1;
        Area::new(panel, left, top).draw(panel, with_data, &mut out);
    }
    legend.draw(TITLE + rows as f64 * PANEL.1, &mut out);
    out += "</svg>\n";
    out
}

/// A number in pixels, with one digit.
fn px(value: f64) -> String {
    let text = format!("{value:.1}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

/// A number of the data with seven digits.
fn datum(value: f64) -> String {
    let rounded: f64 = format!("{value:.6e}").parse().unwrap_or(value);
    match (1e-4..1e15).contains(&rounded.abs()) || rounded == 0.0 {
        true => rounded.to_string(),
        false => format!("{rounded:e}"),
    }
}

/// A pair of axes on the drawing.
struct Area {
    x: Scale,
    y: Scale,
    /// Pixels of the box between the axes.
    left: f64,
    top: f64,
    width: f64,
    height: f64,
}

impl Area {
    fn new(panel: &Panel, left: f64, top: f64) -> Self {
        let points = || panel.series.iter().flat_map(|s| &s.points);
        let shown = || points().filter(|point| shows(panel, point));
        let (from_left, from_right, from_top, from_bottom) = MARGIN;
        Self {
            x: Scale::new(panel.x.log, shown().map(|p| p[0])),
            y: Scale::new(panel.y.log, shown().map(|p| p[1])),
            left: left + from_left,
            top: top + from_top,
            width: PANEL.0 - from_left - from_right,
            height: PANEL.1 - from_top - from_bottom,
        }
    }

    fn x(&self, value: f64) -> f64 {
        self.left + self.x.share(value) * self.width
    }

    fn y(&self, value: f64) -> f64 {
        self.top + (1.0 - self.y.share(value)) * self.height
    }

    fn draw(&self, panel: &Panel, with_data: bool, out: &mut String) {
        let axis = |scale: &Scale| {
            let log = if scale.log { " log" } else { "" };
            format!("{} {}{log}", datum(scale.low), datum(scale.high))
        };
        let (left, top) = (px(self.left), px(self.top));
        let (width, height) = (px(self.width), px(self.height));
        let (x, y) = (axis(&self.x), axis(&self.y));
        let _ = writeln!(
            out,
            "<g class=\"panel\" data-x=\"{x}\" data-y=\"{y}\" data-box=\"{left} {top} {width} {height}\" \
             data-xlabel=\"{}\" data-ylabel=\"{}\">",
            escape(&panel.x.label),
            escape(&panel.y.label)
        );
        self.frame(&panel.title, [&panel.x, &panel.y], out);
        for series in &panel.series {
            self.series(panel, series, with_data, out);
        }
        *out += "</g>\n";
    }

    /// Grid, labels and titles.
    fn frame(&self, title: &str, [x, y]: [&Axis; 2], out: &mut String) {
        let (right, bottom) = (self.left + self.width, self.top + self.height);
        let (middle, centre) = (self.left + self.width / 2.0, self.top + self.height / 2.0);
        let mut grid = String::new();
        let mut labels = String::new();
        for tick in self.x.ticks(TICKS) {
            let at = px(self.x(tick));
            let _ = write!(grid, "M{at} {}V{}", px(self.top), px(bottom));
            let (label, below) = (self.x.label(tick), px(bottom + 15.0));
            let _ = write!(
                labels,
                "<text x=\"{at}\" y=\"{below}\" text-anchor=\"middle\">{label}</text>"
            );
        }
        for tick in self.y.ticks(TICKS) {
            let at = self.y(tick);
            let _ = write!(grid, "M{} {}H{}", px(self.left), px(at), px(right));
            let (label, beside) = (self.y.label(tick), px(self.left - 6.0));
            let below = px(at + 4.0);
            let _ = write!(
                labels,
                "<text x=\"{beside}\" y=\"{below}\" text-anchor=\"end\">{label}</text>"
            );
        }
        let frame = format!(
            "M{} {}V{}H{}",
            px(self.left),
            px(self.top),
            px(bottom),
            px(right)
        );
        let (middle, centre) = (px(middle), px(centre));
        let (above, below, beside) = (px(self.top - 9.0), px(bottom + 34.0), px(self.left - 54.0));
        let (title, x, y) = (escape(title), escape(&x.label), escape(&y.label));
        let _ = writeln!(
            out,
            "<path class=\"grid\" d=\"{grid}\" stroke=\"#000\" stroke-opacity=\"0.12\"/>\
             <path class=\"frame\" d=\"{frame}\" fill=\"none\" stroke=\"#000\"/>{labels}\
             <text x=\"{middle}\" y=\"{above}\" text-anchor=\"middle\" font-size=\"12\">{title}</text>\
             <text x=\"{middle}\" y=\"{below}\" text-anchor=\"middle\" font-size=\"12\">{x}</text>\
             <text transform=\"translate({beside} {centre}) rotate(-90)\" text-anchor=\"middle\" font-size=\"12\">{y}</text>"
        );
    }

    fn series(&self, panel: &Panel, series: &Series, with_data: bool, out: &mut String) {
        let name = escape(&series.label);
        let style = Style::number(series.style);
        let data = match with_data {
            true => {
                let points = series.points.iter().filter(|point| shows(panel, point));
                let points = points.map(|[x, y]| format!("{},{}", datum(*x), datum(*y)));
                let points: Vec<String> = points.collect();
                format!(" data-points=\"{}\"", points.join(" "))
            }
            false => String::new(),
        };
        let _ = write!(
            out,
            "<g class=\"series c{}\" data-name=\"{name}\"{data} fill=\"none\" stroke=\"{}\" stroke-width=\"2\"><title>{name}</title>",
            series.style % Style::COUNT,
            style.colour
        );
        if series.mark == Mark::Rule {
            let shown = series.points.iter().filter(|point| shows(panel, point));
            for point in shown {
                let x = self.x(point[0]);
                draw(
                    series,
                    &[(x, self.top + self.height), (x, self.top + 8.0)],
                    out,
                );
            }
        } else {
            let runs = series.points.split(|point| !shows(panel, point));
            for run in runs.filter(|run| !run.is_empty()) {
                let points: Vec<_> = run.iter().map(|p| (self.x(p[0]), self.y(p[1]))).collect();
                draw(series, &points, out);
            }
        }
        *out += "</g>\n";
    }
}

fn shows(panel: &Panel, point: &[f64; 2]) -> bool {
    panel.x.shows(point[0]) && panel.y.shows(point[1])
}

/// Draws points in pixels as the series has them.
fn draw(series: &Series, points: &[(f64, f64)], out: &mut String) {
    let style = Style::number(series.style);
    let dash = match series.mark {
        Mark::Line => style.dash,
        Mark::Solid | Mark::Points => None,
        Mark::Dashed => Some((7, 5)),
        Mark::Rule => Some((1, 4)),
    };
    if series.mark != Mark::Points {
        let mut path = String::new();
        for (number, (x, y)) in points.iter().enumerate() {
            let _ = match number {
                0 => write!(path, "M{} {}", px(*x), px(*y)),
                1 => write!(path, "L{} {}", px(*x), px(*y)),
                _ => write!(path, " {} {}", px(*x), px(*y)),
            };
        }
        let dash = dash.map_or(String::new(), |(dash, gap)| {
            format!(" stroke-dasharray=\"{dash} {gap}\"")
        });
        let _ = write!(out, "<path d=\"{path}\"{dash}/>");
    }
    let step = points.len().div_ceil(MARKERS).max(1);
    // Lines of different styles have their markers at different points.
    let first = (2 * (series.style % Style::COUNT) + 1) * step / (2 * Style::COUNT);
    match series.mark {
        Mark::Line => {}
        Mark::Points => points.iter().for_each(|at| marker(style, *at, out)),
        Mark::Rule => points
            .last()
            .into_iter()
            .for_each(|at| marker(style, *at, out)),
        Mark::Solid | Mark::Dashed => {
            let sparse = points.iter().skip(first).step_by(step);
            sparse.for_each(|at| marker(style, *at, out));
        }
    }
}

fn marker(style: Style, (x, y): (f64, f64), out: &mut String) {
    let (cx, cy) = (px(x), px(y));
    let _ = match style.marker {
        Marker::Circle => write!(out, "<circle cx=\"{cx}\" cy=\"{cy}\" r=\"3\"/>"),
        Marker::Disc => write!(
            out,
            "<circle cx=\"{cx}\" cy=\"{cy}\" r=\"3\" fill=\"{}\"/>",
            style.colour
        ),
        Marker::Cross => write!(out, "<path d=\"M{cx} {cy}m-3-3 6 6m0-6-6 6\"/>"),
        Marker::Triangle => write!(
            out,
            "<path d=\"M{cx} {cy}m0-4 4 7h-8z\" fill=\"{}\"/>",
            style.colour
        ),
        Marker::Square => write!(out, "<path d=\"M{cx} {cy}m-3-3h6v6h-6z\"/>"),
        Marker::Plus => write!(out, "<path d=\"M{cx} {cy}m-4 0h8m-4-4v8\"/>"),
    };
}

/// The series of all panels, each name once.
struct Legend<'a> {
    entries: Vec<&'a Series>,
    /// Pixels of an entry, and how many stand in a line.
    width: f64,
    columns: usize,
}

impl<'a> Legend<'a> {
    fn new(figure: &'a Figure, width: f64) -> Self {
        let mut entries: Vec<&Series> = Vec::new();
        for series in figure.panels.iter().flat_map(|panel| &panel.series) {
            if entries.iter().all(|entry| entry.label != series.label) {
                entries.push(series);
            }
        }
        let letters = entries.iter().map(|s| s.label.chars().count()).max();
        let own = SAMPLE + 24.0 + LETTER * letters.unwrap_or(0) as f64;
        Self {
            entries,
            width: own,
            columns: ((width / own) as usize).max(1),
        }
    }

    fn lines(&self) -> usize {
        self.entries.len().div_ceil(self.columns)
    }

    fn draw(&self, top: f64, out: &mut String) {
        for (index, series) in self.entries.iter().enumerate() {
            let x = 12.0 + self.width * (index % self.columns) as f64;
            let y = top + LEGEND_LINE * (index / self.columns) as f64 + 10.0;
            let sample = match series.mark {
                Mark::Line => vec![(x, y), (x + SAMPLE, y)],
                Mark::Solid | Mark::Dashed => vec![(x, y), (x + SAMPLE / 2.0, y), (x + SAMPLE, y)],
                Mark::Rule => vec![(x + SAMPLE / 2.0, y + 9.0), (x + SAMPLE / 2.0, y - 6.0)],
                Mark::Points => [1.0, 2.0, 3.0].map(|k| (x + k * SAMPLE / 4.0, y)).to_vec(),
            };
            let (name, style) = (escape(&series.label), Style::number(series.style));
            let _ = write!(
                out,
                "<g class=\"entry\" data-name=\"{name}\"><g class=\"c{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\">",
                series.style % Style::COUNT,
                style.colour
            );
            draw(series, &sample, out);
            let (x, y) = (px(x + SAMPLE + 8.0), px(y + 4.0));
            let _ = writeln!(
                out,
                "</g><text x=\"{x}\" y=\"{y}\" font-size=\"12\">{name}</text></g>"
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::tests::{figure, series};

    fn drawn(figure: &Figure) -> String {
        render(figure, false)
    }

    #[test]
    fn the_drawing_holds_titles_labels_and_one_legend_for_all_panels() {
        let points = [[0.0, 1.0], [1.0, 3.0], [2.0, 2.0]];
        let drawing = drawn(&figure(
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
        assert_eq!(drawing.matches(">exact law</text>").count(), 1);
        // Each curve has its name, which a browser shows where the pointer rests on it.
        assert_eq!(drawing.matches("<title>exact law</title>").count(), 2);
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
        let lines = |y: Axis, points: &[[f64; 2]]| {
            let drawing = drawn(&figure(y, vec![series("a", Mark::Line, 0, points)]));
            drawing.matches("<path d=").count()
        };
        // Two panels and the legend; NaN breaks the line in either case.
        assert_eq!(lines(Axis::log("y"), &points), 2 * 2 + 1);
        assert_eq!(lines(Axis::linear("y"), &points), 2 * 2 + 1);
        assert_eq!(lines(Axis::log("y"), &points[..2]), 3);
    }

    #[test]
    fn marked_lines_have_a_few_markers_and_rules_stand_over_the_whole_panel() {
        let points: Vec<[f64; 2]> = (0..100).map(|x| [f64::from(x), 1.0]).collect();
        let drawing = drawn(&figure(
            Axis::linear("y"),
            vec![
                series("train", Mark::Solid, 0, &points),
                series("test", Mark::Dashed, 3, &points),
                series("switch", Mark::Rule, 0, &[[60.0, 1.0]]),
            ],
        ));
        // Two panels of eight circles, and three in the legend; the rule's own in each panel and in the legend.
        assert_eq!(drawing.matches("<circle").count(), 2 * 8 + 3 + 3);
        assert!(drawing.contains("switch") && drawing.contains("stroke-dasharray=\"7 5\""));
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
        assert_eq!(drawn(&figure).matches("<circle").count(), 2 * 2 + 3);
        assert!(figure.csv().contains("one,a,0,90\n"));
    }

    #[test]
    fn a_page_has_the_data_of_what_is_drawn() {
        let points = [[0.0, 105.832_71], [1.0, f64::NAN], [2.0, 1e-9]];
        let figure = figure(Axis::linear("y"), vec![series("a", Mark::Line, 0, &points)]);
        let page = render(&figure, true);
        assert!(page.contains("data-points=\"0,105.8327 2,1e-9\""), "{page}");
        assert!(!drawn(&figure).contains("data-points"));
    }

    #[test]
    fn nothing_to_draw_is_drawn() {
        let empty = Figure {
            title: String::new(),
            columns: 3,
            panels: vec![],
        };
        assert!(drawn(&empty).starts_with("<svg"));
        assert!(drawn(&figure(Axis::log("y"), vec![])).contains("two"));
    }
}
