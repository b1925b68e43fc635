//! Sampled completions of images as a picture: what a conditional model has learned, to look at.

use burn::tensor::Tensor;
use burn::tensor::backend::BackendTypes;
use helmholtz_datasets::Images;
use helmholtz_evaluation::batch_of;
use helmholtz_ops::Backend;
use helmholtz_random::{Purpose, Stream};
use helmholtz_report::picture::{GREY, Picture};

const COMPLETIONS: Purpose = Purpose::new("complete");
/// Test images, evenly spread: files may be sorted.
const IMAGES: usize = 10;
/// Sampled lower halves of each.
const SAMPLES: usize = 8;
/// Pixels to a side of an image.
pub(crate) const SIDE: usize = 28;

/// A row for each of a few test images, with the image, its given upper half, and samples of the lower one.
/// The draws are named by the run's seed. `complete` gives data with so many samples of the lower half each.
pub fn picture<B: Backend>(
    complete: impl Fn(Tensor<B, 2>, usize, &mut Stream) -> Tensor<B, 2>,
    test: &Images,
    seed: u64,
    device: &<B as BackendTypes>::Device,
) -> Picture {
    let chosen = spread(test, IMAGES);
    let x = batch_of::<B>(test, chosen.iter().copied(), device);
    let mut noise = Stream::new(seed, COMPLETIONS, [0, 0]);
    let x = x.numbers();
    let originals = images(&x);
    let completed = images(&complete(x, SAMPLES, &mut noise));
    let rows = originals.iter().enumerate().map(|(row, original)| {
        let mut given = original.clone();
        given[SIDE * SIDE / 2..].fill(GREY);
        // Particle-major: the samples of an image are as many images apart as there are.
        let samples = completed[row..].iter().step_by(originals.len()).cloned();
        [original.clone(), given]
            .into_iter()
            .chain(samples)
            .collect()
    });
    Picture::grid(&rows.collect::<Vec<_>>(), SIDE)
}

/// Indices of `count` images, evenly spread.
pub(crate) fn spread(images: &Images, count: usize) -> Vec<usize> {
    let count = count.min(images.len());
    (0..count)
        .map(|i| (2 * i + 1) * images.len() / (2 * count))
        .collect()
}

/// Rows of bits, or of their probabilities, as images, a byte a pixel, ones black.
pub(crate) fn images<B: Backend>(rows: &Tensor<B, 2>) -> Vec<Vec<u8>> {
    let bits: Vec<f32> = rows.to_data().iter().collect();
    let pixel = |&bit: &f32| (255.0 * (1.0 - bit)).round() as u8;
    bits.chunks(SIDE * SIDE)
        .map(|image| image.iter().map(pixel).collect())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_come_from_all_over_the_set() {
        let images = Images::from_fn(1000, 4, |_, _| false);
        let chosen = spread(&images, 10);
        assert_eq!((chosen[0], chosen[9], chosen.len()), (50, 950, 10));
        assert_eq!(spread(&images.select(&[0, 1]), 10), [0, 1]);
    }
}
