//! Runs as a figure: NLL against epochs and against time.

use crate::records::CellRun;
use crate::records::curve::{Curve, Point};
use helmholtz_datasets::DatasetName;
use helmholtz_report::figure::{Axis, Figure, Mark, Panel, Series};
use serde::Deserialize;

/// Quantity on the horizontal axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Against {
    /// Finished epochs.
    Epochs,
    /// Thousands of training steps.
    Iterations,
    /// Hours of training, without the checks.
    Time,
}

/// Quantity on the vertical axis.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Quantity {
    /// Test NLL, dashed, and training NLL, solid, where it is recorded; validation NLL, dashed, of runs whose checks have no test NLL.
    #[default]
    Nll,
    /// Validation NLL.
    ValidationNll,
    /// Minus the ELBO on the test images.
    TestBound,
    /// Minus the training ELBO over the epoch of the check, an estimate at parameters in motion.
    TrainingBound,
    /// ln of the variance of the gradient of φ by exponential means, of runs that follow it.
    GradientVariance,
}

/// A run that is drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// Label in the legend.
    pub label: String,
    /// Its style; runs of one method have the same.
    pub style: usize,
    /// Training steps an epoch, of a cell on a data set with a name.
    pub steps: u64,
    /// Its checks.
    pub curve: Curve,
}

impl Line {
    /// A run's line.
    pub fn of(run: &CellRun, label: String, style: usize) -> Self {
        let (cell, curve) = (&run.cell, run.curve.clone());
        let dataset = cell.dataset.parse::<DatasetName>();
        let images = dataset.map_or(0, DatasetName::train_images);
        Self {
            label,
            style,
            steps: (images / cell.settings.batch.max(1)) as u64,
            curve,
        }
    }

    /// Place of finished epochs and seconds of training on a horizontal axis.
    fn x(&self, against: Against, epoch: f64, seconds: f64) -> f64 {
        match against {
            Against::Epochs => epoch,
            Against::Iterations => epoch * self.steps as f64 / 1000.0,
            Against::Time => seconds / 3600.0,
        }
    }
}

/// A panel of these runs. The vertical axis spans the checks from the share `from` of the longest run's epochs on; earlier ones
/// are drawn as far as they fit.
pub fn panel(
    title: &str,
    lines: &[Line],
    quantity: Quantity,
    against: Against,
    from: f64,
) -> Panel {
    let mut series = Vec::new();
    let longest = lines.iter().map(|line| line.curve.epochs).max();
    let first = from * longest.unwrap_or(0) as f64;
    let mut late = [f64::INFINITY, f64::NEG_INFINITY];
    for line in lines {
        let mut draw = |part: &str, mark: Mark, y: &dyn Fn(&Point) -> Option<f64>| {
            let mut drawn = |point: &Point| {
                let y = y(point)?;
                if point.epoch >= first {
                    late = [late[0].min(y), late[1].max(y)];
                }
                Some([line.x(against, point.epoch, point.seconds), y])
            };
            let points: Vec<_> = line.curve.points.iter().filter_map(&mut drawn).collect();
            if !points.is_empty() {
                let label = format!("{}, {part}", line.label);
                series.push(Series::new(label, mark, line.style, points));
            }
        };
        match quantity {
            Quantity::Nll => {
                draw("train", Mark::Solid, &|point| point.train);
                match line.curve.points.iter().any(|point| point.test.is_some()) {
                    true => draw("test", Mark::Dashed, &|point| point.test),
                    false => draw("validation", Mark::Dashed, &|point| Some(point.valid)),
                }
            }
            Quantity::ValidationNll => draw("validation", Mark::Solid, &|point| Some(point.valid)),
            Quantity::TestBound => draw("test", Mark::Solid, &|point| point.test_bound),
            Quantity::TrainingBound => draw("training", Mark::Solid, &|point| point.train_bound),
            Quantity::GradientVariance => {
                draw("ln V", Mark::Solid, &|point| point.gradient_variance);
            }
        }
    }
    let within = (first > 0.0 && late[0] < late[1]).then_some(late);
    let rules = lines.iter().filter_map(|line| {
        let mut rule = rule(line, &series, against)?;
        if let Some([low, high]) = within {
            rule.points[0][1] = rule.points[0][1].clamp(low, high);
        }
        Some(rule)
    });
    let rules: Vec<Series> = rules.collect();
    series.extend(rules);
    let y = Axis::linear(match quantity {
        Quantity::Nll => "NLL, nats",
        Quantity::ValidationNll => "validation NLL, nats",
        Quantity::TestBound => "test -ELBO, nats",
        Quantity::TrainingBound => "training -ELBO, nats",
        Quantity::GradientVariance => "ln V of φ",
    });
    let x = Axis::linear(match against {
        Against::Epochs => "epochs",
        Against::Iterations => "thousands of iterations",
        Against::Time => "hours of training",
    });
    Panel::new(title, x, Axis { within, ..y }, series)
}

