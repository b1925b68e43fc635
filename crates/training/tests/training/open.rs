//! Training by an estimator that is no method of the catalogue, on data that are no images.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use burn::backend::Autodiff;
use burn::tensor::DType;
use burn_flex::Flex;
use helmholtz_datasets::{Data, Images, Rows, Splits};
use helmholtz_estimators::{Coefficient, Estimator, Method, Outcome as Weighed, Rloo, Weighting};
use helmholtz_random::{Chance, Purpose, Stream};
use helmholtz_runs::{OpenMode, RunFolder};
use helmholtz_sbn::{Sbn, SbnConfig};
use helmholtz_training::{Event, Outcome, TrainConfig, TrainError, train};
use serde_json::json;

type Ad = Autodiff<Flex>;

const WIDTH: usize = 8;

fn model() -> Sbn<Ad> {
    let mut config = SbnConfig::named("linear").unwrap();
    (config.visible, config.latent) = (WIDTH, vec![4]);
    config.init(3, DType::F32, &Default::default()).unwrap()
}

/// Rows of numbers made of uniforms.
fn rows(part: u64, len: usize, number: impl Fn(f64) -> f32) -> Rows {
    let mut stream = Stream::new(part, Purpose::new("rows"), [0, 0]);
    Rows::new(
        WIDTH,
        (0..len * WIDTH)
            .map(|_| number(stream.uniform_f64()))
            .collect(),
    )
}

fn splits(number: impl Fn(f64) -> f32 + Copy) -> Splits<Rows> {
    let [train, valid, test] = [(1, 40), (2, 20), (3, 20)].map(|(p, n)| rows(p, n, number));
    Splits::in_memory("rows", train, valid, test)
}

fn config<E>(estimator: E) -> TrainConfig<E> {
    TrainConfig {
        epochs: 3,
        batch: 10,
        valid_samples: 5,
        valid_images: Some(15),
        test_samples: 5,
        final_samples: vec![25],
        ..TrainConfig::new(estimator)
    }
}

fn run<E, D>(
    folder: &Path,
    estimator: E,
    data: &Splits<D>,
    last: (u64, u64),
) -> Result<Outcome, TrainError>
where
    E: Estimator<Ad, Sbn<Ad>> + Clone,
    D: Data,
{
    let mut folder = RunFolder::open(folder, &json!(1), OpenMode::Resume).unwrap();
    let stop = AtomicBool::new(false);
    let observe = |event: &Event| {
        if let Event::Step { epoch, step, .. } = event {
            stop.fetch_or((*epoch, *step) == last, Ordering::Relaxed);
        }
    };
    let (config, device) = (config(estimator), Default::default());
    train(
        model(),
        &config,
        data,
        &device,
        &mut folder,
        &observe,
        &stop,
    )
}

/// RLOO by another name, of another crate as far as the loop knows.
#[derive(Clone)]
struct Own;

impl Weighting for Own {
    fn least_particles(&self, retained: bool) -> usize {
        Rloo.least_particles(retained)
    }

    fn weigh(
        &self,
        log_w: &[f64],
        retained: bool,
        chance: &mut dyn Chance,
        coefficients: &mut [Coefficient],
    ) -> Weighed {
        Rloo.weigh(log_w, retained, chance, coefficients)
    }
}

const NEVER: (u64, u64) = (0, 0);

#[test]
fn an_estimator_outside_the_catalogue_trains_as_the_method_that_it_is() {
    let home = tempfile::tempdir().unwrap();
    let data = splits(|u| f32::from(u8::from(u < 0.3)));
    let own = run(&home.path().join("own"), Own, &data, NEVER).unwrap();
    let named: Method = "rloo".parse().unwrap();
    let named = run(&home.path().join("named"), named, &data, NEVER).unwrap();
    assert_eq!(own, named);
    let other: Method = "vimco".parse().unwrap();
    let other = run(&home.path().join("other"), other, &data, NEVER).unwrap();
    assert_ne!(own.last, other.last);
}

#[test]
fn too_few_particles_for_it_are_refused() {
    let home = tempfile::tempdir().unwrap();
    let mut folder = RunFolder::open(home.path(), &json!(1), OpenMode::Resume).unwrap();
    let config = TrainConfig {
        particles: 1,
        ..config(Own)
    };
    let data = splits(|u| u as f32);
    let stop = AtomicBool::new(false);
    let device = Default::default();
    let refused = train(
        model(),
        &config,
        &data,
        &device,
        &mut folder,
        &|_| {},
        &stop,
    );
    let problem = refused.unwrap_err().to_string();
    assert!(problem.contains("at least 2"), "{problem}");
}

#[test]
fn grey_rows_in_memory_train_and_resume_in_the_same_bits() {
    let home = tempfile::tempdir().unwrap();
    let data = splits(|u| (u * u) as f32);
    let whole = run(&home.path().join("whole"), Own, &data, NEVER).unwrap();
    let parts = home.path().join("parts");
    for last in [(1, 3), (2, 1)] {
        let stopped = run(&parts, Own, &data, last);
        assert!(matches!(stopped, Err(TrainError::Interrupted { .. })));
    }
    assert_eq!(run(&parts, Own, &data, NEVER).unwrap(), whole);
}

#[test]
fn rows_of_bits_give_the_likelihood_of_binary_images() {
    let home = tempfile::tempdir().unwrap();
    let data = splits(|u| f32::from(u8::from(u < 0.3)));
    let image = |rows: &Rows| {
        let mut row = [0.0; WIDTH];
        Images::from_fn(rows.len(), WIDTH, |i, j| {
            rows.write_row(i, &mut row);
            row[j] == 1.0
        })
    };
    let images = [&data.train, &data.valid, &data.test].map(image);
    let [train, valid, test] = images;
    let images = Splits::in_memory("images", train, valid, test);
    // The fingerprint is of the numbers, not of how they are kept.
    assert_eq!(images.fingerprint, data.fingerprint);
    let of_rows = run(&home.path().join("rows"), Own, &data, NEVER).unwrap();
    let of_images = run(&home.path().join("images"), Own, &images, NEVER).unwrap();
    let difference = of_rows.last[0].mean - of_images.last[0].mean;
    assert!(difference.abs() < 1e-3, "{difference}");
    let grey = splits(|u| u as f32);
    let refused = run(&home.path().join("rows"), Own, &grey, NEVER);
    assert!(matches!(refused, Err(TrainError::Run(_))), "other data");
}
