//! Images of which each reading is a draw: binarisation afresh, which the literature calls dynamic.

use helmholtz_random::{Purpose, Stream};

/// Names the draws of one reading: the same seed, purpose, position and row give the same bits, in whatever order rows are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// The run's seed.
    pub seed: u64,
    /// What reads: streams of different purposes are independent.
    pub purpose: Purpose,
    /// The epoch, in training.
    pub position: u64,
}

impl Reading {
    /// The bits of one row of grey levels: pixel `j` is on with probability `levels[j]` / 255, as bit `j % 8` of byte `j / 8`.
    pub fn draw(self, row: usize, levels: &[u8]) -> Vec<u8> {
        let Self {
            seed,
            purpose,
            position,
        } = self;
        let mut stream = Stream::new(seed, purpose, [position, row as u64]);
        let mut uniforms = vec![0.0; levels.len()];
        stream.fill_uniform_f32(&mut uniforms);
        let mut packed = vec![0; levels.len().div_ceil(8)];
        for (j, (u, &level)) in uniforms.iter().zip(levels).enumerate() {
            packed[j / 8] |= u8::from(u * 255.0 < f32::from(level)) << (j % 8);
        }
        packed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Data, GreyImages, Images, Read, Rows, Subset};

    const READ: Purpose = Purpose::new("read");

    fn reading(seed: u64, position: u64) -> Reading {
        Reading {
            seed,
            purpose: READ,
            position,
        }
    }

    /// Rows whose pixels have the levels 0, 51, 204 and 255.
    fn images(rows: usize) -> Images {
        let levels = [0, 51, 204, 255].repeat(rows);
        GreyImages::new(2, 2, levels).probabilities(0..rows)
    }

    fn bits(images: &impl Data, reading: Reading) -> Vec<Vec<u8>> {
        let read = Read::new(images, reading);
        let rows = (0..read.len()).map(|i| read.row_bits(i).unwrap().into_owned());
        rows.collect()
    }

    #[test]
    fn the_same_reading_gives_the_same_bits_and_any_other_gives_others() {
        let images = images(200);
        let first = bits(&images, reading(1, 3));
        assert_eq!(first, bits(&images, reading(1, 3)));
        for other in [
            reading(2, 3),
            reading(1, 4),
            Reading {
                purpose: Purpose::new("other"),
                ..reading(1, 3)
            },
        ] {
            assert_ne!(first, bits(&images, other));
        }
        // A row read alone, as a resumed run reads it.
        let read = Read::new(&images, reading(1, 3));
        assert_eq!(read.row_bits(117).unwrap()[..], first[117]);
        let mut numbers = [f32::NAN; 4];
        read.write_row(117, &mut numbers);
        let on = |j: usize| f32::from(first[117][0] >> j & 1);
        assert_eq!(numbers, [on(0), on(1), on(2), on(3)]);
        let some = Subset::of(&images, vec![117, 5]);
        let some = bits(&some, reading(1, 3));
        assert_eq!(some, [first[117].clone(), first[5].clone()]);
    }

    /// Each frequency is within 6 standard deviations, which a fair draw misses with a probability below 1e-8.
    #[test]
    fn a_pixel_is_on_as_often_as_its_level_says() {
        let (rows, epochs) = (500, 40);
        let images = images(rows);
        let mut on = [0u32; 4];
        for epoch in 0..epochs {
            for row in bits(&images, reading(7, epoch)) {
                (0..4).for_each(|j| on[j] += u32::from(row[0] >> j & 1));
            }
        }
        let draws = (rows as u64 * epochs) as f64;
        for (count, p) in on.into_iter().zip([0.0, 0.2, 0.8, 1.0]) {
            let deviation = (draws * p * (1.0 - p)).sqrt();
            assert!((f64::from(count) - draws * p).abs() <= 6.0 * deviation);
        }
    }

    #[test]
    fn the_means_of_data_that_are_drawn_are_their_probabilities() {
        let means = images(3).means();
        for (mean, p) in means.iter().zip([0.0, 0.2, 0.8, 1.0]) {
            assert!((mean - p).abs() < 1e-6);
        }
    }

    #[test]
    fn data_that_are_not_drawn_stay_as_they_are() {
        let fixed = Images::from_fn(2, 9, |i, j| (i + j) % 2 == 0);
        let read = Read::new(&fixed, reading(1, 0));
        assert_eq!(read.row_bits(1).as_deref(), Some(fixed.row_bits(1)));
        let counts = Rows::new(1, vec![3.0, 5.0]);
        let read = Read::new(&counts, reading(1, 0));
        let mut row = [0.0];
        read.write_row(1, &mut row);
        assert_eq!((row, read.row_bits(1)), ([5.0], None));
    }

    #[test]
    fn images_drawn_once_are_those_of_that_reading() {
        let images = images(50);
        let once = images.drawn(reading(4, 0));
        assert!(once.are_binary());
        for (i, row) in bits(&images, reading(4, 0)).iter().enumerate() {
            assert_eq!(once.row_bits(i), row);
        }
    }

    /// A draw that is the level itself, which one in some ten thousand is, is off: a level of 0 is never on.
    #[test]
    fn a_pixel_whose_draw_is_its_level_is_off() {
        let mut uniforms = vec![0.0; 1 << 20];
        Stream::new(1, READ, [0, 0]).fill_uniform_f32(&mut uniforms);
        let whole = |u: &f32| (u * 255.0).fract() == 0.0;
        let at = uniforms.iter().position(whole).unwrap();
        let levels: Vec<u8> = uniforms.iter().map(|u| (u * 255.0) as u8).collect();
        let bits = reading(1, 0).draw(0, &levels);
        assert_eq!(bits[at / 8] >> (at % 8) & 1, 0);
        assert!(uniforms[at] * 255.0 == f32::from(levels[at]));
    }
}