/// Marks where the chains of a run begin, if not with it, at a height that the panel spans anyway.
fn rule(line: &Line, drawn: &[Series], against: Against) -> Option<Series> {
    let (epoch, seconds) = line.curve.switch.filter(|(epoch, _)| *epoch > 0.0)?;
    let own = format!("{}, ", line.label);
    let drawn = drawn.iter().find(|series| series.label.starts_with(&own))?;
    let x = line.x(against, epoch, seconds);
    let nearest = |a: &&[f64; 2], b: &&[f64; 2]| (a[0] - x).abs().total_cmp(&(b[0] - x).abs());
    let y = drawn.points.iter().min_by(nearest)?[1];
    let label = format!("{}: chains begin", line.label);
    Some(Series::new(label, Mark::Rule, line.style, vec![[x, y]]))
}

/// A figure of two panels for each group of runs: against epochs and against time.
pub fn both(title: &str, groups: &[(String, Vec<Line>)], quantity: Quantity) -> Figure {
    let panels = groups.iter().flat_map(|(name, lines)| {
        [("epochs", Against::Epochs), ("time", Against::Time)]
            .map(|(axis, against)| panel(&format!("{name}, {axis}"), lines, quantity, against, 0.0))
    });
    Figure {
        title: title.into(),
        columns: 2,
        panels: panels.collect(),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A run of three checks; stage II from epoch 10 if it has one.
    pub(crate) fn line(label: &str, style: usize, train: bool, switch: bool) -> Line {
        let point = |epoch: f64| Point {
            epoch,
            seconds: 360.0 * epoch,
            train: train.then_some(90.0 - epoch),
            valid: 101.0 - epoch,
            test: Some(100.0 - epoch),
            test_bound: Some(110.0 - epoch),
            train_bound: Some(120.0 - epoch),
            gradient_variance: train.then_some(-0.1 * epoch),
        };
        Line {
            label: label.into(),
            style,
            steps: 250,
            curve: Curve {
                points: [5.0, 10.0, 15.0].map(point).to_vec(),
                switch: switch.then_some((10.0, 3600.0)),
                epochs: 15,
            },
        }
    }

    #[test]
    fn training_is_solid_test_dashed_and_the_switch_a_rule() {
        let lines = [line("JSA", 0, true, true), line("RWS", 1, false, false)];
        let panel = panel("Linear", &lines, Quantity::Nll, Against::Epochs, 0.0);
        let drawn: Vec<_> = panel
            .series
            .iter()
            .map(|series| (series.label.as_str(), series.mark, series.style))
            .collect();
        assert_eq!(
            drawn,
            [
                ("JSA, train", Mark::Solid, 0),
                ("JSA, test", Mark::Dashed, 0),
                ("RWS, test", Mark::Dashed, 1),
                ("JSA: chains begin", Mark::Rule, 0),
            ]
        );
        assert_eq!(panel.series[3].points, [[10.0, 80.0]]);
    }

    #[test]
    fn a_run_whose_checks_have_no_test_nll_is_drawn_by_its_validation_nll() {
        let mut line = line("JSA", 0, false, false);
        line.curve
            .points
            .iter_mut()
            .for_each(|point| point.test = None);
        let panel = panel("Linear", &[line], Quantity::Nll, Against::Epochs, 0.0);
        assert_eq!(panel.series.len(), 1);
        assert_eq!(panel.series[0].label, "JSA, validation");
        assert_eq!(panel.series[0].points[0], [5.0, 96.0]);
    }

    #[test]
    fn early_checks_do_not_stretch_the_axis_and_chains_from_the_start_have_no_rule() {
        let mut lines = [line("JSA", 0, false, true)];
        let of = |lines: &[Line]| panel("Linear", lines, Quantity::Nll, Against::Epochs, 0.5);
        let drawn = of(&lines);
        assert_eq!(drawn.y.within, Some([85.0, 90.0]));
        assert_eq!(drawn.series[0].points.len(), 3, "all of them are data");
        lines[0].curve.switch = Some((0.0, 0.0));
        assert_eq!(of(&lines).series.len(), 1);
    }

    #[test]
    fn time_is_in_hours_and_the_bound_is_another_quantity() {
        let lines = [line("JSA", 0, false, true)];
        let panel = panel("Linear", &lines, Quantity::TestBound, Against::Time, 0.0);
        assert_eq!(panel.series[0].points[1], [1.0, 100.0]);
        assert_eq!(panel.series[1].points, [[1.0, 100.0]]);
        let panel = super::panel(
            "Linear",
            &lines,
            Quantity::TestBound,
            Against::Iterations,
            0.0,
        );
        assert_eq!(panel.series[0].points[1], [2.5, 100.0]);
        assert_eq!(panel.series[1].points, [[2.5, 100.0]]);
        let figure = both("t", &[("Linear".into(), lines.to_vec())], Quantity::Nll);
        assert_eq!(figure.panels.len(), 2);
    }

    #[test]
    fn the_training_bound_is_in_every_run_and_the_gradients_variance_in_those_that_follow_it() {
        let lines = [line("JSA", 0, true, false), line("RWS", 1, false, false)];
        let of = |quantity| panel("Linear", &lines, quantity, Against::Epochs, 0.0);
        let drawn = of(Quantity::TrainingBound);
        assert_eq!(drawn.series.len(), 2);
        assert_eq!(drawn.series[1].points[0], [5.0, 115.0]);
        let drawn = of(Quantity::GradientVariance);
        assert_eq!(drawn.series.len(), 1);
        assert_eq!(drawn.series[0].label, "JSA, ln V");
        assert_eq!(drawn.series[0].points[2], [15.0, -1.5]);
    }
}
