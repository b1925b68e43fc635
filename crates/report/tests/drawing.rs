//! The drawing of a figure, measured: every mark stands at the place of its value, and nothing lies over something else.
//!
//! Places are computed here from a panel's box and the ends of its axes, which the drawing states in attributes; the drawing is
//! read back with an XML parser.

use helmholtz_report::Document;
use helmholtz_report::document::Block;
use helmholtz_report::figure::{Axis, Figure, Mark, Panel, Series};
use roxmltree::{Document as Xml, Node};

/// Half of the last digit of a place in pixels, and the rounding of the arithmetic.
const TOLERANCE: f64 = 0.051;

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= TOLERANCE
}

/// The numbers in a text, whatever stands between them.
fn numbers(text: &str) -> Vec<f64> {
    let parts = text.split(|c: char| !(c.is_ascii_digit() || "+-.e".contains(c)));
    parts.filter_map(|part| part.parse().ok()).collect()
}

fn number(node: Node, name: &str) -> f64 {
    node.attribute(name).unwrap().parse().unwrap()
}

/// The groups of a class.
fn groups<'a>(node: Node<'a, 'a>, class: &str) -> Vec<Node<'a, 'a>> {
    let has = |node: &Node| {
        let classes = node.attribute("class").unwrap_or_default();
        classes.split(' ').any(|each| each == class)
    };
    node.descendants().filter(has).collect()
}

/// The vertices of a line.
fn vertices(path: Node) -> Vec<[f64; 2]> {
    let numbers = numbers(path.attribute("d").unwrap());
    numbers
        .chunks_exact(2)
        .map(|pair| [pair[0], pair[1]])
        .collect()
}

/// A box between axes, by what the drawing says of it.
struct Frame {
    left: f64,
    top: f64,
    width: f64,
    height: f64,
    axes: [(f64, f64, bool); 2],
}

impl Frame {
    fn of(panel: Node) -> Self {
        let place = numbers(panel.attribute("data-box").unwrap());
        let axis = |name: &str| {
            let text = panel.attribute(name).unwrap();
            let ends = numbers(text);
            (ends[0], ends[1], text.ends_with("log"))
        };
        Self {
            left: place[0],
            top: place[1],
            width: place[2],
            height: place[3],
            axes: [axis("data-x"), axis("data-y")],
        }
    }

    fn right(&self) -> f64 {
        self.left + self.width
    }

    fn bottom(&self) -> f64 {
        self.top + self.height
    }

    /// Where a point belongs.
    fn place(&self, point: [f64; 2]) -> [f64; 2] {
        let share = |value: f64, (low, high, log): (f64, f64, bool)| match log {
            false => (value - low) / (high - low),
            true => (value.ln() - low.ln()) / (high.ln() - low.ln()),
        };
        [
            self.left + share(point[0], self.axes[0]) * self.width,
            self.bottom() - share(point[1], self.axes[1]) * self.height,
        ]
    }

    fn holds(&self, [x, y]: [f64; 2]) -> bool {
        let in_width = (self.left - TOLERANCE..=self.right() + TOLERANCE).contains(&x);
        in_width && (self.top - TOLERANCE..=self.bottom() + TOLERANCE).contains(&y)
    }
}

/// Five panels in rows of two, with the same six series on a linear and on a logarithmic axis.
fn figure() -> Figure {
    let points = |style: u32| -> Vec<[f64; 2]> {
        let at = |x: u32| [f64::from(x), f64::from(1 + style) * f64::from(1 + x * x)];
        (0..48).map(at).collect()
    };
    let marks = [
        Mark::Line,
        Mark::Solid,
        Mark::Dashed,
        Mark::Points,
        Mark::Solid,
        Mark::Solid,
    ];
    let mut series: Vec<Series> = (0..6)
        .map(|style: u32| {
            let name = format!("series {style} with a name of some length");
            let mark = marks[style as usize];
            Series::new(name, mark, style as usize, points(style))
        })
        .collect();
    series.push(Series::new(
        "switch",
        Mark::Rule,
        0,
        vec![[12.0, 1.0], [36.0, 1.0]],
    ));
    let panel = |number: usize| {
        let y = match number % 2 {
            0 => Axis::linear("loss"),
            _ => Axis::log("loss"),
        };
        let title = format!("panel {number}");
        Panel::new(title, Axis::linear("step"), y, series.clone())
    };
    Figure {
        title: "Losses".into(),
        columns: 2,
        panels: (0..5).map(panel).collect(),
    }
}

