//! Effective draws per second as SVG: a panel a model, a bar a kernel, on one logarithmic scale.

use std::fmt::Write;

use crate::Row;

const LEFT: f64 = 190.0;
const WIDTH: f64 = 420.0;
const LINE: f64 = 16.0;

pub fn svg(tables: &[(String, Vec<Row>)]) -> String {
    let all = || tables.iter().flat_map(|(_, rows)| rows);
    let logs = all().map(|row| row.found.per_second.log10());
    let logs: Vec<f64> = logs.filter(|l| l.is_finite()).collect();
    let low = logs.iter().copied().fold(0.0, f64::min).floor();
    let high = logs.iter().copied().fold(1.0, f64::max).ceil();
    let at = |log: f64| LEFT + WIDTH * (log - low) / (high - low);
    let lines = tables.iter().map(|(_, rows)| rows.len() + 2).sum::<usize>() as f64;
    let height = LINE * (lines + 2.0);
    let mut body = String::new();
    for decade in low as i32..=high as i32 {
        let x = at(f64::from(decade));
        let _ = write!(
            body,
            "<path d='M{x} {LINE}V{:.0}' stroke='#ddd'/><text x='{x}' y='{:.0}' text-anchor='middle'>{}</text>",
            height - 1.5 * LINE,
            height - 0.5 * LINE,
            10f64.powi(decade)
        );
    }
    let mut y = LINE;
    for (name, rows) in tables {
        y += LINE;
        let _ = write!(
            body,
            "<text x='4' y='{y:.0}' font-weight='bold'>{name}</text>"
        );
        for row in rows {
            y += LINE;
            let length = (at(row.found.per_second.max(1e-300).log10()) - LEFT).max(0.0);
            let _ = write!(
                body,
                "<text x='{:.0}' y='{y:.0}' text-anchor='end'>{}</text><rect x='{LEFT}' y='{:.0}' width='{length:.1}' height='10' fill='#4477aa'/>",
                LEFT - 6.0,
                row.kernel,
                y - 10.0
            );
        }
        y += LINE;
    }
    format!(
        "<svg xmlns='http://www.w3.org/2000/svg' width='{:.0}' height='{height:.0}' font-family='sans-serif' font-size='11'>\
         <text x='{LEFT}' y='11'>effective draws per second</text>{body}</svg>\n",
        LEFT + WIDTH + 40.0
    )
}
