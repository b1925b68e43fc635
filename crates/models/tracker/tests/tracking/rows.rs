//! The gradient that Hamiltonian Monte Carlo follows.

use burn::backend::Autodiff;
use burn::module::Module;
use burn::tensor::{DType, Tensor, TensorData};
use burn_flex::Flex;
use helmholtz_apg::OneShot;
use helmholtz_random::{Purpose, Stream};
use helmholtz_tracker::{Alignment, Sampling, Tracker, TrackerState, Video};

use crate::by_hand::{config, template};

type A = Autodiff<Flex>;

const SHAPE: [usize; 3] = [2, 3, 81];

fn model(alignment: Alignment, sampling: Sampling) -> Tracker<A> {
    let device = Default::default();
    let model = config(alignment).init(3, &template(), DType::F64, &device);
    model.expect("a tracker").with_sampling(sampling).no_grad()
}

fn video() -> Video<A> {
    let mut chance = Stream::new(11, Purpose::new("tests"), [3, 0]);
    let count = SHAPE.iter().product();
    let pixels: Vec<f64> = (0..count).map(|_| chance.uniform_f64()).collect();
    let device = Default::default();
    Video {
        frames: Tensor::from_data(TensorData::new(pixels, SHAPE), (&device, DType::F64)),
        digits: 2,
    }
}

/// Two particles of two instances: positions and appearances.
fn start(model: &Tracker<A>, video: &Video<A>) -> TrackerState<A> {
    let mut chance = Stream::new(11, Purpose::new("tests"), [4, 0]);
    OneShot::propose(model, video, 2, &mut chance).state
}

/// Σ log p(x, z) over particles, and its gradient in all latents.
fn gradient(
    model: &Tracker<A>,
    video: &Video<A>,
    like: &TrackerState<A>,
    rows: &[f64],
) -> (f64, Vec<f64>) {
    let shape = like.to_rows().dims();
    let data = TensorData::new(rows.to_vec(), shape);
    let rows = Tensor::<A, 2>::from_data(data, (&Default::default(), DType::F64)).require_grad();
    let sum = model.log_joint_of_rows(video, like, rows.clone()).sum();
    let gradient = rows.grad(&sum.backward()).expect("a gradient");
    let numbers = gradient.into_data().iter().collect();
    (sum.into_data().iter::<f64>().sum(), numbers)
}

#[test]
fn the_gradient_is_that_of_central_differences() {
    for alignment in [Alignment::PixelCentre, Alignment::Corner] {
        let (model, video) = (model(alignment, Sampling::Bilinear), video());
        let like = start(&model, &video);
        let rows: Vec<f64> = like.to_rows().into_data().iter().collect();
        let (_, own) = gradient(&model, &video, &like, &rows);
        let h = 1e-6;
        for at in 0..rows.len() {
            let shifted = |by: f64| {
                let mut rows = rows.clone();
                rows[at] += by;
                gradient(&model, &video, &like, &rows).0
            };
            let expected = (shifted(h) - shifted(-h)) / (2.0 * h);
            assert!(
                (own[at] - expected).abs() < 1e-5 * expected.abs().max(1.0),
                "{at}: {}, {expected}",
                own[at]
            );
        }
    }
}

/// What the released code runs on: by nearest pixels the likelihood pulls at no position, and the path alone does.
#[test]
fn by_nearest_pixels_only_the_prior_pulls_at_positions() {
    let video = video();
    let pull = |sampling, video: &Video<A>| -> Vec<f64> {
        let model = model(Alignment::PixelCentre, sampling);
        let like = start(&model, video);
        let rows: Vec<f64> = like.to_rows().into_data().iter().collect();
        let (_, own) = gradient(&model, video, &like, &rows);
        own.chunks(rows.len() / 4)
            .flat_map(|row| row[..12].to_vec())
            .collect()
    };
    let nearest = pull(Sampling::Nearest, &video);
    let like = start(&model(Alignment::PixelCentre, Sampling::Nearest), &video);
    let path: Vec<f64> = like.position.clone().into_data().iter().collect();
    let config = config(Alignment::PixelCentre);
    let (first, step) = (config.start.powi(-2), config.step.powi(-2));
    for (own, path) in nearest.chunks(12).zip(path.chunks(12)) {
        for at in 0..12 {
            let before = match at {
                0..4 => -first * path[at],
                _ => -step * (path[at] - path[at - 4]),
            };
            let after = path
                .get(at + 4)
                .map_or(0.0, |next| step * (next - path[at]));
            assert!((own[at] - before - after).abs() < 1e-9);
        }
    }
    let between = pull(Sampling::Bilinear, &video);
    let differ = nearest
        .iter()
        .zip(&between)
        .filter(|(a, b)| (*a - *b).abs() > 1e-3);
    assert!(differ.count() > 20, "bilinear reading does pull");
}

#[test]
fn rows_are_the_latents() {
    let (model, video) = (model(Alignment::PixelCentre, Sampling::Nearest), video());
    let mut chance = Stream::new(11, Purpose::new("tests"), [4, 0]);
    let state = OneShot::propose(&model, &video, 3, &mut chance).state;
    let rows = state.to_rows();
    assert_eq!(rows.dims(), [3 * 2, 12 + 6]);
    let again = state.with_rows(rows);
    assert_eq!(again.position.into_data(), state.position.into_data());
    assert_eq!(again.appearance.into_data(), state.appearance.into_data());
}
