//! Generated digit-like images, for machines without data.
//!
//! A glyph is a digit's strokes (smooth curves through a few points), jittered point by point, sheared, stretched,
//! shifted and drawn with a random pen. Pixels at the pen's edge are on with a probability, as in binarised MNIST, and
//! a few pixels anywhere are flipped. Only `+ - * /` and the square root are used, which IEEE 754 fixes to the last bit. Every image has
//! its own stream: image `i` of a part is the same on every machine.

use helmholtz_random::{Purpose, Stream};

use crate::declared::{Declared, Origin};
use crate::{Event, Images};

pub(crate) const DECLARED: Declared = Declared {
    name: "glyphs",
    train_images: 5_000,
    synthetic: true,
    caution: Some(
        "GENERATED IMAGES (`glyphs`): these numbers are comparable with nothing published.",
    ),
    parts: |_, progress| {
        let name = DECLARED.name.to_owned();
        progress(Event::Generating { name });
        Ok((splits(), Origin::Generated))
    },
};

/// Pixels on a side.
const SIDE: usize = 28;
/// The points of one stroke, in a unit square with y downwards.
type Stroke = &'static [[f32; 2]];

/// The strokes of the digits 0 to 9. Curves go through their points; a corner is where two strokes meet.
#[rustfmt::skip]
const DIGITS: [&[Stroke]; 10] = [
    &[
        &[
            [0.50, 0.04], [0.73, 0.18], [0.80, 0.50], [0.71, 0.82], [0.50, 0.96], [0.28, 0.82], [0.20, 0.50],
            [0.29, 0.18], [0.50, 0.04],
        ],
    ],
    &[&[[0.50, 0.04], [0.50, 0.50], [0.50, 0.96]], &[[0.33, 0.22], [0.50, 0.04]]],
    &[
        &[[0.23, 0.26], [0.36, 0.07], [0.62, 0.06], [0.76, 0.24], [0.68, 0.45], [0.45, 0.70], [0.21, 0.94]],
        &[[0.21, 0.94], [0.50, 0.92], [0.82, 0.94]],
    ],
    &[
        &[[0.24, 0.13], [0.48, 0.04], [0.72, 0.15], [0.70, 0.36], [0.44, 0.47]],
        &[[0.44, 0.47], [0.74, 0.57], [0.78, 0.79], [0.54, 0.96], [0.22, 0.87]],
    ],
    &[&[[0.56, 0.05], [0.18, 0.62]], &[[0.18, 0.62], [0.84, 0.62]], &[[0.66, 0.34], [0.63, 0.96]]],
    &[
        &[[0.76, 0.06], [0.34, 0.07]],
        &[[0.34, 0.07], [0.29, 0.45]],
        &[[0.29, 0.45], [0.52, 0.38], [0.75, 0.50], [0.76, 0.76], [0.55, 0.95], [0.24, 0.88]],
    ],
    &[
        &[
            [0.66, 0.05], [0.41, 0.22], [0.26, 0.52], [0.28, 0.80], [0.49, 0.96], [0.72, 0.84], [0.73, 0.62],
            [0.53, 0.50], [0.29, 0.66],
        ],
    ],
    &[&[[0.20, 0.08], [0.50, 0.06], [0.80, 0.08]], &[[0.80, 0.08], [0.57, 0.48], [0.43, 0.96]]],
    &[
        &[
            [0.50, 0.47], [0.29, 0.34], [0.30, 0.14], [0.50, 0.04], [0.71, 0.14], [0.70, 0.34], [0.50, 0.47],
            [0.27, 0.63], [0.26, 0.84], [0.50, 0.96], [0.75, 0.84], [0.73, 0.63], [0.50, 0.47],
        ],
    ],
    &[
        &[[0.72, 0.28], [0.62, 0.08], [0.41, 0.06], [0.26, 0.26], [0.36, 0.47], [0.58, 0.46], [0.72, 0.28]],
        &[[0.72, 0.28], [0.69, 0.62], [0.57, 0.96]],
    ],
];

/// The training, validation and test images: 5,000 / 1,000 / 1,000, always the same.
pub(crate) fn splits() -> [Images; 3] {
    [(0, 5_000), (1, 1_000), (2, 1_000)].map(|(part, len)| images(part, len))
}

fn images(part: u64, len: usize) -> Images {
    let mut images = Images::empty(SIDE * SIDE);
    for i in 0..len {
        let mut stream = Stream::new(0, Purpose::new("glyphs"), [part, i as u64]);
        let digit = (stream.uniform_f32() * DIGITS.len() as f32) as usize;
        draw(digit, &mut stream, images.push_zeros());
    }
    images
}

/// Draws one digit into the packed pixels `row`.
fn draw(digit: usize, stream: &mut Stream, row: &mut [u8]) {
    // Between -1 and 1, denser in the middle.
    let mut around = |width: f32| (stream.uniform_f32() + stream.uniform_f32() - 1.0) * width;
    let width = 17.5 + around(4.0);
    let height = 19.5 + around(2.0);
    let slant = 0.12 + around(0.35);
    let tilt = around(0.12);
    let shift = [around(1.5), around(1.5)];
    let pen = 1.15 + around(0.6);
    let place = |[x, y]: [f32; 2]| {
        let (x, y) = ((x - 0.5) * width, (y - 0.5) * height);
        [
            x - slant * y + shift[0] + SIDE as f32 / 2.0,
            y + tilt * x + shift[1] + SIDE as f32 / 2.0,
        ]
    };

    let mut distances = [f32::INFINITY; SIDE * SIDE];
    let mut points = Vec::new();
    for stroke in DIGITS[digit] {
        points.clear();
        points.extend(
            stroke
                .iter()
                .map(|&[x, y]| place([x + around(0.035), y + around(0.035)])),
        );
        trace(&points, |from, to| near(from, to, &mut distances));
    }

    let mut uniforms = [0.0; SIDE * SIDE];
    stream.fill_uniform_f32(&mut uniforms);
    for (j, (distance, u)) in distances.into_iter().zip(uniforms).enumerate() {
        let ink = (pen + 0.5 - distance).clamp(0.001, 0.995);
        row[j / 8] |= u8::from(u < ink) << (j % 8);
    }
}

