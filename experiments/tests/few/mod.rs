//! Own data for tests that train: few images, so that an epoch takes no time.

use std::fs;
use std::path::Path;

/// How runs call it: by its name and its bytes.
pub const NAME: &str = "own-few-819fedc7";

/// Images, of which some validate and some test.
const IMAGES: usize = 300;
/// Pixels on a side.
const SIDE: usize = 28;

/// `few.npy` in `folder`: images of stripes, as NumPy writes an array of `|u1`.
pub fn images(folder: &Path) {
    let header = format!(
        "{{'descr': '|u1', 'fortran_order': False, 'shape': ({IMAGES}, {}), }}\n",
        SIDE * SIDE
    );
    let pixel = |i: usize| {
        let (image, pixel) = (i / (SIDE * SIDE), i % (SIDE * SIDE));
        let (row, column) = (pixel / SIDE, pixel % SIDE);
        u8::from((row + image * column / 7 + image) % 5 == 0)
    };
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((header.len() as u16).to_le_bytes());
    file.extend(header.bytes());
    file.extend((0..IMAGES * SIDE * SIDE).map(pixel));
    fs::write(folder.join("few.npy"), file).unwrap();
}
