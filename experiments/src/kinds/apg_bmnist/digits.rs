//! MNIST's images at the size that the canvas has.

use burn::tensor::{DType, Tensor, TensorData};
use helmholtz_datasets::GreyImages;
use helmholtz_ops::Backend;
use helmholtz_tracker::{Bounce, BounceError, Identities, Sequence, Video};

/// A collection of digits, grey values in \[0, 1\].
#[derive(Debug, Clone)]
pub struct Digits {
    pixels: Vec<f32>,
    area: usize,
}

impl Digits {
    /// The images with sides of so many pixels: [`GreyImages::averaged`].
    ///
    /// # Panics
    /// If `side` doesn't divide the images' side.
    pub fn new(images: &GreyImages, side: usize) -> Self {
        Self {
            pixels: images.averaged(side),
            area: side * side,
        }
    }

    /// So many images of one grey.
    #[cfg(test)]
    pub fn grey(count: usize, side: usize) -> Self {
        let area = side * side;
        Self {
            pixels: vec![0.5; count * area],
            area,
        }
    }

    /// Number of images.
    fn len(&self) -> usize {
        self.pixels.len() / self.area
    }

    fn image(&self, at: u32) -> &[f32] {
        &self.pixels[at as usize * self.area..][..self.area]
    }

    /// The mean of all.
    pub fn mean(&self) -> Vec<f32> {
        let mut sums = vec![0.0f64; self.area];
        for image in self.pixels.chunks_exact(self.area) {
            let pairs = sums.iter_mut().zip(image);
            pairs.for_each(|(sum, &pixel)| *sum += f64::from(pixel));
        }
        let count = self.len() as f64;
        sums.iter().map(|sum| (sum / count) as f32).collect()
    }

    /// Returns which images the sequences of a corpus show.
    ///
    /// # Errors
    /// A corpus that cannot be made.
    pub fn identities(&self, bounce: &Bounce, seed: u64) -> Result<Identities, BounceError> {
        bounce.identities(seed, self.len())
    }

    /// The sequence with this number.
    pub fn sequence(
        &self,
        bounce: &Bounce,
        seed: u64,
        number: u64,
        identities: &Identities,
    ) -> Sequence {
        bounce.sequence(seed, number, identities, |image| self.image(image))
    }
}

/// These sequences as a batch.
pub fn video<B: Backend>(bounce: &Bounce, sequences: &[Sequence], device: &B::Device) -> Video<B> {
    let frames = sequences.iter().flat_map(|sequence| &sequence.frames);
    let pixels: Vec<f32> = frames.flatten().copied().collect();
    let shape = [sequences.len(), bounce.frames, bounce.canvas.area()];
    Video {
        frames: Tensor::from_data(TensorData::new(pixels, shape), (device, DType::F32)),
        digits: bounce.digits,
    }
}
