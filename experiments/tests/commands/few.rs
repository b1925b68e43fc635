//! Own data for tests that train: few images, so that an epoch takes no time.

use std::fs;
use std::path::Path;

use crate::npy::npy;

/// How runs call it: by the file and a hash of the images.
pub const NAME: &str = "own-few-819fedc7";

/// Images, of which some validate and some test.
const IMAGES: usize = 300;
/// Pixels on a side.
const SIDE: usize = 28;

/// `few.npy` in `folder`: images of stripes.
pub fn images(folder: &Path) {
    let pixel = |i: usize| {
        let (image, pixel) = (i / (SIDE * SIDE), i % (SIDE * SIDE));
        let (row, column) = (pixel / SIDE, pixel % SIDE);
        f32::from((row + image * column / 7 + image) % 5 == 0)
    };
    let pixels: Vec<f32> = (0..IMAGES * SIDE * SIDE).map(pixel).collect();
    fs::write(folder.join("few.npy"), npy(SIDE * SIDE, &pixels)).unwrap();
}
