//! The table as comma-separated values: a line for each net and method, full precision, empty where there is nothing.

use super::{Row, Table};
use crate::cell_runner::CellResult;
use helmholtz_report::csv::lines;

/// A heading, whether the table has it, and what a row has there.
type Column = (&'static str, bool, fn(&Table, &Row) -> String);

/// The table; for generated images without the columns of published numbers.
pub fn render(table: &Table) -> String {
    let columns = columns(table).into_iter();
    let columns: Vec<Column> = columns.filter(|(_, shown, _)| *shown).collect();
    let head = columns.iter().map(|(name, ..)| name.to_string()).collect();
    let mut records = vec![head];
    for row in &table.rows {
        let cells = columns.iter().map(|(.., cell)| cell(table, row));
        records.push(cells.collect());
    }
    lines(records)
}

fn columns(table: &Table) -> Vec<Column> {
    let by_particles = table.rows.iter().any(|row| row.particles.is_some());
    let released = table.rows.iter().any(|row| row.released.is_some());
    let (bounds, published) = (table.bounds, !table.synthetic);
    vec![
        ("net", true, |_, row| row.net.clone()),
        ("particles", by_particles, |_, row| text(row.particles)),
        ("method", true, |_, row| row.method.clone()),
        ("dataset", true, |table, _| table.dataset.clone()),
        ("synthetic", true, |table, _| table.synthetic.to_string()),
        ("profile", true, |table, _| table.profile.clone()),
        ("seeds", true, |_, row| joined(row.results.keys())),
        ("test_nll_mean", true, |_, row| {
            text(row.ours.map(|ours| ours.mean))
        }),
        ("test_nll_sd", true, |_, row| {
            text(row.ours.and_then(|ours| ours.sd))
        }),
        ("test_nll_errors_over_images", bounds, |_, row| {
            each(row, CellResult::reported_se)
        }),
        ("bound_mean", bounds, |_, row| {
            text(row.bound.map(|bound| bound.mean))
        }),
        ("released_nll_mean", released, |_, row| {
            text(row.released.map(|released| released.mean))
        }),
        ("released_nll_sd", released, |_, row| {
            text(row.released.and_then(|released| released.sd))
        }),
        ("published_mean", published, |_, row| {
            text(row.published.map(|p| p.mean))
        }),
        ("published_sd", published, |_, row| {
            text(row.published.and_then(|p| p.sd))
        }),
        ("published_is_quoted", published, |_, row| {
            text(row.published.or(row.published_bound).map(|p| p.quoted))
        }),
        ("difference_nats", published, |_, row| {
            text(row.difference.map(|d| d.nats))
        }),
        ("difference_sds", published, |_, row| {
            text(row.difference.and_then(|d| d.sds))
        }),
        ("published_bound", published && bounds, |_, row| {
            text(row.published_bound.map(|p| p.mean))
        }),
        ("published_is_doubtful", published && bounds, |_, row| {
            text(row.published.or(row.published_bound).map(|p| p.doubtful))
        }),
        (
            "released_difference_nats",
            published && released,
            |_, row| {
                let difference = row.by_released().and_then(|row| row.difference);
                text(difference.map(|d| d.nats))
            },
        ),
        ("selected_epochs", true, |_, row| {
            each(row, |r| r.selected_epoch)
        }),
        ("epochs_done", true, |_, row| each(row, |r| r.epochs_done)),
        ("epochs_planned", true, |_, row| {
            each(row, |r| r.epochs_planned)
        }),
        ("samples", true, |_, row| {
            each(row, CellResult::reported_samples)
        }),
        ("test_images", true, |_, row| each(row, |r| r.images)),
    ]
}

/// Nothing where there is none.
fn text(value: Option<impl ToString>) -> String {
    value.map_or(String::new(), |value| value.to_string())
}

/// A number of each run.
fn each<N: ToString>(row: &Row, of: impl Fn(&CellResult) -> N) -> String {
    joined(row.results.values().map(of))
}

fn joined(values: impl Iterator<Item = impl ToString>) -> String {
    let values: Vec<String> = values.map(|value| value.to_string()).collect();
    values.join(" ")
}

#[cfg(test)]
mod tests {
    use crate::table::tests::{done, table};
    use helmholtz_harness::streams::assert_contains;

    #[test]
    fn every_line_has_every_column_and_numbers_keep_their_digits() {
        let cells = [
            done("linear", "jsa", 1, 105.75, 5),
            done("linear", "jsa", 2, 106.25, 5),
        ];
        assert_eq!(
            super::render(&table("quick", false, &cells[..1])),
            "net,method,dataset,synthetic,profile,seeds,test_nll_mean,test_nll_sd,published_mean,published_sd,\
             published_is_quoted,difference_nats,difference_sds,selected_epochs,epochs_done,epochs_planned,samples,\
             test_images\n\
             linear,jsa,binarized-mnist,false,quick,1,105.75,,105.5,0.1,false,0.25,2.5,4,5,5,100,1000\n"
        );
        let text = super::render(&table("quick", true, &cells));
        let columns: Vec<usize> = text.lines().map(|line| line.split(',').count()).collect();
        assert_eq!(columns, [13, 13]);
        assert_contains(&text, &["linear,jsa,glyphs,true,quick,1 2,106,0.3535"]);
    }
}
