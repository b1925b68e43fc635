//! Data as rows of numbers, whatever they are and wherever they lie.

use std::borrow::Cow;

use crate::Reading;

/// Rows of numbers that a model is trained and evaluated on: bits, grey levels, counts, reals. [`Images`](crate::Images) are data, and so are
/// [`Rows`]; a type of one's own needs three methods.
pub trait Data: Sync {
    /// The number of rows.
    fn len(&self) -> usize;

    /// Numbers of a row.
    fn width(&self) -> usize;

    /// Writes row `i` to `out`, [`width`](Self::width) numbers.
    ///
    /// # Panics
    /// If `i` is not below [`len`](Self::len) or `out` has another length.
    fn write_row(&self, i: usize, out: &mut [f32]);

    /// Row `i` as bits, where all numbers of all rows are: number `j` is bit `j % 8` of byte `j / 8`, the rest of the last byte
    /// zero. It saves packing them.
    fn row_bits(&self, _i: usize) -> Option<Cow<'_, [u8]>> {
        None
    }

    /// Row `i` as the bits that this reading draws, where the data are drawn anew whenever they are read
    /// ([`Read`]); laid out as those of [`row_bits`](Self::row_bits).
    fn drawn_bits(&self, _i: usize, _reading: Reading) -> Option<Vec<u8>> {
        None
    }

    /// Whether there is no row.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The mean of each number over the rows.
    fn means(&self) -> Vec<f32> {
        let mut sums = vec![0.0f64; self.width()];
        let mut row = vec![0.0f32; self.width()];
        for i in 0..self.len() {
            self.write_row(i, &mut row);
            let numbers = sums.iter_mut().zip(&row);
            numbers.for_each(|(sum, &x)| *sum += f64::from(x));
        }
        let share = 1.0 / self.len().max(1) as f64;
        sums.iter().map(|sum| (sum * share) as f32).collect()
    }
}

/// Rows of any numbers in memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Rows {
    width: usize,
    numbers: Vec<f32>,
}

impl Rows {
    /// Rows of `width` numbers each, one after the other.
    ///
    /// # Panics
    /// If `width` is 0, or the last row is not whole.
    pub fn new(width: usize, numbers: Vec<f32>) -> Self {
        assert!(width > 0, "a row has at least one number");
        assert!(numbers.len().is_multiple_of(width), "rows are whole");
        Self { width, numbers }
    }
}

impl Data for Rows {
    fn len(&self) -> usize {
        self.numbers.len() / self.width
    }

    fn width(&self) -> usize {
        self.width
    }

    fn write_row(&self, i: usize, out: &mut [f32]) {
        out.copy_from_slice(&self.numbers[i * self.width..][..self.width]);
    }
}

/// Some rows of other data, in the order given; all of them without a choice.
#[derive(Clone, Debug)]
pub struct Subset<'a, D> {
    data: &'a D,
    rows: Option<Vec<u32>>,
}

impl<'a, D: Data> Subset<'a, D> {
    /// All rows.
    pub fn all(data: &'a D) -> Self {
        Self { data, rows: None }
    }

    /// These rows; one may occur more than once.
    ///
    /// # Panics
    /// If a row is not below the number of rows.
    pub fn of(data: &'a D, rows: Vec<u32>) -> Self {
        let known = |&row: &u32| (row as usize) < data.len();
        assert!(rows.iter().all(known), "rows that there are");
        let rows = Some(rows);
        Self { data, rows }
    }

    fn row(&self, i: usize) -> usize {
        self.rows.as_ref().map_or(i, |rows| rows[i] as usize)
    }
}

impl<D: Data> Data for Subset<'_, D> {
    fn len(&self) -> usize {
        self.rows.as_ref().map_or(self.data.len(), Vec::len)
    }

    fn width(&self) -> usize {
        self.data.width()
    }

    fn write_row(&self, i: usize, out: &mut [f32]) {
        self.data.write_row(self.row(i), out);
    }

    fn row_bits(&self, i: usize) -> Option<Cow<'_, [u8]>> {
        self.data.row_bits(self.row(i))
    }

    fn drawn_bits(&self, i: usize, reading: Reading) -> Option<Vec<u8>> {
        self.data.drawn_bits(self.row(i), reading)
    }
}