/// Looks at the drawing.
fn look(figure: &Figure, at: impl Fn(Node)) {
    let drawing = figure.svg();
    at(Xml::parse(&drawing).unwrap().root_element());
}

/// A name of the legend, and the box that it fills, at about 7.5 pixels a letter.
fn text_box(text: Node) -> (String, [f64; 4]) {
    let name = text.text().unwrap_or_default().to_string();
    let (x, y) = (number(text, "x"), number(text, "y"));
    let width = 7.5 * name.chars().count() as f64;
    (name, [x, y - 11.0, x + width, y])
}

#[test]
fn panels_fill_rows_and_neither_overlap_nor_leave_the_paper() {
    look(&figure(), |svg| {
        let paper = [number(svg, "width"), number(svg, "height")];
        assert_eq!(
            numbers(svg.attribute("viewBox").unwrap())[2..],
            paper,
            "the drawing fills its paper"
        );
        let panels = groups(svg, "panel");
        let frames: Vec<Frame> = panels.iter().map(|panel| Frame::of(*panel)).collect();
        assert_eq!(frames.len(), 5);
        let (across, down) = (
            frames[1].left - frames[0].left,
            frames[2].top - frames[0].top,
        );
        for (index, frame) in frames.iter().enumerate() {
            let (column, row) = ((index % 2) as f64, (index / 2) as f64);
            assert!(close(frame.left, frames[0].left + column * across));
            assert!(close(frame.top, frames[0].top + row * down));
            assert_eq!(
                (frame.width, frame.height),
                (frames[0].width, frames[0].height)
            );
            assert!(frame.right() < paper[0] && frame.bottom() < paper[1]);
        }
        // Room for labels at the left, and for titles above and below.
        assert!(across > frames[0].width + 60.0 && down > frames[0].height + 40.0);
        assert!(frames[0].left > 60.0 && frames[0].top > 40.0);
        // The paper is as wide as its panels, and no higher than they and the legend.
        assert!(paper[0] < frames[1].right() + 30.0);
        let entries = groups(svg, "entry");
        let last = entries.last().unwrap().descendants();
        let last = last
            .filter(|node| node.has_tag_name("text"))
            .map(|node| number(node, "y"));
        let below = paper[1] - last.fold(0.0, f64::max);
        assert!((0.0..24.0).contains(&below), "{below} under the legend");
    });
}

#[test]
fn points_stand_at_the_places_of_their_values() {
    let figure = figure();
    look(&figure, |svg| {
        for (panel, of) in groups(svg, "panel").into_iter().zip(&figure.panels) {
            let frame = Frame::of(panel);
            let drawn = groups(panel, "series");
            assert_eq!(drawn.len(), of.series.len());
            for (node, series) in drawn.into_iter().zip(&of.series) {
                assert_eq!(node.attribute("data-name"), Some(series.label.as_str()));
                let places = series.points.iter().map(|point| frame.place(*point));
                let places: Vec<[f64; 2]> = places.collect();
                assert!(places.iter().all(|place| frame.holds(*place)));
                let same = |a: &[f64; 2], b: &[f64; 2]| close(a[0], b[0]) && close(a[1], b[1]);
                let mut lines = node.children().filter(|n| n.has_tag_name("path"));
                match series.mark {
                    Mark::Points => {
                        let squares: Vec<[f64; 2]> = lines.map(|n| vertices(n)[0]).collect();
                        assert_eq!(squares.len(), places.len());
                        assert!(squares.iter().zip(&places).all(|(a, b)| same(a, b)));
                    }
                    Mark::Rule => {
                        let paths: Vec<_> = lines.map(vertices).collect();
                        assert_eq!(paths.len(), 2);
                        for (path, place) in paths.iter().zip(&places) {
                            assert!(close(path[0][0], place[0]) && close(path[1][0], place[0]));
                            assert!(close(path[0][1], frame.bottom()));
                            // Just under the upper edge, where its marker has room.
                            assert!(close(path[1][1], frame.top + 8.0));
                        }
                    }
                    Mark::Line | Mark::Solid | Mark::Dashed => {
                        let line = lines.next().unwrap();
                        let path = line.attribute("d").unwrap();
                        assert!(path.starts_with('M') && path.matches('L').count() == 1);
                        let line = vertices(line);
                        assert_eq!(line.len(), places.len());
                        assert!(line.iter().zip(&places).all(|(a, b)| same(a, b)));
                    }
                }
            }
        }
    });
}

