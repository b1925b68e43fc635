//! Curve of a run: what its metrics say at each check.

use serde_json::Value;

/// A check of a run. NLLs are in nats, by importance sampling.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Finished epochs.
    pub epoch: f64,
    /// Seconds of training so far, over all resumes, without those of checks.
    pub seconds: f64,
    /// NLL on a part of the training images, where it is recorded.
    pub train: Option<f64>,
    /// Validation NLL.
    pub valid: f64,
    /// Test NLL, where it is computed at checks.
    pub test: Option<f64>,
    /// Minus the ELBO on the test images, where it is recorded.
    pub test_bound: Option<f64>,
    /// Minus the mean over the epoch's steps of the batch's ELBO, at parameters in motion.
    pub train_bound: Option<f64>,
    /// ln of the variance of the gradient of φ by exponential means, where it is recorded.
    pub gradient_variance: Option<f64>,
}

/// The checks of a run, and when its second stage began.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Curve {
    /// Its checks, in order.
    pub points: Vec<Point>,
    /// Finished epochs when the chains of stage II were started, and seconds of training.
    pub switch: Option<(f64, f64)>,
    /// Finished epochs.
    pub epochs: u64,
}

impl Curve {
    /// The curve of a run with these metrics; lines that are neither an epoch's nor a check's say nothing.
    pub fn of(metrics: &[Value]) -> Self {
        let mut curve = Self::default();
        // Seconds at the end of the last epoch, and how many so far were spent in checks.
        let (mut epoch_end, mut checking) = (0.0, 0.0);
        let (mut train_bound, mut gradient_variance) = (None, None);
        for line in metrics {
            let (Some(epoch), Some(seconds)) = (line["epoch"].as_f64(), line["seconds"].as_f64())
            else {
                continue;
            };
            match line["kind"].as_str() {
                Some("epoch") => {
                    if line["stage"] == 2 && curve.switch.is_none() {
                        curve.switch = Some((epoch - 1.0, epoch_end - checking));
                    }
                    epoch_end = seconds;
                    curve.epochs = epoch as u64;
                    train_bound = line["elbo"].as_f64().map(|elbo| -elbo);
                    gradient_variance = line["gradient_variance"].as_f64().map(f64::ln);
                }
                Some("check") => {
                    let number = |part: &str, key: &str| line[part][key].as_f64();
                    let Some(valid) = number("valid", "mean") else {
                        continue;
                    };
                    curve.points.push(Point {
                        epoch,
                        seconds: epoch_end - checking,
                        train: number("train", "mean"),
                        valid,
                        test: number("test", "mean"),
                        test_bound: number("test", "elbo").map(|elbo| -elbo),
                        train_bound,
                        gradient_variance,
                    });
                    checking += seconds - epoch_end;
                    epoch_end = seconds;
                }
                _ => {}
            }
        }
        curve
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn time_is_that_of_training_and_the_switch_is_where_stage_two_begins() {
        let epoch = |epoch: u64, stage: u8, seconds: f64| json!({"kind": "epoch", "epoch": epoch, "stage": stage, "seconds": seconds});
        let check = |epoch: u64, nll: f64, seconds: f64| {
            let likelihood = json!({"mean": nll, "elbo": -nll - 5.0});
            json!({"kind": "check", "epoch": epoch, "valid": likelihood, "test": likelihood, "seconds": seconds})
        };
        let mut lines = vec![
            epoch(1, 1, 10.0),
            epoch(2, 1, 20.0),
            check(2, 100.0, 50.0),
            epoch(3, 2, 60.0),
            check(3, 90.0, 95.0),
        ];
        lines[4]["train"] = json!({"mean": 80.0});
        lines[1]["elbo"] = json!(-101.5);
        lines[3]["gradient_variance"] = json!(1.0);
        lines.push(json!({"kind": "variance", "epoch": 3}));
        let curve = Curve::of(&lines);
        let seconds: Vec<f64> = curve.points.iter().map(|point| point.seconds).collect();
        assert_eq!(seconds, [20.0, 30.0]);
        assert_eq!(curve.switch, Some((2.0, 20.0)));
        assert_eq!(curve.epochs, 3);
        let train: Vec<_> = curve.points.iter().map(|point| point.train).collect();
        assert_eq!(train, [None, Some(80.0)]);
        assert_eq!(curve.points[0].test_bound, Some(105.0));
        // Those of the epoch that the check follows.
        let of_epochs = |point: &Point| (point.train_bound, point.gradient_variance);
        let of_epochs: Vec<_> = curve.points.iter().map(of_epochs).collect();
        assert_eq!(of_epochs, [(Some(101.5), None), (None, Some(0.0))]);
    }

    #[test]
    fn a_recorded_run_has_its_checks_and_its_switch() {
        let text = include_str!("../../results/table1/paper-s100/linear/jsa/seed-1/metrics.jsonl");
        let lines: Vec<Value> = text
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let curve = Curve::of(&lines);
        assert_eq!((curve.points.len(), curve.epochs), (200, 1000));
        assert_eq!(curve.switch.unwrap().0, 600.0);
        let last = curve.points[199];
        let whole = lines.last().unwrap()["seconds"].as_f64().unwrap();
        assert!(0.0 < last.seconds && last.seconds < whole);
    }
}
