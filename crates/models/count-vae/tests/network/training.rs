//! Training on generated images by estimators of counts: it learns, and a run that was stopped ends in the same bits.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use burn::backend::Autodiff;
use burn::tensor::DType;
use burn_flex::Flex;
use helmholtz_count_vae::{CountVae, CountVaeConfig};
use helmholtz_datasets::{DatasetName, Locator, Splits, load};
use helmholtz_estimators::{Estimator, FiniteOrder, Rloo};
use helmholtz_runs::{OpenMode, RunFolder};
use helmholtz_training::{Event, Outcome, TrainConfig, TrainError, train};

type Ad = Autodiff<Flex>;

fn glyphs() -> Splits {
    load(DatasetName::Glyphs, &Locator::new(None), &mut |_| {}).unwrap()
}

/// A few epochs; stopped after so many steps if that is asked for.
fn run<E: Estimator<Ad, CountVae<Ad>> + Clone>(
    estimator: E,
    data: &Splits,
    path: &Path,
    stop_after: Option<u64>,
) -> Result<Outcome, TrainError> {
    let net = CountVaeConfig {
        variables: 20,
        hidden: vec![32],
        ..CountVaeConfig::poisson()
    };
    let config = TrainConfig {
        epochs: 3,
        learning_rate: 3e-3,
        valid_images: Some(100),
        valid_samples: 10,
        test_images: Some(100),
        test_samples: 10,
        final_samples: vec![],
        checkpoint_seconds: 1e-3,
        ..TrainConfig::new(estimator)
    };
    let device = Default::default();
    let model = net.init(1, DType::F32, &device).unwrap();
    let identity = serde_json::json!({ "counts": 20 });
    let mut folder = RunFolder::open(path, &identity, OpenMode::Resume).unwrap();
    let (stop, steps) = (AtomicBool::new(false), AtomicU64::new(0));
    let observe = |event: &Event| {
        if let Event::Step { .. } = event {
            let done = steps.fetch_add(1, Ordering::Relaxed) + 1;
            stop.store(stop_after == Some(done), Ordering::Relaxed);
        }
    };
    train(model, &config, data, &device, &mut folder, &observe, &stop)
}

#[test]
fn it_learns_and_a_run_that_was_stopped_ends_in_the_same_bits() {
    let data = glyphs();
    let [whole, stopped, other] = [(); 3].map(|()| tempfile::tempdir().unwrap());
    let expected = run(FiniteOrder::Third, &data, whole.path(), None).unwrap();
    let interrupted = run(FiniteOrder::Third, &data, stopped.path(), Some(150)).unwrap_err();
    assert!(matches!(interrupted, TrainError::Interrupted { .. }));
    let found = run(FiniteOrder::Third, &data, stopped.path(), None).unwrap();
    assert_eq!(found, expected);
    let leave_one_out = run(Rloo, &data, other.path(), None).unwrap();
    // Every pixel by a fair coin costs 543 nats.
    for outcome in [expected, leave_one_out] {
        let nll = outcome.selected.valid.mean;
        assert!(nll < 250.0, "{nll}");
    }
}