/// The lines of a path, one for each `M`.
fn strokes(path: Node) -> Vec<Vec<f64>> {
    let parts = path.attribute("d").unwrap().split('M').skip(1);
    parts.map(numbers).collect()
}

#[test]
fn ticks_stand_at_their_values_with_their_labels_beside_them() {
    look(&figure(), |svg| {
        for panel in groups(svg, "panel") {
            let frame = Frame::of(panel);
            let texts: Vec<Node> = panel
                .children()
                .filter(|node| node.has_tag_name("text") && node.attribute("font-size").is_none())
                .collect();
            let (below, beside): (Vec<Node>, Vec<Node>) = texts
                .into_iter()
                .partition(|text| text.attribute("text-anchor") == Some("middle"));
            assert!(below.len() >= 4 && beside.len() >= 2);
            let value = |text: &Node| -> f64 { text.text().unwrap().parse().unwrap() };
            let mut expected = Vec::new();
            for text in &below {
                let at = frame.place([value(text), frame.axes[1].0])[0];
                assert!(close(number(*text, "x"), at));
                assert!(close(number(*text, "y"), frame.bottom() + 15.0));
                expected.push(vec![at, frame.top, frame.bottom()]);
            }
            for text in &beside {
                let at = frame.place([frame.axes[0].0, value(text)])[1];
                assert!(close(number(*text, "x"), frame.left - 6.0));
                // Half of a letter's height under the line.
                assert!(close(number(*text, "y"), at + 4.0));
                expected.push(vec![frame.left, at, frame.right()]);
            }
            let grid = strokes(groups(panel, "grid")[0]);
            assert_eq!(grid.len(), expected.len());
            for (line, expected) in grid.iter().zip(&expected) {
                assert!(line.iter().zip(expected).all(|(a, b)| close(*a, *b)));
            }
            let edge = numbers(groups(panel, "frame")[0].attribute("d").unwrap());
            let corners = [frame.left, frame.top, frame.bottom(), frame.right()];
            assert!(edge.iter().zip(corners).all(|(a, b)| close(*a, b)));
        }
    });
}

#[test]
fn titles_are_centred_on_what_they_name() {
    look(&figure(), |svg| {
        for (index, panel) in groups(svg, "panel").into_iter().enumerate() {
            let frame = Frame::of(panel);
            let centre = [
                frame.left + frame.width / 2.0,
                frame.top + frame.height / 2.0,
            ];
            let mut titles = panel
                .children()
                .filter(|node| node.has_tag_name("text") && node.attribute("font-size").is_some());
            let (title, x, y) = (
                titles.next().unwrap(),
                titles.next().unwrap(),
                titles.next().unwrap(),
            );
            assert_eq!(title.text(), Some(format!("panel {index}").as_str()));
            assert_eq!((x.text(), y.text()), (Some("step"), Some("loss")));
            for text in [title, x] {
                assert!(close(number(text, "x"), centre[0]));
            }
            assert!(close(number(title, "y"), frame.top - 9.0));
            // Under the labels of the ticks, and left of them.
            assert!(close(number(x, "y"), frame.bottom() + 34.0));
            let turned = numbers(y.attribute("transform").unwrap());
            assert!(close(turned[0], frame.left - 54.0) && close(turned[1], centre[1]));
            assert_eq!(turned[2], -90.0);
        }
    });
}

