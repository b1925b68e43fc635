//! Tempered estimates as measurements: reproducible in parts and on threads, with bounds that close in. That they are unbiased is
//! proved by enumeration beside the code.

use burn::tensor::DType;
use burn_flex::Flex;
use helmholtz_datasets::Images;
use helmholtz_evaluation::{Bounds, Tempering, bounds, tempered_log_evidence};
use helmholtz_random::{Purpose, Stream};
use helmholtz_sbn::{Sbn, SbnConfig};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

fn model() -> Sbn<Flex> {
    let mut config = SbnConfig::named("two-layers").unwrap();
    (config.visible, config.latent) = (12, vec![5, 3]);
    config.init(1, DType::F32, &Default::default()).unwrap()
}

fn images(count: usize) -> Images {
    let mut stream = Stream::new(1, Purpose::new("images"), [0, 0]);
    Images::from_fn(count, 12, |_, _| stream.below(3) == 0)
}

fn tempering(particles: usize, steps: usize) -> Tempering {
    Tempering {
        particles,
        steps,
        seed: 1,
        purpose: Purpose::new("test"),
        threads: 1,
    }
}

fn evidence(rows: Range<usize>, tempering: &Tempering) -> Option<Vec<f64>> {
    let (model, images, device) = (model(), images(23), Default::default());
    tempered_log_evidence::<Flex, _>(&model, &images, rows, tempering, &device, &|_| true)
}

fn both(rows: Range<usize>, tempering: &Tempering) -> Option<Vec<Bounds>> {
    let (model, images, device) = (model(), images(23), Default::default());
    bounds::<Flex, _>(&model, &images, rows, tempering, &device, &|_| true)
}

fn numbers(bounds: Vec<Bounds>) -> Vec<f64> {
    bounds
        .iter()
        .flat_map(|own| [own.lower, own.upper])
        .collect()
}

#[test]
fn parts_and_threads_give_the_bits_of_the_whole() {
    let once = tempering(3, 4);
    let whole = evidence(0..23, &once).unwrap();
    let parts = [0..10, 10..20, 20..23].map(|rows| evidence(rows, &once).unwrap());
    assert_eq!(parts.concat(), whole);
    let of_bounds = numbers(both(0..23, &once).unwrap());
    let parts = [0..20, 20..23].map(|rows| numbers(both(rows, &once).unwrap()));
    assert_eq!(parts.concat(), of_bounds);
    for threads in [2, 5] {
        let many = Tempering { threads, ..once };
        assert_eq!(evidence(0..23, &many).unwrap(), whole);
        assert_eq!(numbers(both(0..23, &many).unwrap()), of_bounds);
    }
    // No two data, and no two seeds, have the same number.
    let other = Tempering { seed: 2, ..once };
    let mut all = [whole, evidence(0..23, &other).unwrap()].concat();
    all.sort_by(f64::total_cmp);
    all.dedup();
    assert_eq!(all.len(), 46);
}

#[test]
fn without_particles_or_steps_there_is_nothing() {
    for (particles, steps) in [(0, 3), (3, 0), (0, 0)] {
        assert_eq!(evidence(0..3, &tempering(particles, steps)), None);
        assert_eq!(both(0..3, &tempering(particles, steps)), None);
    }
    assert_eq!(evidence(0..3, &tempering(1, 1)).unwrap().len(), 3);
}

#[test]
fn a_progress_that_answers_no_leaves_nothing() {
    let (model, images, device) = (model(), images(23), Default::default());
    let stopped = |images: usize| images == 3;
    let tempering = tempering(1, 1);
    let found =
        tempered_log_evidence::<Flex, _>(&model, &images, 0..23, &tempering, &device, &stopped);
    assert_eq!(found, None);
    let found = bounds::<Flex, _>(&model, &images, 0..23, &tempering, &device, &stopped);
    assert_eq!(found, None);
}

/// Of ten data, which are evaluated together, in the middle of the steps.
#[test]
fn a_progress_that_answers_no_in_between_ends_the_steps() {
    let (model, images, device) = (model(), images(10), Default::default());
    for least in 1..=40 {
        let asked = AtomicUsize::new(0);
        let stopped = |images: usize| {
            assert_eq!(images, 0);
            asked.fetch_add(1, Ordering::Relaxed) + 1 < least
        };
        let tempering = tempering(2, 20);
        let bounds = bounds::<Flex, _>(&model, &images, 0..10, &tempering, &device, &stopped);
        assert_eq!((bounds, asked.into_inner()), (None, least));
        if least > 20 {
            continue;
        }
        let asked = AtomicUsize::new(0);
        let stopped = |_| asked.fetch_add(1, Ordering::Relaxed) + 1 < least;
        let found =
            tempered_log_evidence::<Flex, _>(&model, &images, 0..10, &tempering, &device, &stopped);
        assert_eq!((found, asked.into_inner()), (None, least));
    }
}

/// Means over the same 23 data of the model: the distance of the bounds falls to a tenth and less.
#[test]
fn the_bounds_hold_the_truth_between_them_and_close_in() {
    let means = |particles, steps| {
        let found = both(0..23, &tempering(particles, steps)).unwrap();
        let mean = |of: fn(&Bounds) -> f64| found.iter().map(of).sum::<f64>() / 23.0;
        [mean(|own| own.lower), mean(|own| own.upper)]
    };
    let [lower, upper] = means(1, 1);
    let [closer, above] = means(50, 20);
    assert!(lower < upper && upper - lower > 0.1, "{lower} {upper}");
    assert!(
        (above - closer).abs() < 0.1 * (upper - lower),
        "{closer} {above}"
    );
    assert!(lower < closer && above < upper);
}

#[test]
fn evaluations_are_one_for_each_particle_and_one_for_each_move_of_a_layer() {
    assert_eq!(tempering(7, 1).evaluations(3), 7);
    assert_eq!(tempering(7, 5).evaluations(3), 7 * (1 + 4 * 3));
}
