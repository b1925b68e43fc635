//! The report as text, Markdown and CSV.

use super::report::{Report, Row};
use crate::table::markdown::{escape, heading, line};
use crate::table::text::wrap;
use console::Style;
use helmholtz_evaluation::Variance;

/// The width to which notes are wrapped.
const WIDTH: usize = 78;

/// A header, and the text of a row.
type Column = (&'static str, fn(&Row) -> String);

/// The columns right of the method's.
const COLUMNS: [Column; 7] = [
    ("ln V theta", |row| ln(&row.measured.theta)),
    ("ln V phi", |row| ln(&row.measured.phi)),
    ("f", |row| row.evaluations.to_string()),
    ("ms", |row| format!("{:.2}", 1e3 * row.measured.seconds)),
    ("V x f", |row| format!("{:.2e}", row.by_evaluations())),
    ("V x s", |row| format!("{:.2e}", row.by_seconds())),
    ("R", |row| row.measured.replicates.to_string()),
];

fn ln(variance: &Variance) -> String {
    let (ln, error) = variance.ln();
    format!("{ln:.2} ± {error:.2}")
}

fn title(report: &Report) -> String {
    format!("Gradient variance: {} on {}", report.net, report.dataset)
}

fn setting(report: &Report) -> String {
    format!(
        "first {} training images, K = {}, {} replicates, {}",
        report.images, report.particles, report.replicates, report.parameters
    )
}

/// Lines for a terminal, with colours or plain.
pub fn text(report: &Report, colours: bool) -> String {
    let style = |style: Style| style.force_styling(colours);
    let (bold, dim, loud) = (
        style(Style::new().bold()),
        style(Style::new().dim()),
        style(Style::new().yellow().bold()),
    );
    let methods = report.rows.iter().map(|row| row.label().chars().count());
    let first = methods.max().unwrap_or(0).max("Method".len());
    let widths = COLUMNS.map(|(header, cell)| {
        let cells = report.rows.iter().map(|row| cell(row).chars().count());
        cells.max().unwrap_or(0).max(header.len())
    });
    let in_columns = |method: &str, cell: &dyn Fn(usize) -> String| {
        let others = widths.iter().enumerate();
        let others: String = others
            .map(|(column, &width)| format!("  {:>width$}", cell(column)))
            .collect();
        format!("{method:<first$}{others}")
    };
    let header = in_columns("Method", &|column| COLUMNS[column].0.to_string());
    let rule = "─".repeat(header.chars().count());
    let mut lines = vec![bold.apply_to(title(report)).to_string()];
    lines.extend(
        wrap(&setting(report), WIDTH)
            .iter()
            .map(|line| dim.apply_to(line).to_string()),
    );
    lines.extend([
        String::new(),
        bold.apply_to(header).to_string(),
        dim.apply_to(&rule).to_string(),
    ]);
    for row in &report.rows {
        lines.push(in_columns(&row.label(), &|column| COLUMNS[column].1(row)));
    }
    lines.extend([dim.apply_to(&rule).to_string(), String::new()]);
    for note in &report.notes {
        let grave = note.starts_with("GENERATED") || note.starts_with("STOPPED");
        let style = if grave { &loud } else { &dim };
        let wrapped = wrap(note, WIDTH).into_iter();
        lines.extend(wrapped.map(|line| style.apply_to(line).to_string()));
    }
    lines.join("\n") + "\n"
}

/// A table in Markdown with its notes.
pub fn markdown(report: &Report) -> String {
    let heads = ["Method"].into_iter().chain(COLUMNS.map(|c| c.0));
    let heads: Vec<&str> = heads.chain(["unbiased for"]).collect();
    let mut out = format!("# {}\n\n{}.\n\n", title(report), setting(report)) + &heading(&heads);
    for row in &report.rows {
        let cells: Vec<String> = [row.label()]
            .into_iter()
            .chain(COLUMNS.map(|(_, cell)| cell(row)))
            .chain([escape(&row.target)])
            .collect();
        out += &line(&cells);
    }
    out.push('\n');
    let from = &report.provenance;
    let made = format!("Commit {}, {} ({}).", from.commit, from.device, from.cpu);
    for note in report.notes.iter().chain([&made]) {
        out += &format!("- {}\n", escape(note));
    }
    out
}

/// Every digit of every number, a line for a row.
pub fn csv(report: &Report) -> String {
    let group = |name: &str| {
        let columns = [
            "parameters",
            "variance",
            "standard_error",
            "ln_variance",
            "mean_norm",
        ];
        columns.map(|column| format!("{name}_{column}")).join(",")
    };
    let mut out = format!(
        "method,chains,net,dataset,images,particles,replicates,evaluations,seconds,{},{},variance_x_evaluations,\
         variance_x_seconds\n",
        group("theta"),
        group("phi")
    );
    let numbers = |of: &Variance| {
        let (parameters, error) = (of.parameters, of.standard_error);
        format!(
            "{parameters},{},{error},{},{}",
            of.variance,
            of.ln().0,
            of.mean_norm
        )
    };
    for row in &report.rows {
        let measured = &row.measured;
        let cells = [
            row.method.clone(),
            row.chains.as_str().into(),
            report.net.clone(),
            report.dataset.clone(),
            report.images.to_string(),
            report.particles.to_string(),
            measured.replicates.to_string(),
            row.evaluations.to_string(),
            measured.seconds.to_string(),
            numbers(&measured.theta),
            numbers(&measured.phi),
            row.by_evaluations().to_string(),
            row.by_seconds().to_string(),
        ];
        out += &(cells.join(",") + "\n");
    }
    out
}
