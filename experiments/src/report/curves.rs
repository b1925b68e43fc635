//! The likelihoods of a group's runs during training, as figures.

use super::group::Group;
use crate::cell::Cell;
use crate::cell_runner::Score;
use crate::kinds::figures::curves::{Line, Quantity, both};
use crate::kinds::figures::label;
use crate::records::{CellRun, Record};
use helmholtz_report::Block;
use helmholtz_report::figure::Style;

/// Draws as many methods in a figure as styles tell apart, below what is to be known of all; nothing where no run has two checks.
pub fn blocks(group: &Group, id: &str) -> Vec<Block> {
    let drawn: Vec<&(&Record, &CellRun)> = group
        .runs
        .iter()
        .filter(|(_, run)| run.curve.points.len() > 1)
        .collect();
    let mut methods: Vec<&str> = Vec::new();
    for (_, run) in &drawn {
        if !methods.contains(&run.cell.method.as_str()) {
            methods.push(&run.cell.method);
        }
    }
    if methods.is_empty() {
        return Vec::new();
    }
    // What one importance sample estimates is the ELBO.
    let bound = (group.runs.iter()).all(|(_, run)| run.cell.settings.test_samples == 1);
    let (quantity, file, lines) = match (group.spec.shown, bound) {
        (Score::Training, _) => (
            Quantity::TrainingBound,
            "training",
            "Minus the training ELBO over an epoch, an estimate at parameters in motion.",
        ),
        (Score::Test, true) => (
            Quantity::TestBound,
            "bound",
            "Minus the ELBO on test images.",
        ),
        (Score::Test, false) => (
            Quantity::Nll,
            "nll",
            "Solid: on training images, where a run records it; dashed: on test images.",
        ),
    };
    let several = |cell: &Cell| {
        let of = |cell: &Cell| (cell.net.clone(), cell.particles(), cell.method.clone());
        let mut others = drawn.iter().map(|(_, run)| &run.cell);
        others.any(|other| of(other) == of(cell) && other.seed != cell.seed)
    };
    let figure = |(number, methods): (usize, &[&str])| {
        let mut nets: Vec<(String, Vec<Line>)> = Vec::new();
        for (_, run) in &drawn {
            let cell = &run.cell;
            let Some(style) = methods.iter().position(|method| *method == cell.method) else {
                continue;
            };
            let method = group.spec.method_label(&cell.method);
            let label = label::label(method, cell.seed, several(cell));
            let line = Line::of(run, label, style);
            let net = group.spec.net_label(&cell.net);
            let net = match cell.particles() {
                Some(particles) => format!("{net}, K = {particles}"),
                None => net.to_string(),
            };
            match nets.iter_mut().find(|(name, _)| *name == net) {
                Some((_, lines)) => lines.push(line),
                None => nets.push((net, vec![line])),
            }
        }
        let name = format!("{id}-{file}-{}", number + 1);
        let title = label::titled(&group.spec.title, &group.dataset);
        let figure = both(&title, &nets, quantity);
        Block::Figure { name, figure }
    };
    let text = Block::Text(format!(
        "{lines} Time is that of training, without the checks. A vertical line: the chains of stage II begin."
    ));
    let figures = methods.chunks(Style::COUNT).enumerate().map(figure);
    [text].into_iter().chain(figures).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Registry;
    use crate::report::group::groups;
    use crate::report::testing::{finished, paper, record};
    use helmholtz_report::figure::Figure;

    /// The figures of finished runs of JSA on one net.
    fn figures(cells: Vec<Cell>) -> Vec<(String, Figure)> {
        let placed = |cell: Cell| {
            let place = format!("x/{}/{}/seed-{}", cell.net, cell.method, cell.seed);
            record(&place, finished(cell, 105.0))
        };
        let records: Vec<Record> = cells.into_iter().map(placed).collect();
        let blocks = blocks(&groups(&records, &Registry::default())[0], "x").into_iter();
        let figures = blocks.filter_map(|block| match block {
            Block::Figure { name, figure } => Some((name, figure)),
            _ => None,
        });
        figures.collect()
    }

    fn labels(figure: &Figure, panel: usize) -> Vec<&str> {
        let series = figure.panels[panel].series.iter();
        series.map(|series| series.label.as_str()).collect()
    }

    #[test]
    fn seeds_are_told_apart_where_a_net_and_method_has_several() {
        let of = |method, seed| Cell {
            seed,
            ..paper(method)
        };
        let drawn = figures(vec![of("jsa", 1), of("jsa", 2), of("rws", 1)]);
        let [(name, figure)] = &drawn[..] else {
            panic!("{drawn:?}")
        };
        assert_eq!(name, "x-nll-1");
        assert_eq!(
            labels(figure, 0)[..3],
            ["JSA, seed 1, test", "JSA, seed 2, test", "RWS, test"]
        );
        assert_eq!(figure.panels[0].y.label, "NLL, nats");
    }

    #[test]
    fn with_one_sample_everywhere_the_curves_are_bounds() {
        let of = |method: &str, samples| {
            let mut cell = paper(method);
            cell.settings.test_samples = samples;
            cell
        };
        let (name, figure) = figures(vec![of("jsa", 1), of("rws", 1)]).remove(0);
        assert_eq!(name, "x-bound-1");
        let panel = &figure.panels[0];
        assert_eq!(panel.y.label, "test -ELBO, nats");
        // As the checks say, not their NLL.
        assert_eq!(panel.series[0].points[0], [5.0, 105.0]);
        let mixed = figures(vec![of("jsa", 1), of("rws", 2)]).remove(0).1;
        assert_eq!(mixed.panels[0].y.label, "NLL, nats");
    }
}
