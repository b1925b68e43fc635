//! Grey images in memory, one byte a pixel.

use std::ops::Range;

use crate::Images;

/// `len` grey images of `rows` x `columns` pixels, one byte each (0 black, 255 white), row-major.
#[derive(Clone, PartialEq, Eq)]
pub struct GreyImages {
    rows: usize,
    columns: usize,
    bytes: Vec<u8>,
}

impl GreyImages {
    /// Whole images of at least one pixel.
    pub(crate) fn new(rows: usize, columns: usize, bytes: Vec<u8>) -> Self {
        debug_assert!(bytes.len().is_multiple_of(rows * columns));
        Self {
            rows,
            columns,
            bytes,
        }
    }

    /// The number of images.
    pub fn len(&self) -> usize {
        self.bytes.len() / self.pixels()
    }

    /// Whether there is no image.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Rows of pixels of an image.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Columns of pixels of an image.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Pixels of an image.
    pub fn pixels(&self) -> usize {
        self.rows * self.columns
    }

    /// The pixels of image `i`.
    ///
    /// # Panics
    ///
    /// If `i` is not below [`len`](Self::len).
    pub fn row(&self, i: usize) -> &[u8] {
        &self.bytes[i * self.pixels()..][..self.pixels()]
    }

    /// The mean of value / 255; 0 when there is no image.
    pub fn mean(&self) -> f64 {
        let sum: u64 = self.bytes.iter().map(|&b| u64::from(b)).sum();
        sum as f64 / (255 * self.bytes.len().max(1)) as f64
    }

    /// All images as squares of `side` pixels, image after image: a pixel is the mean of value / 255 over a square of the image's own.
    ///
    /// # Panics
    ///
    /// If images are no squares, or `side` doesn't divide theirs.
    pub fn averaged(&self, side: usize) -> Vec<f32> {
        let whole = self.columns;
        assert!(whole == self.rows && whole.is_multiple_of(side));
        let factor = whole / side;
        let scale = 1.0 / (255.0 * (factor * factor) as f32);
        let mut averaged = vec![0.0; self.len() * side * side];
        let images = averaged.chunks_exact_mut(side * side);
        for (image, bytes) in images.zip(self.bytes.chunks_exact(whole * whole)) {
            for (row, bytes) in bytes.chunks_exact(whole).enumerate() {
                let pixels = &mut image[row / factor * side..][..side];
                for (pixel, bytes) in pixels.iter_mut().zip(bytes.chunks_exact(factor)) {
                    for &byte in bytes {
                        *pixel += f32::from(byte) * scale;
                    }
                }
            }
        }
        averaged
    }

    /// The images of these rows with their grey levels.
    ///
    /// # Panics
    ///
    /// If a row is not below [`len`](Self::len).
    pub fn levels(&self, rows: Range<usize>) -> Images {
        let (from, to) = (rows.start * self.pixels(), rows.end * self.pixels());
        Images::grey(self.pixels(), self.bytes[from..to].to_vec())
    }

    /// The images of these rows, each level the probability of a one that every reading draws anew.
    ///
    /// # Panics
    ///
    /// If a row is not below [`len`](Self::len).
    pub fn probabilities(&self, rows: Range<usize>) -> Images {
        self.levels(rows).into_probabilities()
    }

    /// The images of these rows, in this order, each pixel 1 where its value is at least `threshold`.
    ///
    /// # Panics
    ///
    /// If a row is not below [`len`](Self::len).
    pub fn binarise(&self, rows: impl IntoIterator<Item = usize>, threshold: u8) -> Images {
        let mut images = Images::empty(self.pixels());
        for row in rows {
            let packed = images.push_zeros();
            for (byte, pixels) in packed.iter_mut().zip(self.row(row).chunks(8)) {
                for (bit, &value) in pixels.iter().enumerate() {
                    *byte |= u8::from(value >= threshold) << bit;
                }
            }
        }
        images
    }
}

impl std::fmt::Debug for GreyImages {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { rows, columns, .. } = self;
        write!(f, "GreyImages({} x {rows} x {columns})", self.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pixel_at_the_threshold_is_on() {
        let images = GreyImages::new(1, 9, vec![0, 127, 128, 255, 1, 2, 3, 4, 200]);
        let binary = images.binarise([0], 128);
        let mut row = [0.0; 9];
        binary.write_row_f32(0, &mut row);
        assert_eq!(row, [0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
    }

    #[test]
    fn rows_are_taken_in_the_order_asked() {
        let images = GreyImages::new(2, 1, vec![255, 0, 0, 255, 255, 255]);
        let binary = images.binarise([2, 0], 1);
        assert_eq!(
            (binary.len(), binary.row_bits(0), binary.row_bits(1)),
            (2, &[3][..], &[1][..])
        );
    }

    #[test]
    fn pixels_are_means_of_squares() {
        #[rustfmt::skip]
        let images = GreyImages::new(4, 4, vec![
            255, 255, 0, 0,
            255, 255, 0, 255,
            51, 0, 102, 102,
            0, 0, 102, 102,
        ]);
        for (pixel, mean) in images.averaged(2).iter().zip([1.0, 0.25, 0.05, 0.4]) {
            assert!((pixel - mean).abs() < 1e-6, "{pixel}, not {mean}");
        }
        let whole = images.averaged(4);
        assert_eq!((whole.len(), whole[0], whole[2]), (16, 1.0, 0.0));
    }

    #[test]
    fn levels_are_those_of_the_rows() {
        let images = GreyImages::new(1, 2, vec![9, 8, 255, 51, 5, 4]);
        let mut row = [0.0; 2];
        let levels = images.levels(1..2);
        levels.write_row_f32(0, &mut row);
        assert_eq!((levels.len(), row), (1, [1.0, 0.2]));
    }

    #[test]
    fn the_mean_is_in_units_of_white() {
        assert_eq!(GreyImages::new(1, 2, vec![255, 0]).mean(), 0.5);
    }

    #[test]
    fn images_are_described_by_their_size() {
        let images = GreyImages::new(2, 3, vec![0; 6]);
        assert_eq!(format!("{images:?}"), "GreyImages(1 x 2 x 3)");
        assert!(!images.is_empty() && GreyImages::new(2, 3, vec![]).is_empty());
    }
}
