//! Data in memory: one bit a number, one byte where they are grey levels, or four where they are any numbers.

use std::borrow::Cow;

use crate::{Data, Reading};

/// The eight pixels of each byte as f32, least significant bit first: one load unpacks a byte.
static UNPACKED: [[f32; 8]; 256] = {
    let mut table = [[0.0; 8]; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut bit = 0;
        while bit < 8 {
            table[byte][bit] = (byte >> bit & 1) as f32;
            bit += 1;
        }
        byte += 1;
    }
    table
};

/// `len` images of `pixels` pixels each, as a model sees them: values from 0 to 1; or rows of any numbers.
///
/// Binary ones are packed, 8 pixels a byte (least significant bit first), each image padded with zero bits to a whole byte:
/// 98 bytes for 28x28. Grey ones take a byte a pixel, 255 being 1. Other numbers are `f32`, little endian.
#[derive(Clone, PartialEq, Eq)]
pub struct Images {
    pixels: usize,
    kind: Kind,
    bytes: Vec<u8>,
}

/// What the numbers of data are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// 0 and 1.
    Bits,
    /// Bytes, 255 being 1.
    Grey,
    /// Bytes, 255 being the probability 1 of a one, each of which a [`Reading`] draws anew; without one, the probabilities.
    Drawn,
    /// Any numbers.
    Numbers,
}

impl Images {
    /// No images yet, each to have `pixels` pixels (at least one) of one bit.
    pub(crate) fn empty(pixels: usize) -> Self {
        assert!(pixels > 0, "an image has at least one pixel");
        Self {
            pixels,
            kind: Kind::Bits,
            bytes: Vec::new(),
        }
    }

    /// Whole grey images of `pixels` pixels (at least one) each.
    pub(crate) fn grey(pixels: usize, bytes: Vec<u8>) -> Self {
        debug_assert!(bytes.len().is_multiple_of(pixels));
        Self {
            pixels,
            kind: Kind::Grey,
            bytes,
        }
    }

    /// The same grey levels, as probabilities of a one.
    pub(crate) fn into_probabilities(self) -> Self {
        debug_assert!(self.kind == Kind::Grey);
        Self {
            kind: Kind::Drawn,
            ..self
        }
    }

    /// Images that are [drawn](Kind::Drawn) as this reading draws them, for good; others as they are.
    pub fn drawn(&self, reading: Reading) -> Self {
        if self.kind != Kind::Drawn {
            return self.clone();
        }
        let rows = (0..self.len()).flat_map(|i| reading.draw(i, self.row_bits(i)));
        Self {
            pixels: self.pixels,
            kind: Kind::Bits,
            bytes: rows.collect(),
        }
    }

    /// Rows of `width` numbers each, one after the other, in the least memory: bits where all are 0 or 1.
    ///
    /// # Panics
    /// If `width` is 0, or the last row is not whole.
    pub fn of_numbers(width: usize, numbers: &[f32]) -> Self {
        assert!(width > 0, "a row has at least one number");
        assert!(numbers.len().is_multiple_of(width), "rows are whole");
        if numbers.iter().all(|&x| x == 0.0 || x == 1.0) {
            let on = |i: usize, j: usize| numbers[i * width + j] == 1.0;
            return Self::from_fn(numbers.len() / width, width, on);
        }
        let bytes = numbers.iter().flat_map(|x| x.to_le_bytes());
        Self {
            pixels: width,
            kind: Kind::Numbers,
            bytes: bytes.collect(),
        }
    }

    /// What its numbers are.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Row, place and value of the first number that is not from 0 to 1, if there is one.
    pub fn first_outside_unit(&self) -> Option<(usize, usize, f32)> {
        if self.kind != Kind::Numbers {
            return None;
        }
        let numbers = self.bytes.as_chunks::<4>().0.iter();
        let mut numbers = numbers.map(|bytes| f32::from_le_bytes(*bytes)).enumerate();
        let (at, x) = numbers.find(|(_, x)| !(0.0..=1.0).contains(x))?;
        Some((at / self.pixels, at % self.pixels, x))
    }

    /// `len` binary images whose pixel `j` of image `i` is `on(i, j)`; called in row-major order.
    ///
    /// # Panics
    ///
    /// If `pixels` is 0.
    pub fn from_fn(len: usize, pixels: usize, mut on: impl FnMut(usize, usize) -> bool) -> Self {
        let mut images = Self::empty(pixels);
        images.bytes.reserve_exact(len * images.row_bytes());
        for i in 0..len {
            let row = images.push_zeros();
            for j in 0..pixels {
                row[j / 8] |= u8::from(on(i, j)) << (j % 8);
            }
        }
        images
    }