#[test]
fn the_legend_names_each_series_once_and_no_two_entries_overlap() {
    let figure = figure();
    look(&figure, |svg| {
        let paper = [number(svg, "width"), number(svg, "height")];
        let bottom = groups(svg, "panel")
            .into_iter()
            .map(|panel| Frame::of(panel).bottom())
            .fold(0.0, f64::max);
        let entries = groups(svg, "entry");
        let names: Vec<_> = entries.iter().map(|n| n.attribute("data-name")).collect();
        let expected = figure.panels[0].series.iter();
        let expected: Vec<_> = expected.map(|s| Some(s.label.as_str())).collect();
        assert_eq!(names, expected);
        let mut boxes: Vec<[f64; 4]> = Vec::new();
        for entry in &entries {
            let text = entry.children().find(|node| node.has_tag_name("text"));
            let (name, [left, top, right, base]) = text_box(text.unwrap());
            assert_eq!(Some(name.as_str()), entry.attribute("data-name"));
            // The sample: 42 pixels wide, left of its name, and at half of a letter's height.
            let sample = entry.children().find(|node| node.has_tag_name("g"));
            let sample = sample.unwrap().children();
            let lines: Vec<Vec<[f64; 2]>> = sample
                .filter(|node| {
                    node.has_tag_name("path") && !node.attribute("d").unwrap().contains('m')
                })
                .map(vertices)
                .collect();
            let middle = base - 4.0;
            let start = left - 50.0;
            if name.starts_with("series 3") {
                // Three squares at the quarters of the sample.
                let markers = entry.descendants().filter(|n| n.has_tag_name("path"));
                let at: Vec<[f64; 2]> = markers.map(|marker| vertices(marker)[0]).collect();
                for (at, quarter) in at.iter().zip([1.0, 2.0, 3.0]) {
                    assert!(close(at[0], start + quarter * 10.5) && close(at[1], middle));
                }
                assert_eq!(at.len(), 3);
            }
            for line in &lines {
                let (first, last) = (line[0], line[line.len() - 1]);
                if name == "switch" {
                    assert!(close(first[0], start + 21.0) && close(last[0], start + 21.0));
                    assert!(close(first[1], middle + 9.0) && close(last[1], middle - 6.0));
                } else {
                    assert!(close(first[0], start) && close(last[0], start + 42.0));
                    assert!(line.iter().all(|at| close(at[1], middle)));
                }
            }
            assert!(start >= 0.0 && right <= paper[0] && base <= paper[1]);
            assert!(top > bottom + 40.0, "under the last panel and its labels");
            boxes.push([start, top.min(middle - 6.0), right, base.max(middle + 9.0)]);
        }
        for (index, a) in boxes.iter().enumerate() {
            for b in &boxes[..index] {
                let apart = a[0] >= b[2] || b[0] >= a[2] || a[1] >= b[3] || b[1] >= a[3];
                assert!(apart, "{a:?} over {b:?}");
            }
        }
        // Line by line, from the left, with as many in a line as there is room for.
        let lefts: Vec<f64> = boxes.iter().map(|b| b[0]).collect();
        assert!(lefts[0] < 20.0 && lefts[0] == lefts[2]);
        assert!(boxes[1][1] == boxes[0][1] && boxes[2][1] > boxes[0][1]);
        assert!(close(boxes[4][1] - boxes[2][1], boxes[2][1] - boxes[0][1]));
        assert!(boxes[2][1] - boxes[0][1] < 30.0);
    });
}

