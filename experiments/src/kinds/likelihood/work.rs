//! Time that a cell takes.

use crate::cell::Settings;
use crate::cell_runner::Cost;
use crate::data::Sizes;
use helmholtz_harness::work::Work;

/// The work of a cell with these settings, counted in epochs: its end evaluates the selected epoch, by the released code's formula too
/// where that is asked for.
pub fn work(settings: &Settings, sizes: Sizes, cost: Cost) -> Work {
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
    Work {
        each: steps as f64 * cost.step,
        check_every: Some(settings.check_every),
        check: (valid + train + at_checks) * cost.image_sample,
        last: (last + at_the_end) * cost.image_sample,
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
        let all = work(&s, SIZES, COST);
        let expected = Work {
            each: 2.0,
            check: 2.0,
            check_every: Some(5),
            last: 10.0,
        };
        assert_eq!(all, expected);
        assert_eq!(all.total(s.epochs), 2000.0 + 200.0 * 2.0 + 10.0);
        assert_eq!(all.remaining(s.epochs, 990), 20.0 + 2.0 * 2.0 + 10.0);
        assert_eq!(all.remaining(s.epochs, 1000), 10.0);
        // However many there are.
        assert_eq!(all.total(100_000_000_000), 2e11 + 4e10 + 10.0);
    }

    #[test]
    fn a_subset_larger_than_the_data_is_the_data() {
        let s = Settings {
            valid_images: Some(99_000),
            test_images: Some(1000),
            ..settings()
        };
        assert_eq!(work(&s, SIZES, COST).check, 1e-6 * 100.0 * 11_000.0);
    }

    #[test]
    fn the_last_evaluation_is_over_all_test_images() {
        let s = Settings {
            test_images: Some(1000),
            final_samples: Some(1000.into()),
            ..settings()
        };
        assert_eq!(work(&s, SIZES, COST).last, 10.0);
        let released = |final_samples| Settings {
            released_nll: true,
            final_samples,
            ..s.clone()
        };
        assert_eq!(work(&released(Some(1000.into())), SIZES, COST).last, 20.0);
        assert_eq!(work(&released(None), SIZES, COST).last, 1.0);
    }

    #[test]
    fn test_images_that_no_check_evaluates_are_evaluated_once() {
        let all = work(&settings(), SIZES, COST);
        let cheap = Settings {
            test_at_checks: Some(false),
            ..settings()
        };
        let cheap = work(&cheap, SIZES, COST);
        assert!(cheap.check < all.check);
        assert!((all.check - cheap.check - cheap.last).abs() < 1e-12 && all.last == 0.0);
    }
}
