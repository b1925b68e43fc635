//! How digits move, and sequences of frames of them.

use std::f64::consts::TAU;

use helmholtz_random::{Purpose, Stream};
use serde::{Deserialize, Serialize};

use crate::Canvas;

const MOTION: Purpose = Purpose::new("bounce");
const DIGITS: Purpose = Purpose::new("digits");

/// A corpus of sequences of digits that bounce inside the canvas: digits start anywhere, move in a straight line at this speed,
/// and are reflected where they touch the border. They pass through each other; a frame is the sum of its digits, cut off at 1.
///
/// A sequence is named by (seed, number), and is never stored. Each image of the collection appears as often as any other: the
/// identities are a permutation of D copies of it, cut into rows of D.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Bounce {
    /// The canvas.
    pub canvas: Canvas,
    /// T, frames of a sequence.
    pub frames: usize,
    /// D, digits of a sequence.
    pub digits: usize,
    /// How far a digit moves from frame to frame, where the square of positions is \[−1, 1\]².
    pub speed: f64,
}

impl Default for Bounce {
    /// T = 10 frames of D = 3 digits, 0.3 a frame.
    fn default() -> Self {
        Self {
            canvas: Canvas::default(),
            frames: 10,
            digits: 3,
            speed: 0.3,
        }
    }
}

/// Which images a corpus' sequences show.
#[derive(Clone, Debug)]
pub struct Identities {
    order: Vec<u32>,
    images: u32,
    digits: usize,
}

/// A sequence and what it was made of.
#[derive(Clone, Debug, PartialEq)]
pub struct Sequence {
    /// T frames, each row by row from the top, in \[0, 1\].
    pub frames: Vec<Vec<f32>>,
    /// The positions of each digit: `[D][T]`.
    pub positions: Vec<Vec<[f64; 2]>>,
    /// The images of the digits.
    pub images: Vec<u32>,
}

/// A corpus that cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BounceError {
    /// Nothing to show.
    #[error("a sequence of {frames} frames of {digits} digits; give at least 1 of each")]
    Nothing {
        /// T.
        frames: usize,
        /// D.
        digits: usize,
    },
    /// Digits that do not fit.
    #[error("digits of {digit} pixels on a canvas of {side}; the canvas must be larger")]
    Canvas {
        /// A digit's side.
        digit: usize,
        /// The canvas' side.
        side: usize,
    },
    /// No images, or more copies of them than can be counted.
    #[error("{digits} copies of {images} images cannot be dealt out; give 1 to {} images", u32::MAX as usize / (*digits).max(1))]
    Images {
        /// D.
        digits: usize,
        /// Images in the collection.
        images: usize,
    },
}

impl Bounce {
    /// Deals the images of a collection out to sequences.
    ///
    /// # Errors
    /// [`BounceError`] if there is nothing to show, or nothing to show it on.
    pub fn identities(&self, seed: u64, images: usize) -> Result<Identities, BounceError> {
        let Self {
            canvas,
            frames,
            digits,
            ..
        } = *self;
        if frames == 0 || digits == 0 {
            return Err(BounceError::Nothing { frames, digits });
        }
        if canvas.digit == 0 || canvas.digit >= canvas.side {
            let Canvas { digit, side, .. } = canvas;
            return Err(BounceError::Canvas { digit, side });
        }
        let copies = images
            .checked_mul(digits)
            .and_then(|n| u32::try_from(n).ok());
        match copies {
            Some(copies) if copies > 0 => Ok(Identities {
                order: Stream::new(seed, DIGITS, [0, 0]).permutation(copies),
                images: images as u32,
                digits,
            }),
            _ => Err(BounceError::Images { digits, images }),
        }
    }

    /// The positions of a digit in each frame, from the stream: U(−1, 1)² at first, in a direction U(0, 2π).
    pub fn trajectory(&self, stream: &mut Stream) -> Vec<[f64; 2]> {
        let mut position = [0; 2].map(|_| 2.0 * stream.uniform_f64() - 1.0);
        let (sin, cos) = (TAU * stream.uniform_f64()).sin_cos();
        let mut velocity = [cos * self.speed, sin * self.speed];
        let mut all = Vec::with_capacity(self.frames);
        for _ in 0..self.frames {
            all.push(position);
            for (x, v) in position.iter_mut().zip(&mut velocity) {
                *x += *v;
                if x.abs() > 1.0 {
                    *x = x.signum() * 2.0 - *x;
                    *v = -*v;
                }
            }
        }
        all
    }

    /// The sequence with this number. `image` gives the pixels of an image of the collection, in \[0, 1\].
    ///
    /// # Panics
    /// If an image has not the size of a digit.
    pub fn sequence<'a>(
        &self,
        seed: u64,
        number: u64,
        identities: &Identities,
        image: impl Fn(u32) -> &'a [f32],
    ) -> Sequence {
        let mut stream = Stream::new(seed, MOTION, [number, 0]);
        let images = identities.of(number);
        let positions: Vec<_> = images
            .iter()
            .map(|_| self.trajectory(&mut stream))
            .collect();
        let frames = (0..self.frames).map(|t| {
            let mut frame = vec![0.0; self.canvas.area()];
            for (&own, positions) in images.iter().zip(&positions) {
                self.canvas.place(image(own), positions[t], 1.0, &mut frame);
            }
            frame.iter_mut().for_each(|pixel| *pixel = pixel.min(1.0));
            frame
        });
        Sequence {
            frames: frames.collect(),
            positions,
            images,
        }
    }
}