/// Data as one reading draws them. Data that are not drawn anew are what they are.
#[derive(Clone, Copy, Debug)]
pub struct Read<'a, D: ?Sized> {
    data: &'a D,
    reading: Reading,
}

impl<'a, D: Data + ?Sized> Read<'a, D> {
    /// These data in this reading.
    pub fn new(data: &'a D, reading: Reading) -> Self {
        Self { data, reading }
    }
}

impl<D: Data + ?Sized> Data for Read<'_, D> {
    fn len(&self) -> usize {
        self.data.len()
    }

    fn width(&self) -> usize {
        self.data.width()
    }

    fn write_row(&self, i: usize, out: &mut [f32]) {
        match self.data.drawn_bits(i, self.reading) {
            Some(bits) => {
                let on = |j: usize| bits[j / 8] >> (j % 8) & 1;
                let places = out.iter_mut().enumerate();
                places.for_each(|(j, x)| *x = f32::from(on(j)));
            }
            None => self.data.write_row(i, out),
        }
    }

    fn row_bits(&self, i: usize) -> Option<Cow<'_, [u8]>> {
        match self.data.drawn_bits(i, self.reading) {
            Some(bits) => Some(Cow::Owned(bits)),
            None => self.data.row_bits(i),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Images;

    fn rows(data: &impl Data) -> Vec<Vec<f32>> {
        let row = |i| {
            let mut row = vec![f32::NAN; data.width()];
            data.write_row(i, &mut row);
            row
        };
        (0..data.len()).map(row).collect()
    }

    #[test]
    fn rows_are_the_numbers_given() {
        let counts = Rows::new(2, vec![0.0, 3.0, 5.0, 1.0, -2.5, 4.0]);
        assert_eq!(rows(&counts), [[0.0, 3.0], [5.0, 1.0], [-2.5, 4.0]]);
        assert_eq!(counts.row_bits(0), None);
        let [first, second] = counts.means()[..] else {
            panic!("two means")
        };
        assert!((first - 2.5 / 3.0).abs() < 1e-7 && (second - 8.0 / 3.0).abs() < 1e-6);
        assert!(Rows::new(2, vec![]).is_empty() && !counts.is_empty());
    }

    #[test]
    fn a_subset_has_its_rows_in_order() {
        let counts = Rows::new(1, vec![7.0, 8.0, 9.0]);
        assert_eq!(
            rows(&Subset::of(&counts, vec![2, 0, 2])),
            [[9.0], [7.0], [9.0]]
        );
        assert_eq!(rows(&Subset::all(&counts)), rows(&counts));
    }

    #[test]
    fn bits_of_binary_images_are_those_of_their_rows() {
        let images = Images::from_fn(3, 11, |i, j| (i + j) % 3 == 0);
        let some = Subset::of(&images, vec![1, 2]);
        assert_eq!(
            Data::row_bits(&some, 0).as_deref(),
            Some(images.row_bits(1))
        );
        assert_eq!(rows(&some)[1][1], 1.0);
    }

    #[test]
    #[should_panic(expected = "rows that there are")]
    fn a_subset_has_no_row_that_is_not_there() {
        Subset::of(&Rows::new(1, vec![7.0, 8.0]), vec![2]);
    }

    #[test]
    fn data_that_are_read_are_as_wide_as_they_are() {
        let rows = Rows::new(3, vec![0.0; 6]);
        let reading = Reading {
            seed: 1,
            purpose: helmholtz_random::Purpose::new("read"),
            position: 0,
        };
        let read = Read::new(&rows, reading);
        assert_eq!((read.len(), read.width()), (2, 3));
    }
}
