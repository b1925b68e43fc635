//! How long things take: a cell's work from measured costs, and several cells on several threads.

use crate::cell::Settings;
use crate::cell_runner::Cost;
use helmholtz_datasets::Splits;
use std::time::Duration;

/// The sizes of a data set's three parts, in images.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    /// Training images.
    pub train: u64,
    /// Validation images.
    pub valid: u64,
    /// Test images.
    pub test: u64,
}

impl Sizes {
    /// Of this data set.
    pub fn of(splits: &Splits) -> Self {
        let [train, valid, test] = [&splits.train, &splits.valid, &splits.test];
        let [train, valid, test] = [train, valid, test].map(|images| images.len() as u64);
        Self { train, valid, test }
    }
}

/// The work of a cell in seconds of one thread, split as a run goes through it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Work {
    /// Seconds of training for an epoch.
    pub epoch: f64,
    /// Seconds for a check.
    pub check: f64,
    /// Seconds for the evaluations of the selected epoch in the end, by the released code's formula too where that is asked for.
    pub last: f64,
}

impl Work {
    /// The work of a cell with these settings.
    pub fn of(settings: &Settings, sizes: Sizes, cost: Cost) -> Self {
        let steps = sizes.train / settings.batch.max(1) as u64;
        let images = |wanted: Option<u64>, all: u64| wanted.unwrap_or(all).min(all) as f64;
        let valid = images(settings.valid_images, sizes.valid) * settings.valid_samples as f64;
        let train = match settings.train_images {
            Some(_) => images(settings.train_images, sizes.train) * settings.valid_samples as f64,
            None => 0.0,
        };
        let test_images = images(settings.test_images, sizes.test);
        let test = test_images * settings.test_samples as f64;
        let released = match settings.released_nll {
            true => settings.reported_samples().unwrap_or(settings.test_samples),
            false => 0,
        };
        let largest = settings
            .final_samples
            .as_ref()
            .map_or(0, |all| all.largest());
        let last = sizes.test as f64 * (largest + released) as f64;
        let (at_checks, at_the_end) = match settings.tests_at_checks() {
            true => (test, 0.0),
            false => (0.0, test),
        };
        Self {
            epoch: steps as f64 * cost.step,
            check: (valid + train + at_checks) * cost.image_sample,
            last: (last + at_the_end) * cost.image_sample,
        }
    }

    /// Seconds that remain after `done` epochs of a run with these settings.
    pub fn remaining(&self, settings: &Settings, done: u64) -> f64 {
        let checks = settings.checks_left(done);
        settings.epochs.saturating_sub(done) as f64 * self.epoch
            + checks as f64 * self.check
            + self.last
    }

    /// Seconds of a whole run.
    pub fn total(&self, settings: &Settings) -> f64 {
        self.remaining(settings, 0)
    }
}

/// Seconds until the last of these tasks ends, when each of `jobs` threads takes the next as it becomes free.
pub fn makespan(tasks: impl IntoIterator<Item = f64>, jobs: usize) -> f64 {
    let mut free_at = vec![0.0_f64; jobs.max(1)];
    for task in tasks {
        let earliest = free_at
            .iter_mut()
            .min_by(|a, b| a.total_cmp(b))
            .expect("at least one thread");
        *earliest += task;
    }
    free_at.into_iter().fold(0.0, f64::max)
}

/// A duration as a person says it: `12 s`, `3 min 20 s`, `4 h 10 min`, `3 d 4 h`.
pub fn say(seconds: f64) -> String {
    if !seconds.is_finite() {
        return "?".to_string();
    }
    let s = Duration::from_secs_f64(seconds.clamp(0.0, 1e12))
        .as_secs_f64()
        .round() as u64;
    let two = |big: u64, big_unit: &str, small: u64, small_unit: &str| match small {
        0 => format!("{big} {big_unit}"),
        _ => format!("{big} {big_unit} {small} {small_unit}"),
    };
    match s {
        0 if seconds > 0.0 => "< 1 s".to_string(),
        0..60 => format!("{s} s"),
        60..3600 => two(s / 60, "min", s % 60, "s"),
        3600..86_400 => two(s / 3600, "h", s % 3600 / 60, "min"),
        _ => two(s / 86_400, "d", s % 86_400 / 3600, "h"),
    }
}