    /// Appends an image of zeros and gives its bytes; the caller leaves the padding bits zero.
    pub(crate) fn push_zeros(&mut self) -> &mut [u8] {
        let start = self.bytes.len();
        self.bytes.resize(start + self.row_bytes(), 0);
        &mut self.bytes[start..]
    }

    /// The number of images.
    pub fn len(&self) -> usize {
        self.bytes.len() / self.row_bytes()
    }

    /// Whether there is no image.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Pixels of an image.
    pub fn pixels(&self) -> usize {
        self.pixels
    }

    /// Whether each pixel is a bit.
    pub fn are_binary(&self) -> bool {
        self.kind == Kind::Bits
    }

    /// Bytes of an image: `pixels / 8`, rounded up; of a grey one `pixels`, of other numbers `4 pixels`.
    pub fn row_bytes(&self) -> usize {
        match self.kind {
            Kind::Bits => self.pixels.div_ceil(8),
            Kind::Grey | Kind::Drawn => self.pixels,
            Kind::Numbers => 4 * self.pixels,
        }
    }

    /// The bytes of image `i`: pixel `j` is bit `j % 8` of byte `j / 8`; of a grey one byte `j`.
    ///
    /// # Panics
    ///
    /// If `i` is not below [`len`](Self::len).
    pub fn row_bits(&self, i: usize) -> &[u8] {
        let bytes = self.row_bytes();
        &self.bytes[i * bytes..][..bytes]
    }

    /// Writes the pixels of image `i`, from 0.0 to 1.0.
    ///
    /// # Panics
    ///
    /// If `i` is not below [`len`](Self::len) or `out` is not [`pixels`](Self::pixels) long.
    pub fn write_row_f32(&self, i: usize, out: &mut [f32]) {
        assert_eq!(out.len(), self.pixels, "one value a pixel");
        match self.kind {
            Kind::Bits => {}
            Kind::Grey | Kind::Drawn => {
                let pixels = out.iter_mut().zip(self.row_bits(i));
                return pixels.for_each(|(pixel, &byte)| *pixel = f32::from(byte) / 255.0);
            }
            Kind::Numbers => {
                let numbers = self.row_bits(i).as_chunks::<4>().0;
                let numbers = out.iter_mut().zip(numbers);
                return numbers.for_each(|(x, bytes)| *x = f32::from_le_bytes(*bytes));
            }
        }
        let (bytes, tail) = out.as_chunks_mut::<8>();
        let row = self.row_bits(i);
        for (pixels, &byte) in bytes.iter_mut().zip(row) {
            *pixels = UNPACKED[usize::from(byte)];
        }
        if let Some(&last) = row.last() {
            let len = tail.len();
            tail.copy_from_slice(&UNPACKED[usize::from(last)][..len]);
        }
    }

    /// The images of these rows, in this order; a row may occur more than once.
    ///
    /// # Panics
    ///
    /// If a row is not below [`len`](Self::len).
    pub fn select(&self, rows: &[u32]) -> Self {
        let mut bytes = Vec::with_capacity(rows.len() * self.row_bytes());
        for &row in rows {
            bytes.extend_from_slice(self.row_bits(row as usize));
        }
        Self { bytes, ..*self }
    }

    /// The mean of each pixel over the images.
    pub fn pixel_means(&self) -> Vec<f32> {
        self.means()
    }

    /// The mean pixel; 0 when there is no image.
    pub fn mean(&self) -> f64 {
        let sum: f64 = match self.kind {
            Kind::Bits => self.bytes.iter().map(|b| f64::from(b.count_ones())).sum(),
            Kind::Grey | Kind::Drawn => {
                self.bytes.iter().map(|&b| f64::from(b)).sum::<f64>() / 255.0
            }
            Kind::Numbers => {
                let numbers = self.bytes.as_chunks::<4>().0.iter();
                numbers
                    .map(|bytes| f64::from(f32::from_le_bytes(*bytes)))
                    .sum()
            }
        };
        sum / ((self.len() * self.pixels).max(1)) as f64
    }

    /// The bytes of all images, one after the other.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

impl Data for Images {
    fn len(&self) -> usize {
        Images::len(self)
    }

    fn width(&self) -> usize {
        self.pixels()
    }

