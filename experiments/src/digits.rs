//! Digits that a model has learned, as pictures: drawn from p, and drawn again from what q sees in test images.

use crate::completions::{SIDE, images, spread};
use burn::tensor::activation::sigmoid;
use burn::tensor::backend::BackendTypes;
use burn::tensor::{DType, Tensor};
use helmholtz_datasets::Images;
use helmholtz_estimators::{Dream, Particles, Propose};
use helmholtz_evaluation::batch_of;
use helmholtz_ops::Backend;
use helmholtz_random::{Purpose, Stream};
use helmholtz_report::picture::Picture;

const SAMPLES: Purpose = Purpose::new("samples");
const RECONSTRUCTIONS: Purpose = Purpose::new("again");

/// Images in a row.
const COLUMNS: usize = 10;
/// Rows of samples.
const ROWS: usize = 6;
/// Reconstructions of a test image.
const AGAIN: usize = 3;

/// Samples x ~ p(x | h), h ~ p(h), in rows.
pub fn sampled<B: Backend, M: Dream<B>>(
    model: &M,
    seed: u64,
    device: &<B as BackendTypes>::Device,
) -> Picture {
    let shape = Tensor::zeros([COLUMNS * ROWS, SIDE * SIDE], (device, DType::F32));
    let mut noise = Stream::new(seed, SAMPLES, [0, 0]);
    let drawn = images(&model.dream(shape, &mut noise).0.numbers());
    let rows: Vec<_> = drawn.chunks(COLUMNS).map(<[_]>::to_vec).collect();
    Picture::grid(&rows, SIDE)
}

/// Test images in the first row; below each, the probabilities p(x | h) of its pixels for some h ~ q(h | x), ones black.
/// `logits` gives those of p(x | h) for each row of latents.
pub fn reconstructed<B: Backend, M: Propose<B>>(
    model: &M,
    logits: impl Fn(&M, &Particles<B>) -> Tensor<B, 2>,
    test: &Images,
    seed: u64,
    device: &<B as BackendTypes>::Device,
) -> Picture {
    let chosen = spread(test, COLUMNS);
    let x = batch_of::<B>(test, chosen.iter().copied(), device);
    let mut noise = Stream::new(seed, RECONSTRUCTIONS, [0, 0]);
    let proposals = model.propose(&model.encode(x.clone()), None, AGAIN, &mut noise);
    let again = images(&sigmoid(logits(model, &proposals.particles)));
    let mut rows = vec![images(&x.numbers())];
    // Particle-major: each stretch has every image once.
    rows.extend(again.chunks(chosen.len().max(1)).map(<[_]>::to_vec));
    Picture::grid(&rows, SIDE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn_flex::Flex;
    use helmholtz_sbn::{Sbn, SbnConfig};

    /// Pixels of the image in a column and a row of a grid.
    fn image(picture: &Picture, column: usize, row: usize) -> Vec<u8> {
        let (width, pixels) = (picture.width(), picture.pixels());
        let at = |k: usize| 2 + k * (SIDE + 2);
        let line = |y: usize| &pixels[(at(row) + y) * width + at(column)..][..SIDE];
        (0..SIDE).flat_map(line).copied().collect()
    }

    fn model() -> Sbn<Flex> {
        let config = SbnConfig::named("linear").unwrap();
        config.init(1, DType::F32, &Default::default()).unwrap()
    }

    #[test]
    fn samples_are_bits_each_drawn_anew_and_the_same_for_a_seed() {
        let draw = |seed| sampled::<Flex, _>(&model(), seed, &Default::default());
        let picture = draw(1);
        let first = image(&picture, 0, 0);
        assert!(first.iter().all(|&pixel| pixel == 0 || pixel == 255));
        assert_ne!(first, image(&picture, 9, 5));
        assert_eq!(picture, draw(1));
        assert_ne!(picture, draw(2));
    }

    #[test]
    fn the_first_row_is_the_test_images_and_the_others_are_probabilities_of_their_own_image() {
        let test = Images::from_fn(10, SIDE * SIDE, |row, pixel| pixel % 10 == row);
        let model = model();
        let device = Default::default();
        // Each row's own number as the logit of all its pixels: particle-major, ten images.
        let own = |_: &Sbn<Flex>, particles: &Particles<Flex>| {
            let rows = particles.rows();
            let logits =
                Tensor::<Flex, 1, burn::tensor::Int>::arange(0..rows as i64, &device).float();
            logits
                .div_scalar(10.0)
                .reshape([rows, 1])
                .repeat_dim(1, SIDE * SIDE)
        };
        let picture = reconstructed::<Flex, _>(&model, own, &test, 1, &device);
        let pixels = image(&picture, 3, 0);
        assert!((0..SIDE * SIDE).all(|pixel| (pixels[pixel] == 0) == (pixel % 10 == 3)));
        for (row, logit) in [(1, 0.3), (2, 1.3), (3, 2.3)] {
            let expected = 255.0 * (1.0 - 1.0 / (1.0 + f64::exp(-logit)));
            let found = f64::from(image(&picture, 3, row)[0]);
            assert!((found - expected).abs() <= 0.51, "{found} {expected}");
        }
    }
}
