//! A page with every block, which `.ci/browser --page` opens in a browser: `cargo run -p helmholtz-report --example page > page.html`.

use helmholtz_report::figure::{Axis, Figure, Mark, Panel, Series};
use helmholtz_report::picture::Picture;
use helmholtz_report::{Block, Cell, Document, Kind, Note, Section, Table, html};

/// Test NLLs of JSA's table 1 as the paper has them, in an order that no column is sorted by.
const PUBLISHED: [(&str, &str, f64); 9] = [
    ("Linear", "JSA", 105.5),
    ("Linear", "RWS", 108.0),
    ("Linear", "RLOO", 107.5),
    ("Nonlinear", "JSA", 98.2),
    ("Nonlinear", "RWS", 99.2),
    ("Nonlinear", "RLOO", 100.6),
    ("Two layers", "JSA", 95.3),
    ("Two layers", "RWS", 96.5),
    ("Two layers", "RLOO", 95.8),
];

fn main() {
    let sections = vec![scoreboard(), experiment()];
    let title = "Published numbers, drawn".into();
    print!("{}", html::render(&Document { title, sections }, None));
}

fn scoreboard() -> Section {
    let mut table = Table::new("scoreboard", "Published numbers", ["Status", "Numbers"]);
    table.push(["reproduced".into(), Cell::count(0)]);
    table.push(["not run".into(), Cell::count(PUBLISHED.len())]);
    Section {
        id: "scoreboard".into(),
        title: "Scoreboard".into(),
        blocks: vec![Block::Table(table)],
    }
}

fn experiment() -> Section {
    let columns = ["Net", "Method", "Ours", "Published"];
    let mut results = Table::new("results", "Test NLL, nats", columns);
    let mut runs = Table::new("runs", "Runs", ["Run folder", "Test NLL"]);
    for (net, method, nll) in PUBLISHED {
        let place = format!("{net}/{method}").to_lowercase().replace(' ', "-");
        let run = format!("run-{}", place.replace('/', "-"));
        results.push([
            net.into(),
            method.into(),
            Cell {
                link: Some(run.clone()),
                ..Cell::number(Kind::Ours, format!("{nll:.1}"), nll)
            },
            Cell::number(Kind::Published, format!("{nll:.1}"), nll),
        ]);
        let folder = Cell {
            anchor: Some(run),
            ..Cell::from(place)
        };
        runs.push([folder, Cell::fixed(nll, 2)]);
    }
    let picture = Picture::grid(&[vec![(0..64).map(|pixel| pixel * 4).collect()]], 8);
    let blocks = vec![
        Block::Table(results),
        Block::Figure {
            name: "curves".into(),
            figure: figure(),
        },
        Block::Notes(vec![
            Note::caution("NO RUNS: the curves decay to the published numbers."),
            Note::remark("Ours stand for the published ones."),
        ]),
        Block::Image {
            name: "picture.png".into(),
            caption: "A picture".into(),
            bytes: picture.png(),
        },
        Block::Folded {
            title: "Runs behind the numbers".into(),
            blocks: vec![Block::Table(runs)],
        },
    ];
    Section {
        id: "table1".into(),
        title: "Table 1 (a-folder/with-a-long-name/that-has-no-blank/binarized-mnist)".into(),
        blocks,
    }
}

/// A panel a net, a curve a method.
fn figure() -> Figure {
    let nets = PUBLISHED.chunk_by(|a, b| a.0 == b.0);
    let panels = nets.map(|rows| {
        let series = rows.iter().enumerate();
        let series = series.map(|(style, (_, method, end))| {
            let points = (1..=200).map(|k| f64::from(5 * k));
            let points = points.map(|epoch| [epoch, end + 90.0 * (-epoch / 120.0).exp()]);
            Series::new(*method, Mark::Dashed, style, points.collect())
        });
        let mut series: Vec<Series> = series.collect();
        let rule = vec![[600.0, rows[0].2]];
        series.push(Series::new("stage II", Mark::Rule, 0, rule));
        let (x, y) = (Axis::linear("epoch"), Axis::log("NLL, nats"));
        Panel::new(rows[0].0, x, y, series)
    });
    Figure {
        title: "NLL during training".into(),
        columns: 2,
        panels: panels.collect(),
    }
}