    fn write_row(&self, i: usize, out: &mut [f32]) {
        self.write_row_f32(i, out);
    }

    fn row_bits(&self, i: usize) -> Option<Cow<'_, [u8]>> {
        self.are_binary()
            .then(|| Cow::Borrowed(Images::row_bits(self, i)))
    }

    fn drawn_bits(&self, i: usize, reading: Reading) -> Option<Vec<u8>> {
        (self.kind() == Kind::Drawn).then(|| reading.draw(i, Images::row_bits(self, i)))
    }
}

impl std::fmt::Debug for Images {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Images({} x {} pixels)", self.len(), self.pixels)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pattern without symmetry.
    fn on(i: usize, j: usize) -> bool {
        (i * 31 + j * j * 7 + j / 5).is_multiple_of(3)
    }

    #[test]
    fn every_pixel_survives_packing_and_unpacking() {
        for pixels in [1, 7, 8, 9, 16, 23, 784] {
            let images = Images::from_fn(5, pixels, on);
            assert_eq!((images.len(), images.pixels()), (5, pixels));
            let mut row = vec![f32::NAN; pixels];
            for i in 0..5 {
                images.write_row_f32(i, &mut row);
                for (j, &value) in row.iter().enumerate() {
                    assert_eq!(value, f32::from(u8::from(on(i, j))));
                    assert_eq!(images.row_bits(i)[j / 8] >> (j % 8) & 1 == 1, on(i, j));
                }
            }
        }
    }

    #[test]
    fn an_image_of_784_pixels_is_98_bytes() {
        let images = Images::from_fn(10, 784, on);
        assert_eq!(images.row_bits(9).len(), 98);
        assert_eq!(images.bytes().len(), 980);
    }

    #[test]
    fn select_takes_rows_in_the_order_asked() {
        let images = Images::from_fn(4, 13, on);
        let picked = images.select(&[3, 0, 3]);
        assert_eq!(picked.len(), 3);
        for (i, from) in [3, 0, 3].into_iter().enumerate() {
            assert_eq!(picked.row_bits(i), images.row_bits(from));
        }
        assert!(images.select(&[]).is_empty());
    }

    #[test]
    fn grey_images_keep_their_levels() {
        let images = Images::grey(3, vec![0, 51, 255, 255, 0, 102]);
        assert_eq!((images.len(), images.row_bytes()), (2, 3));
        let mut row = [f32::NAN; 3];
        images.write_row_f32(0, &mut row);
        assert_eq!(row, [0.0, 0.2, 1.0]);
        images.select(&[1]).write_row_f32(0, &mut row);
        assert_eq!(row, [1.0, 0.0, 0.4]);
        assert!((images.mean() - 2.6 / 6.0).abs() < 1e-12);
        assert_eq!(images.pixel_means(), [0.5, 0.1, 0.7]);
    }

    #[test]
    fn any_numbers_are_kept_and_bits_are_packed() {
        let images = Images::of_numbers(2, &[0.0, 3.5, -1.0, 1.0]);
        assert_eq!(
            (images.kind(), images.len(), images.row_bytes()),
            (Kind::Numbers, 2, 8)
        );
        let mut row = [f32::NAN; 2];
        images.select(&[1, 0]).write_row_f32(1, &mut row);
        assert_eq!(row, [0.0, 3.5]);
        assert_eq!(
            (images.mean(), images.pixel_means()),
            (0.875, vec![-0.5, 2.25])
        );
        assert_eq!(images.first_outside_unit(), Some((0, 1, 3.5)));
        let bits = Images::of_numbers(2, &[0.0, 1.0, 1.0, 1.0]);
        assert_eq!((bits.kind(), bits.first_outside_unit()), (Kind::Bits, None));
        assert_eq!(bits, Images::from_fn(2, 2, |i, j| i + j > 0));
    }

    #[test]
    fn the_mean_counts_pixels_not_padding() {
        let images = Images::from_fn(3, 9, |_, j| j == 8);
        assert_eq!(images.mean(), 1.0 / 9.0);
        assert_eq!(Images::empty(9).mean(), 0.0);
    }

    #[test]
    fn images_are_described_by_their_size_and_kind() {
        let images = Images::from_fn(2, 9, on);
        assert_eq!(format!("{images:?}"), "Images(2 x 9 pixels)");
        let grey = Images::grey(2, vec![0, 51]);
        assert!(images.are_binary() && !grey.are_binary());
        assert!(Data::row_bits(&grey, 0).is_none());
    }
}
