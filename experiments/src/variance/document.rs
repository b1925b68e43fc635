//! The report as a document and as CSV.

use super::report::Report;
use helmholtz_evaluation::Variance;
use helmholtz_report::csv::lines;
use helmholtz_report::{Block, Cell, Document, Note, Table};

fn ln(variance: &Variance) -> Cell {
    let (ln, error) = variance.ln();
    Cell::measured(ln, error, 2)
}

/// The measured methods and what must be known to read them.
pub fn document(report: &Report) -> Document {
    let title = format!("Gradient variance: {} on {}", report.net, report.dataset);
    let setting = format!(
        "First {} training images, K = {}, {} replicates, {}.",
        report.images, report.particles, report.replicates, report.parameters
    );
    let from = &report.provenance;
    let made = format!("Commit {}, {} ({}).", from.commit, from.device, from.cpu);
    let mut notes = report.notes.clone();
    notes.push(Note::remark(made));
    let blocks = vec![
        Block::Text(setting),
        Block::Table(table(report)),
        Block::Notes(notes),
    ];
    Document::of_blocks(title, blocks)
}

fn table(report: &Report) -> Table {
    let heads = [
        "Method",
        "ln V theta",
        "ln V phi",
        "f",
        "ms",
        "V x f",
        "V x s",
        "R",
        "Unbiased for",
    ];
    let mut table = Table::new("variance", "", heads).with_details(1);
    for row in &report.rows {
        let milliseconds = 1e3 * row.measured.seconds;
        table.push([
            row.label().into(),
            ln(&row.measured.theta),
            ln(&row.measured.phi),
            Cell::count(row.evaluations),
            Cell::fixed(milliseconds, 2),
            Cell::scientific(row.by_evaluations(), 2),
            Cell::scientific(row.by_seconds(), 2),
            Cell::count(row.measured.replicates),
            row.target.as_str().into(),
        ]);
    }
    table
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
    let head = format!(
        "method,chains,net,dataset,images,particles,replicates,evaluations,seconds,{},{},variance_x_evaluations,\
         variance_x_seconds",
        group("theta"),
        group("phi")
    );
    let mut records = vec![head.split(',').map(String::from).collect()];
    let numbers = |of: &Variance| {
        let (parameters, error) = (of.parameters, of.standard_error);
        let (ln, _) = of.ln();
        let numbers = [of.variance, error, ln, of.mean_norm].map(|x| x.to_string());
        std::iter::once(parameters.to_string()).chain(numbers)
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
        ];
        let merits = [row.by_evaluations(), row.by_seconds()].map(|merit| merit.to_string());
        let cells = cells.into_iter().chain(numbers(&measured.theta));
        records.push(cells.chain(numbers(&measured.phi)).chain(merits).collect());
    }
    lines(records)
}