/// Calls `segment` for the short lines of the curve through `points` (Catmull and Rom, 1974; uniform, open ends).
fn trace(points: &[[f32; 2]], mut segment: impl FnMut([f32; 2], [f32; 2])) {
    const PIECES: usize = 6;
    for i in 1..points.len() {
        let p = [
            points[i.saturating_sub(2)],
            points[i - 1],
            points[i],
            points[(i + 1).min(points.len() - 1)],
        ];
        let at = |t: f32| -> [f32; 2] {
            std::array::from_fn(|k| {
                let [a, b, c, d] = [p[0][k], p[1][k], p[2][k], p[3][k]];
                let cubic = 3.0 * (b - c) + d - a;
                let square = 2.0 * a - 5.0 * b + 4.0 * c - d;
                b + 0.5 * t * (c - a + t * (square + t * cubic))
            })
        };
        let mut from = points[i - 1];
        for piece in 1..=PIECES {
            let to = at(piece as f32 / PIECES as f32);
            segment(from, to);
            from = to;
        }
    }
}

/// Lowers the distances of the pixel centres near the line from `a` to `b` to their distance from it.
fn near(a: [f32; 2], b: [f32; 2], distances: &mut [f32; SIDE * SIDE]) {
    const REACH: f32 = 3.0; // more than any pen
    let range = |p: f32, q: f32| {
        let first = (p.min(q) - REACH).max(0.0) as usize;
        first..((p.max(q) + REACH).max(0.0) as usize).min(SIDE)
    };
    let along = [b[0] - a[0], b[1] - a[1]];
    let length2 = (along[0] * along[0] + along[1] * along[1]).max(1e-12);
    for y in range(a[1], b[1]) {
        for x in range(a[0], b[0]) {
            let [dx, dy] = [x as f32 + 0.5 - a[0], y as f32 + 0.5 - a[1]];
            let t = ((dx * along[0] + dy * along[1]) / length2).clamp(0.0, 1.0);
            let (dx, dy) = (dx - t * along[0], dy - t * along[1]);
            let distance = &mut distances[y * SIDE + x];
            *distance = distance.min((dx * dx + dy * dy).sqrt());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// The pixels of image `i` of these that are on.
    fn ink(images: &Images, i: usize) -> u32 {
        images.row_bits(i).iter().map(|b| b.count_ones()).sum()
    }

    #[test]
    fn no_glyph_is_empty_full_or_repeated() {
        let parts = splits();
        let mut seen = HashSet::new();
        for part in &parts {
            for i in 0..part.len() {
                assert!((20..400).contains(&ink(part, i)), "{} pixels", ink(part, i));
                assert!(seen.insert(part.row_bits(i).to_vec()));
            }
            // About as much ink as MNIST, whose mean is 0.13.
            assert!((0.10..0.16).contains(&part.mean()), "{}", part.mean());
        }
    }

    /// A digit is told by the nearest of ten average images, made from other glyphs: a coarse eye, and chance is 0.1.
    #[test]
    fn the_digits_can_be_told_apart() {
        let glyphs = |digit: usize, part: u64, len: u64| {
            let mut images = Images::empty(SIDE * SIDE);
            for i in 0..len {
                let mut stream = Stream::new(1, Purpose::new("test"), [part, i]);
                draw(digit, &mut stream, images.push_zeros());
            }
            images
        };
        let mut pixels = [0.0; SIDE * SIDE];
        let mut averages = [[0.0; SIDE * SIDE]; 10];
        for (digit, average) in averages.iter_mut().enumerate() {
            let images = glyphs(digit, 0, 200);
            for i in 0..images.len() {
                images.write_row_f32(i, &mut pixels);
                for (sum, pixel) in average.iter_mut().zip(pixels) {
                    *sum += pixel / 200.0;
                }
            }
        }
        for digit in 0..10 {
            let images = glyphs(digit, 1, 100);
            let right = (0..images.len()).filter(|&i| {
                images.write_row_f32(i, &mut pixels);
                let distance = |average: &[f32; SIDE * SIDE]| -> f32 {
                    average
                        .iter()
                        .zip(pixels)
                        .map(|(a, p)| (a - p) * (a - p))
                        .sum()
                };
                let distances = averages.each_ref().map(distance);
                distances.iter().all(|&d| d >= distances[digit])
            });
            assert!(right.count() >= 70, "digit {digit}");
        }
    }

    #[test]
    fn a_glyph_does_not_depend_on_how_many_there_are() {
        let (few, many) = (images(1, 3), images(1, 5));
        assert_eq!(few, many.select(&[0, 1, 2]));
    }

    #[test]
    fn every_pixel_that_a_pen_reaches_has_its_distance() {
        let mut distances = [f32::INFINITY; SIDE * SIDE];
        near([3.0, 14.0], [3.0, 16.0], &mut distances);
        near([0.5, 3.0], [0.5, 5.0], &mut distances);
        for (x, y, distance) in [(0, 15, 2.5), (5, 15, 2.5), (2, 4, 2.0), (0, 4, 0.0)] {
            assert_eq!(distances[y * SIDE + x], distance, "{x}, {y}");
        }
    }
}
