//! The figure and the table, with the scales of released code beside the right ones.

use super::{Outcome, Point};
use crate::kinds::figures::label::label;
use helmholtz_datasets::caution;
use helmholtz_evaluation::Variance;
use helmholtz_report::figure::{Axis, Figure, Mark, Panel, Series};
use helmholtz_report::{Block, Cell, Document, Note, Table};

/// A method's run.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// The method's name.
    pub method: String,
    /// Its label.
    pub label: String,
    /// The run's seed.
    pub seed: u64,
    /// Outcome of the measurements.
    pub outcome: Outcome,
}

/// Returns what the released code's scale adds to ln V φ, with what it does. ARSM's gradient is summed over the images, and that
/// of RLOO, which it calls VIMCO, lacks the factor K/(K − 1). Every other gradient, and those in θ, are as they should be.
pub fn released(method: &str, images: usize, particles: usize) -> Option<(f64, &'static str)> {
    let k = particles as f64;
    match method {
        "arsm" => Some((2.0 * (images as f64).ln(), "summed over the images")),
        "rloo" => Some((2.0 * ((k - 1.0) / k).ln(), "without K/(K-1)")),
        _ => None,
    }
}

/// ln V against epochs, for φ and for θ. Solid: given the chain states, on the right scale; dashed: over the chain states too,
/// or on the released code's scale.
pub fn figure(title: &str, runs: &[Run]) -> Figure {
    Figure {
        title: title.into(),
        columns: 2,
        panels: vec![
            panel("inference net, φ", runs, |point| &point.phi, true),
            panel("model, θ", runs, |point| &point.theta, false),
        ],
    }
}

fn panel(title: &str, runs: &[Run], of: fn(&Point) -> &Variance, inference: bool) -> Panel {
    let mut methods: Vec<&str> = Vec::new();
    let mut series = Vec::new();
    for run in runs {
        if !methods.contains(&run.method.as_str()) {
            methods.push(&run.method);
        }
        let of_method = runs.iter().filter(|other| other.method == run.method);
        let name = label(&run.label, run.seed, of_method.count() > 1);
        let style = methods.iter().position(|m| *m == run.method).unwrap_or(0);
        let outcome = &run.outcome;
        let points = |moving: bool, add: f64| -> Vec<[f64; 2]> {
            let points = outcome.points.iter().filter(|point| point.moving == moving);
            points
                .map(|point| [point.epoch as f64, of(point).ln().0 + add])
                .collect()
        };
        let mut draw = |label: String, mark: Mark, points: Vec<[f64; 2]>| {
            if !points.is_empty() {
                series.push(Series::new(label, mark, style, points));
            }
        };
        draw(name.clone(), Mark::Solid, points(false, 0.0));
        draw(
            format!("{name}, over chain states too"),
            Mark::Dashed,
            points(true, 0.0),
        );
        let scale = released(&run.method, outcome.images, outcome.particles);
        if let (Some((add, _)), true) = (scale, inference) {
            draw(
                format!("{name}, released scale"),
                Mark::Dashed,
                points(false, add),
            );
        }
        let at = points(false, 0.0);
        let first = at
            .iter()
            .find(|[epoch, _]| Some(*epoch as u64) >= outcome.switch);
        if let (Some(switch), Some([_, height])) = (outcome.switch, first) {
            let points = vec![[switch as f64, *height]];
            draw(format!("{name}: chains begin"), Mark::Rule, points);
        }
    }
    Panel::new(title, Axis::linear("epochs"), Axis::linear("ln V"), series)
}

/// The measurements of these runs on a data set as a document.
pub fn document(title: &str, dataset: &str, runs: &[Run]) -> Document {
    let mut blocks = Vec::new();
    if let Some(caution) = caution(dataset) {
        blocks.push(Block::Notes(vec![Note::caution(caution)]));
    }
    if runs.iter().any(|run| run.outcome.synthetic) {
        let note = "GENERATED IMAGES: these numbers are comparable with nothing published.";
        blocks.push(Block::Notes(vec![Note::caution(note)]));
    }
    blocks.push(Block::Table(table(runs)));
    let mut notes = notes(runs);
    for run in runs {
        let (done, planned) = (run.outcome.epochs_done, run.outcome.epochs_planned);
        let label = &run.label;
        notes.push(format!(
            "{label}: {done} of {planned} epochs (the last is measured, not made)."
        ));
        notes.extend(run.outcome.provenance.lines());
    }
    blocks.push(Block::Notes(notes.into_iter().map(Note::remark).collect()));
    Document::of_blocks(title, blocks)
}

fn table(runs: &[Run]) -> Table {
    let heads = [
        "Method",
        "Seed",
        "Epochs",
        "Stage",
        "Chains",
        "ln V φ",
        "ln V φ, released scale",
        "ln V θ",
        "R",
    ];
    let mut table = Table::new("variance", "", heads);
    let ln = |variance: &Variance, add: f64| {
        let (ln, error) = variance.ln();
        Cell::measured(ln + add, error, 2)
    };
    for run in runs {
        let scale = released(&run.method, run.outcome.images, run.outcome.particles);
        for point in &run.outcome.points {
            let chains = match (point.stage, point.moving) {
                (1, _) => "",
                (_, false) => "held",
                (_, true) => "moving",
            };
            table.push([
                run.label.as_str().into(),
                Cell::count(run.seed),
                Cell::count(point.epoch),
                Cell::count(point.stage),
                chains.into(),
                ln(&point.phi, 0.0),
                scale.map_or("the same".into(), |(add, _)| ln(&point.phi, add)),
                ln(&point.theta, 0.0),
                Cell::count(point.replicates),
            ]);
        }
    }
    table
}