/// The points of a series at which it has a marker.
fn marked(series: Node, frame: &Frame) -> Vec<usize> {
    let circles = series.children().filter(|n| n.has_tag_name("circle"));
    let circles = circles.map(|n| number(n, "cx"));
    let others = series
        .children()
        .filter(|n| n.has_tag_name("path") && n.attribute("d").unwrap().contains('m'));
    let others = others.map(|n| vertices(n)[0][0]);
    let places = circles.chain(others).map(|x| {
        (0..48u32)
            .find(|at| close(frame.place([f64::from(*at), 1.0])[0], x))
            .expect("a marker stands on a point") as usize
    });
    places.collect()
}

#[test]
fn markers_stand_on_every_sixth_point_and_each_style_has_points_of_its_own() {
    // 48 points and about eight markers: a step of six, one begin for each of the six styles.
    look(&figure(), |svg| {
        let panel = groups(svg, "panel")[0];
        let frame = Frame::of(panel);
        let series = groups(panel, "series");
        for style in [1, 2, 4, 5] {
            let expected: Vec<usize> = (0..8).map(|k| style + 6 * k).collect();
            assert_eq!(marked(series[style], &frame), expected, "style {style}");
        }
        assert_eq!(marked(series[0], &frame), []);
    });
}

#[test]
fn the_first_marker_of_a_style_is_in_the_middle_of_its_share_of_a_step() {
    // 96 points: a step of twelve, two points a style.
    let points = (0..96).map(|x| [f64::from(x), 1.0]).collect();
    let series = vec![Series::new("a", Mark::Solid, 2, points)];
    let panel = Panel::new("", Axis::linear("x"), Axis::linear("y"), series);
    let figure = Figure {
        title: String::new(),
        columns: 1,
        panels: vec![panel],
    };
    look(&figure, |svg| {
        let panel = groups(svg, "panel")[0];
        let frame = Frame::of(panel);
        let markers = groups(panel, "series")[0].children();
        let markers = markers.filter(|n| n.attribute("d").is_some_and(|d| d.contains('m')));
        let places: Vec<f64> = markers.map(|n| vertices(n)[0][0]).collect();
        assert_eq!(places.len(), 8);
        for (number, x) in places.into_iter().enumerate() {
            let point = [5.0 + 12.0 * number as f64, 1.0];
            assert!(close(frame.place(point)[0], x));
        }
    });
}

#[test]
fn styles_beyond_the_last_begin_again() {
    let points = vec![[0.0, 1.0], [1.0, 2.0]];
    let series = |style| Series::line("a", style, points.clone());
    let of = |style| Figure {
        title: String::new(),
        columns: 1,
        panels: vec![Panel::new(
            "",
            Axis::linear("x"),
            Axis::linear("y"),
            vec![series(style)],
        )],
    };
    assert_eq!(of(1).svg(), of(7).svg());
    assert_ne!(of(1).svg(), of(2).svg());
}

#[test]
fn a_page_holds_the_same_drawing_with_its_data() {
    let figure = figure();
    let block = Block::Figure {
        name: "losses".into(),
        figure: figure.clone(),
    };
    let page = helmholtz_report::html::render(&Document::of_blocks("t", vec![block]), None);
    let (from, to) = (page.find("<svg").unwrap(), page.find("</svg>").unwrap());
    let inside = format!("{}</svg>", &page[from..to]);
    let (inside, alone) = (Xml::parse(&inside).unwrap(), figure.svg());
    let alone = Xml::parse(&alone).unwrap();
    let paths = |xml: &Xml| -> Vec<String> {
        let paths = xml.descendants().filter_map(|node| node.attribute("d"));
        paths.map(String::from).collect()
    };
    assert!(paths(&alone).len() > 50);
    assert_eq!(paths(&inside), paths(&alone));
    let series = groups(inside.root_element(), "series");
    let data = numbers(series[0].attribute("data-points").unwrap());
    let points: Vec<f64> = figure.panels[0].series[0].points.concat();
    assert_eq!(data, points);
}