/// A duration as a clock: `0:23`, `12:07`, `1:02:03`, and `3 d 4 h` from a day on.
pub fn clock(seconds: f64) -> String {
    if !seconds.is_finite() {
        return "-:--".to_string();
    }
    let s = seconds.clamp(0.0, 1e12).round() as u64;
    match s {
        0..3600 => format!("{}:{:02}", s / 60, s % 60),
        3600..86_400 => format!("{}:{:02}:{:02}", s / 3600, s % 3600 / 60, s % 60),
        _ => say(seconds),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::tests::settings;

    const SIZES: Sizes = Sizes {
        train: 50_000,
        valid: 10_000,
        test: 10_000,
    };
    const COST: Cost = Cost {
        step: 0.002,
        image_sample: 1e-6,
        parameters: 0,
        row_bytes: 0,
    };

    #[test]
    fn the_papers_work_is_steps_plus_checks_plus_the_last_evaluation() {
        let s = Settings {
            epochs: 1000,
            final_samples: Some(1000.into()),
            ..settings()
        };
        let work = Work::of(&s, SIZES, COST);
        assert_eq!(
            work,
            Work {
                epoch: 2.0,
                check: 2.0,
                last: 10.0
            }
        );
        assert_eq!(work.total(&s), 2000.0 + 200.0 * 2.0 + 10.0);
        assert_eq!(work.remaining(&s, 990), 20.0 + 2.0 * 2.0 + 10.0);
        assert_eq!(work.remaining(&s, 1000), 10.0);
        // However many there are.
        let endless = Settings {
            epochs: 100_000_000_000,
            ..s
        };
        assert_eq!(work.total(&endless), 2e11 + 4e10 + 10.0);
    }

    #[test]
    fn a_subset_larger_than_the_data_is_the_data() {
        let s = Settings {
            valid_images: Some(99_000),
            test_images: Some(1000),
            ..settings()
        };
        assert_eq!(Work::of(&s, SIZES, COST).check, 1e-6 * 100.0 * 11_000.0);
    }

    #[test]
    fn the_last_evaluation_is_over_all_test_images() {
        let s = Settings {
            test_images: Some(1000),
            final_samples: Some(1000.into()),
            ..settings()
        };
        assert_eq!(Work::of(&s, SIZES, COST).last, 10.0);
        let released = |final_samples| Settings {
            released_nll: true,
            final_samples,
            ..s.clone()
        };
        assert_eq!(
            Work::of(&released(Some(1000.into())), SIZES, COST).last,
            20.0
        );
        assert_eq!(Work::of(&released(None), SIZES, COST).last, 1.0);
    }

    #[test]
    fn test_images_that_no_check_evaluates_are_evaluated_once() {
        let all = Work::of(&settings(), SIZES, COST);
        let cheap = Settings {
            test_at_checks: Some(false),
            ..settings()
        };
        let cheap = Work::of(&cheap, SIZES, COST);
        assert!(cheap.check < all.check);
        assert!((all.check - cheap.check - cheap.last).abs() < 1e-12 && all.last == 0.0);
    }

    #[test]
    fn the_makespan_follows_the_queue() {
        assert_eq!(makespan([3.0, 2.0, 2.0], 2), 4.0);
        assert_eq!(makespan([3.0, 2.0, 2.0], 1), 7.0);
        assert_eq!(makespan([3.0, 2.0], 8), 3.0);
        assert_eq!(makespan([], 2), 0.0);
    }

    #[test]
    fn durations_read_well() {
        for (seconds, text) in [
            (0.0, "0 s"),
            (0.2, "< 1 s"),
            (59.4, "59 s"),
            (60.0, "1 min"),
            (200.0, "3 min 20 s"),
            (15_000.0, "4 h 10 min"),
            (273_600.0, "3 d 4 h"),
            (f64::NAN, "?"),
        ] {
            assert_eq!(say(seconds), text);
        }
        assert_eq!(clock(23.0), "0:23");
        assert_eq!(clock(3723.0), "1:02:03");
        assert_eq!(clock(f64::INFINITY), "-:--");
    }
}
