//! The data of a figure as comma-separated values.

use super::Figure;

/// `panel,series,x,y`, a line for each point, in full precision.
pub fn render(figure: &Figure) -> String {
    let head = ["panel", "series", "x", "y"].map(String::from).to_vec();
    let points = figure.panels.iter().flat_map(|panel| {
        panel.series.iter().flat_map(|series| {
            let line = |[x, y]: &[f64; 2]| {
                let names = [panel.title.clone(), series.label.clone()];
                names
                    .into_iter()
                    .chain([x.to_string(), y.to_string()])
                    .collect()
            };
            series.points.iter().map(line)
        })
    });
    crate::records::lines(std::iter::once(head).chain(points))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::tests::{figure, series};
    use crate::figure::{Axis, Mark};

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
