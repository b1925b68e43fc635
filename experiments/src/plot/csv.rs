//! The data of a figure as comma-separated values.

use super::Figure;

/// `panel,series,x,y`, a line for each point, in full precision.
pub fn render(figure: &Figure) -> String {
    let mut out = String::from("panel,series,x,y\n");
    for panel in &figure.panels {
        for series in &panel.series {
            let names = format!("{},{}", field(&panel.title), field(&series.label));
            for [x, y] in &series.points {
                out += &format!("{names},{x},{y}\n");
            }
        }
    }
    out
}

/// A text as a field (RFC 4180): in quotes where a reader would split it.
pub(crate) fn field(text: &str) -> String {
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::tests::{figure, series};
    use crate::plot::{Axis, Mark};

    #[test]
    fn every_point_is_a_line_in_full_precision() {
        let points = [[0.0, 0.1 + 0.2], [1.0, -1e-300]];
        let data = render(&figure(
            Axis::log("y"),
            vec![series("a, \"b\"", Mark::Points, 0, &points)],
        ));
        let own = "one,\"a, \"\"b\"\"\",0,0.30000000000000004";
        assert!(
            data.starts_with(&format!("panel,series,x,y\n{own}\n")),
            "{data}"
        );
        assert_eq!(data.lines().count(), 1 + 2 * points.len());
    }
}