fn notes(runs: &[Run]) -> Vec<String> {
    let images: Vec<String> = runs
        .iter()
        .map(|run| run.outcome.images.to_string())
        .collect();
    let images = images.first().cloned().unwrap_or_default();
    let mut notes = vec![format!(
        "V is the sample variance of the gradient of the mean over the first {images} training images, summed over parameters; \
         ± is its standard error. Measured before the updates of the epoch after so many, with the estimator of that epoch."
    )];
    if runs
        .iter()
        .any(|run| run.outcome.points.iter().any(|point| point.stage == 2))
    {
        notes.push(
            "held: given the chain states, as the paper measures; moving: over the chain states too. At the switch the chains \
             start at draws from q."
                .into(),
        );
    }
    for run in runs {
        let scale = released(&run.method, run.outcome.images, run.outcome.particles);
        if let Some((add, what)) = scale {
            notes.push(format!(
                "{}: the released code's gradient in φ is {what}, which adds {add:.3} to ln V.",
                run.label
            ));
        }
    }
    notes.dedup();
    notes
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use helmholtz_harness::streams::assert_contains;
    use helmholtz_report::markdown;
    use helmholtz_runs::Provenance;
    use serde_json::json;

    fn variance(variance: f64) -> Variance {
        Variance {
            parameters: 3,
            variance,
            standard_error: 0.1 * variance,
            mean_norm: 1.0,
        }
    }

    /// An outcome that was measured after 0 and 50 epochs, and after 300 with chains.
    pub(crate) fn outcome(switch: Option<u64>, synthetic: bool) -> Outcome {
        let point = |epoch: u64, stage: u8, moving: bool| Point {
            epoch,
            stage,
            moving,
            theta: variance(1.0),
            phi: variance(2.0),
            replicates: 1000,
            seconds: 0.1,
        };
        let mut points = vec![point(0, 1, false), point(50, 1, false)];
        if switch.is_some() {
            points.extend([point(300, 2, false), point(300, 2, true)]);
        }
        Outcome {
            points,
            images: 200,
            particles: 20,
            switch,
            epochs_done: 499,
            epochs_planned: 500,
            fingerprint: None,
            synthetic,
            provenance: Provenance::of(&json!({}), 1, "cpu"),
        }
    }

    fn run(method: &str, switch: Option<u64>) -> Run {
        Run {
            method: method.into(),
            label: method.to_uppercase(),
            seed: 1,
            outcome: outcome(switch, false),
        }
    }

    #[test]
    fn the_released_scales_are_those_of_the_paper() {
        let (arsm, _) = released("arsm", 200, 1).unwrap();
        let (rloo, _) = released("rloo", 200, 20).unwrap();
        assert!((arsm - 10.597).abs() < 5e-4, "{arsm}");
        assert!((rloo + 0.103).abs() < 5e-4, "{rloo}");
        assert_eq!(released("jsa", 200, 20), None);
    }

    #[test]
    fn the_figure_has_both_scales_for_phi_and_one_for_theta() {
        let figure = figure(
            "t",
            &[run("jsa", Some(300)), run("arsm", None), run("rloo", None)],
        );
        let labels = |panel: usize| -> Vec<_> {
            let series = figure.panels[panel].series.iter();
            series.map(|s| (s.label.as_str(), s.mark)).collect()
        };
        let common = [
            ("JSA", Mark::Solid),
            ("JSA, over chain states too", Mark::Dashed),
            ("JSA: chains begin", Mark::Rule),
        ];
        assert_eq!(labels(1)[..3], common);
        assert_eq!(
            labels(1)[3..],
            [("ARSM", Mark::Solid), ("RLOO", Mark::Solid)]
        );
        assert!(labels(0).contains(&("ARSM, released scale", Mark::Dashed)));
        let series = |label: &str| {
            let found = figure.panels[0]
                .series
                .iter()
                .find(|series| series.label == label);
            found.unwrap().points[0][1]
        };
        let difference = series("ARSM, released scale") - series("ARSM");
        assert!((difference - 2.0 * 200f64.ln()).abs() < 1e-12);
        // The chains' states at the switch are in the solid line from there on.
        assert_eq!(figure.panels[0].series[0].points.len(), 3);
    }

    #[test]
    fn the_table_tells_both_scales_and_where_it_comes_from() {
        let runs = [run("jsa", Some(300)), run("arsm", None)];
        let text = markdown::render(&document("Title", "binarized-mnist", &runs));
        assert_contains(
            &text,
            &["| ARSM | 1 | 50 | 1 |  | 0.69 ± 0.10 | 11.29 ± 0.10 | 0.00 ± 0.10 | 1000 |"],
        );
        assert_contains(
            &text,
            &["| JSA | 1 | 300 | 2 | moving | 0.69 ± 0.10 | the same |"],
        );
        assert_contains(
            &text,
            &["summed over the images, which adds 10.597", "Commit "],
        );
    }

    #[test]
    fn the_caution_of_a_data_set_comes_first() {
        let first = |dataset: &str| {
            let mut blocks = document("Title", dataset, &[run("jsa", None)]).into_blocks();
            blocks.remove(0)
        };
        for dataset in ["grey-mnist", "omniglot-105-to-28"] {
            let caution = Note::caution(caution(dataset).expect("its caution"));
            assert_eq!(first(dataset), Block::Notes(vec![caution]), "{dataset}");
        }
        assert!(matches!(first("binarized-mnist"), Block::Table(_)));
    }
}