impl Identities {
    /// The images of the digits of a sequence; numbers beyond the corpus start it again.
    pub fn of(&self, number: u64) -> Vec<u32> {
        let row = (number % u64::from(self.images)) as usize * self.digits;
        let dealt = self.order[row..][..self.digits].iter();
        dealt.map(|copy| copy % self.images).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trajectories(count: u64) -> Vec<Vec<[f64; 2]>> {
        let long = Bounce {
            frames: 200,
            ..Bounce::default()
        };
        (0..count)
            .map(|n| long.trajectory(&mut Stream::new(3, MOTION, [n, 0])))
            .collect()
    }

    #[test]
    fn test_24_digits_stay_inside_and_keep_their_speed() {
        for path in trajectories(50) {
            assert!(path.iter().flatten().all(|x| x.abs() <= 1.0));
            for pair in path.windows(2) {
                let moved = [pair[1][0] - pair[0][0], pair[1][1] - pair[0][1]];
                // A reflection shortens what is seen of a step along its axis, never lengthens it.
                assert!(moved[0].hypot(moved[1]) <= 0.3 + 1e-12);
            }
        }
    }

    /// Unfolded at the border, a coordinate is a straight line: its reflected copies at ±x + 4k and 2 − x hold one that is.
    #[test]
    fn test_24_reflection_is_the_folding_of_a_straight_line() {
        let fold = |x: f64| {
            let x = (x + 1.0).rem_euclid(4.0);
            if x <= 2.0 { x - 1.0 } else { 3.0 - x }
        };
        for (n, path) in trajectories(50).iter().enumerate() {
            let mut stream = Stream::new(3, MOTION, [n as u64, 0]);
            let start = [0; 2].map(|_| 2.0 * stream.uniform_f64() - 1.0);
            let (sin, cos) = (TAU * stream.uniform_f64()).sin_cos();
            for (t, position) in path.iter().enumerate() {
                for (d, v) in [cos, sin].into_iter().enumerate() {
                    let straight = start[d] + 0.3 * v * t as f64;
                    assert!((position[d] - fold(straight)).abs() < 1e-9);
                }
            }
        }
    }

    /// The published check of the transition's width has an rms of 0.212 a coordinate and frame, which is 0.3/√2, without the borders. A
    /// digit that is thrown back moves less: with v of a coordinate and its place uniform, E v² − E|v|³/3 = 0.045 − 0.012/π, rms 0.203. In 200
    /// paths v² sums to the same in every one, and only bounces vary: a standard error of 1e-4, of which the bound is six (2e-9).
    #[test]
    fn test_24_the_rms_step_is_the_published_one_less_what_borders_throw_back() {
        let paths = trajectories(200);
        let steps = paths.iter().flat_map(|path| path.windows(2));
        let squares: Vec<f64> = steps
            .flat_map(|pair| [pair[1][0] - pair[0][0], pair[1][1] - pair[0][1]])
            .map(|step| step * step)
            .collect();
        let rms = (squares.iter().sum::<f64>() / squares.len() as f64).sqrt();
        let expected = (0.045 - 0.012 / std::f64::consts::PI).sqrt();
        assert!((rms - expected).abs() < 6e-4, "{rms}");
    }

    #[test]
    fn every_image_is_shown_as_often() {
        let bounce = Bounce::default();
        let identities = bounce.identities(1, 50).expect("images");
        let mut shown = [0; 50];
        for number in 0..50 {
            identities
                .of(number)
                .iter()
                .for_each(|&image| shown[image as usize] += 1);
        }
        assert_eq!(shown, [3; 50]);
        assert_eq!(identities.of(50), identities.of(0));
    }

    #[test]
    fn a_frame_is_the_sum_of_its_digits_cut_off_at_one() {
        let bounce = Bounce {
            frames: 4,
            digits: 2,
            ..Bounce::default()
        };
        let identities = bounce.identities(1, 3).expect("images");
        let bright = vec![0.7f32; 784];
        let sequence = bounce.sequence(5, 9, &identities, |_| &bright);
        assert_eq!((sequence.frames.len(), sequence.positions.len()), (4, 2));
        for (t, frame) in sequence.frames.iter().enumerate() {
            let mut sum = vec![0.0; bounce.canvas.area()];
            for positions in &sequence.positions {
                bounce.canvas.place(&bright, positions[t], 1.0, &mut sum);
            }
            assert!(frame.iter().zip(&sum).all(|(f, s)| *f == s.min(1.0)));
        }
        assert_eq!(sequence, bounce.sequence(5, 9, &identities, |_| &bright));
        assert_ne!(sequence, bounce.sequence(5, 8, &identities, |_| &bright));
    }

    #[test]
    fn what_cannot_be_made_is_refused() {
        let refused = |bounce: Bounce, images| {
            bounce
                .identities(1, images)
                .expect_err("refused")
                .to_string()
        };
        let bounce = Bounce::default();
        assert!(
            refused(
                Bounce {
                    frames: 0,
                    ..bounce
                },
                9
            )
            .contains("0 frames of 3 digits")
        );
        assert!(refused(bounce, 0).contains("3 copies of 0 images"));
        let canvas = Canvas {
            side: 28,
            ..Canvas::default()
        };
        assert!(refused(Bounce { canvas, ..bounce }, 9).contains("canvas of 28"));
    }
}
