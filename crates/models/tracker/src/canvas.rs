//! Where a digit lies on a canvas: placing and cropping.

use helmholtz_ops::Piece;
use serde::{Deserialize, Serialize};

/// Which points of two grids coincide at their edges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Alignment {
    /// Pixels are squares, and the grids' borders coincide: pixel j of W has its centre at −1 + (2j + 1)/W. A placed digit is a
    /// copy of it, moved by a whole number of pixels.
    #[default]
    PixelCentre,
    /// Pixels are points, and the outermost coincide: pixel j of W lies at −1 + 2j/(W − 1), the released code's convention. The
    /// scales of the two grids differ by 27·96 / (28·95), so that a placed digit is usually 29 pixels wide, one of them twice.
    Corner,
}

/// How pixels of one grid are read off another that does not lie on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sampling {
    /// The nearest pixel, as in the released code. What is seen depends on positions through a rounding, so that nothing
    /// differentiates through them.
    #[default]
    Nearest,
    /// Between the four nearest pixels, linear in each coordinate; zero beyond the border. It has a gradient in the positions, which
    /// Hamiltonian Monte Carlo needs.
    Bilinear,
}

impl Sampling {
    fn is_nearest(&self) -> bool {
        *self == Self::Nearest
    }
}

/// Which grid is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// The pixels of the canvas show those of the digit.
    Place,
    /// The pixels of a crop show those of the canvas.
    Crop,
}

/// A square canvas, and the size of the square digits on it.
///
/// A position z = (z^x, z^y) in \[−1, 1\]² is a digit's centre, x to the right and y **upwards**; at ±1 it touches the canvas'
/// border. Its top left corner is at column (z^x + 1)/2 · (side − digit) and row (1 − z^y)/2 · (side − digit).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Canvas {
    /// Pixels of the canvas' side.
    pub side: usize,
    /// Pixels of a digit's side.
    pub digit: usize,
    /// How the grids lie on each other.
    pub alignment: Alignment,
    /// How one is read off the other.
    #[serde(default, skip_serializing_if = "Sampling::is_nearest")]
    pub sampling: Sampling,
}

impl Default for Canvas {
    /// Digits of 28 pixels on a canvas of 96 (Wu et al. 2020, section 6.4).
    fn default() -> Self {
        Self {
            side: 96,
            digit: 28,
            alignment: Alignment::PixelCentre,
            sampling: Sampling::Nearest,
        }
    }
}

impl Canvas {
    /// The preset for a CPU: digits of 14 pixels on a canvas of 48.
    pub const SMALL: Self = Self {
        side: 48,
        digit: 14,
        alignment: Alignment::PixelCentre,
        sampling: Sampling::Nearest,
    };

    /// The pixels that a digit can be moved by along an axis.
    pub fn room(&self) -> usize {
        self.side - self.digit
    }

    /// Pixels of a canvas.
    pub fn area(&self) -> usize {
        self.side * self.side
    }

    /// Pixels of a digit.
    pub fn digit_area(&self) -> usize {
        self.digit * self.digit
    }

    /// For each pixel of the canvas along an axis, the digit's pixel seen there when its centre is at z, growing with the
    /// pixels' index: −z^y for rows. None beyond the digit.
    fn seen(&self, z: f64) -> impl Iterator<Item = Option<usize>> {
        let Self {
            side,
            digit,
            alignment,
            ..
        } = *self;
        let shift = self.shift(z);
        let (canvas, own) = (side as f64, digit as f64);
        (0..side as i64).map(move |pixel| {
            let index = match alignment {
                Alignment::PixelCentre => pixel - shift,
                Alignment::Corner => {
                    let at = -1.0 + 2.0 * pixel as f64 / (canvas - 1.0);
                    let inside = (canvas * at - (canvas - own) * z) / own;
                    ((inside + 1.0) * (own - 1.0) / 2.0).round_ties_even() as i64
                }
            };
            usize::try_from(index).ok().filter(|&index| index < digit)
        })
    }

    /// For each pixel of a crop along an axis, the canvas' pixel that it shows when its centre is at z. None beyond the canvas.
    fn shown(&self, z: f64) -> impl Iterator<Item = Option<usize>> {
        let Self {
            side,
            digit,
            alignment,
            ..
        } = *self;
        let shift = self.shift(z);
        let (canvas, own) = (side as f64, digit as f64);
        (0..digit as i64).map(move |pixel| {
            let index = match alignment {
                Alignment::PixelCentre => pixel + shift,
                Alignment::Corner => {
                    let at = -1.0 + 2.0 * pixel as f64 / (own - 1.0);
                    let outside = (own * at + (canvas - own) * z) / canvas;
                    ((outside + 1.0) * (canvas - 1.0) / 2.0).round_ties_even() as i64
                }
            };
            usize::try_from(index).ok().filter(|&index| index < side)
        })
    }

    /// The whole number of pixels by which a digit at z is moved, ties to even.
    fn shift(&self, z: f64) -> i64 {
        ((z + 1.0) / 2.0 * self.room() as f64).round_ties_even() as i64
    }

    /// (a, b, c): pixel i of the grid that is drawn lies at place a i + b + c z of the grid that is read, counted in its pixels, along
    /// an axis that grows with the pixels' index.
    pub(crate) fn places(&self, way: Way) -> [f64; 3] {
        let (side, digit) = (self.side as f64, self.digit as f64);
        let (room, sign) = (side - digit, if way == Way::Place { -1.0 } else { 1.0 });
        match self.alignment {
            Alignment::PixelCentre => [1.0, sign * room / 2.0, sign * room / 2.0],
            Alignment::Corner => {
                let (read, drawn) = match way {
                    Way::Place => (digit, side),
                    Way::Crop => (side, digit),
                };
                let half = (read - 1.0) / 2.0;
                let (ratio, shift) = (drawn / read, sign * room / read);
                [
                    2.0 * ratio * half / (drawn - 1.0),
                    half - ratio * half,
                    shift * half,
                ]
            }
        }
    }

    /// Along an axis: pixel i of the grid that is drawn shows this share of this pixel of the grid that is read.
    fn shares(&self, way: Way, z: f64) -> Vec<(usize, usize, f32)> {
        let (drawn, read) = match way {
            Way::Place => (self.side, self.digit),
            Way::Crop => (self.digit, self.side),
        };
        match (self.sampling, way) {
            (Sampling::Nearest, Way::Place) => whole(self.seen(z)),
            (Sampling::Nearest, Way::Crop) => whole(self.shown(z)),
            (Sampling::Bilinear, _) => {
                let [a, b, c] = self.places(way);
                let of = |i: usize| {
                    let at = a * i as f64 + b + c * z;
                    let near = [at.floor(), at.floor() + 1.0].into_iter();
                    near.filter(move |&j| j >= 0.0 && j < read as f64)
                        .map(move |j| (i, j as usize, (1.0 - (at - j).abs()) as f32))
                };
                (0..drawn).flat_map(of).collect()
            }
        }
    }

    /// Along an axis no digit covers more pixels than this, by nearest pixels.
    pub fn reach(&self) -> usize {
        match self.alignment {
            Alignment::PixelCentre => self.digit,
            // A pixel of the canvas is ((digit − 1) side) / (digit (side − 1)) of a digit's.
            Alignment::Corner => {
                let (side, digit) = (self.side, self.digit);
                digit * digit * (side - 1) / ((digit - 1) * side) + 1
            }
        }
    }

    /// Where the pixels of a digit at z lie on the canvas, by nearest pixels: pieces of its lines on lines of the canvas, both of which
    /// count row by row from the top. A position outside \[−1, 1\]² moves the digit over the border, where it is cut off.
    pub fn pieces(&self, z: [f64; 2]) -> impl Iterator<Item = Piece> {
        let Self { side, digit, .. } = *self;
        let [columns, rows] = [z[0], -z[1]].map(|z| self.runs(z));
        columns.into_iter().flat_map(move |column| {
            let rows = rows.clone().into_iter();
            let lines =
                rows.flat_map(|run| (0..run.length).map(move |i| [run.to + i, run.from + i]));
            lines.map(move |[to, from]| Piece {
                to: to * side + column.to,
                from: from * digit + column.from,
                length: column.length,
            })
        })
    }

    /// Along an axis, runs of the canvas' pixels that show a run of the digit's.
    fn runs(&self, z: f64) -> Vec<Piece> {
        let mut runs: Vec<Piece> = vec![];
        let seen = self.seen(z).enumerate();
        for (to, from) in seen.filter_map(|(pixel, own)| Some((pixel, own?))) {
            match runs.last_mut() {
                Some(run) if [run.to, run.from].map(|at| at + run.length) == [to, from] => {
                    run.length += 1;
                }
                _ => runs.push(Piece {
                    to,
                    from,
                    length: 1,
                }),
            }
        }
        runs
    }

    /// The pixels of the canvas that a digit at z covers by nearest pixels, each with the digit's pixel that is seen there.
    pub fn footprint(&self, z: [f64; 2]) -> Vec<(usize, usize)> {
        let pixels =
            |piece: Piece| (0..piece.length).map(move |at| (piece.to + at, piece.from + at));
        self.pieces(z).flat_map(pixels).collect()
    }

    /// For each pixel of the square of a digit's size around z, row by row from the top, the canvas' nearest pixel;
    /// none beyond the canvas.
    pub fn window(&self, z: [f64; 2]) -> impl Iterator<Item = Option<usize>> {
        let (rows, side) = (self.shown(-z[1]).collect::<Vec<_>>(), self.side);
        let columns = self.shown(z[0]).collect::<Vec<_>>();
        rows.into_iter().flat_map(move |row| {
            let columns = columns.clone().into_iter();
            columns.map(move |column| Some(row? * side + column?))
        })
    }

    /// Adds `weight` times the digit at z to the canvas, both row by row from the top.
    ///
    /// # Panics
    /// If a slice has not the size of its square.
    pub fn place(&self, digit: &[f32], z: [f64; 2], weight: f32, canvas: &mut [f32]) {
        assert_eq!(digit.len(), self.digit_area(), "a digit's pixels");
        assert_eq!(canvas.len(), self.area(), "a canvas' pixels");
        let columns = self.shares(Way::Place, z[0]);
        for (row, own_row, of_row) in self.shares(Way::Place, -z[1]) {
            for &(column, own_column, of_column) in &columns {
                let seen = of_row * of_column * digit[own_row * self.digit + own_column];
                canvas[row * self.side + column] += weight * seen;
            }
        }
    }

    /// The square of a digit's size around z, row by row from the top; zero beyond the canvas.
    ///
    /// # Panics
    /// If the slice has not the size of a canvas.
    pub fn crop(&self, canvas: &[f32], z: [f64; 2]) -> Vec<f32> {
        assert_eq!(canvas.len(), self.area(), "a canvas' pixels");
        let columns = self.shares(Way::Crop, z[0]);
        let mut crop = vec![0.0; self.digit_area()];
        for (own_row, row, of_row) in self.shares(Way::Crop, -z[1]) {
            for &(own_column, column, of_column) in &columns {
                let seen = of_row * of_column * canvas[row * self.side + column];
                crop[own_row * self.digit + own_column] += seen;
            }
        }
        crop
    }
}

/// All of the one pixel that is seen.
fn whole(seen: impl Iterator<Item = Option<usize>>) -> Vec<(usize, usize, f32)> {
    let seen = seen.enumerate();
    seen.filter_map(|(pixel, read)| Some((pixel, read?, 1.0)))
        .collect()
}

#[cfg(test)]
mod tests {
    use helmholtz_random::{Purpose, Stream};

    use super::*;

    const CORNER: Canvas = Canvas {
        side: 96,
        digit: 28,
        alignment: Alignment::Corner,
        sampling: Sampling::Nearest,
    };

    fn bilinear(canvas: Canvas) -> Canvas {
        let sampling = Sampling::Bilinear;
        Canvas { sampling, ..canvas }
    }

    fn noise(count: usize, at: u64) -> Vec<f32> {
        let mut values = vec![0.0; count];
        Stream::new(1, Purpose::new("canvas"), [at, 0]).fill_uniform_f32(&mut values);
        values
    }

    fn placed(canvas: &Canvas, digit: &[f32], z: [f64; 2]) -> Vec<f32> {
        let mut pixels = vec![0.0; canvas.area()];
        canvas.place(digit, z, 1.0, &mut pixels);
        pixels
    }

    /// Test 21, equation (6): the top left corner at −1, 0 and 1.
    #[test]
    fn test_21_the_corner_is_where_the_equation_says() {
        let canvas = Canvas::default();
        let mut digit = vec![0.0; 784];
        digit[0] = 1.0;
        for (x, column) in [(-1.0, 0), (0.0, 34), (1.0, 68)] {
            for (y, row) in [(-1.0, 68), (0.0, 34), (1.0, 0)] {
                let pixels = placed(&canvas, &digit, [x, y]);
                let at = pixels.iter().position(|&pixel| pixel == 1.0);
                assert_eq!(at, Some(row * 96 + column));
                assert_eq!(pixels.iter().sum::<f32>(), 1.0);
            }
        }
    }

    /// Test 21: a digit placed anywhere is found again by a crop there, exactly, and keeps its mass.
    #[test]
    fn test_21_a_crop_of_what_was_placed_is_the_digit() {
        for canvas in [Canvas::default(), Canvas::SMALL] {
            let digit = noise(canvas.digit_area(), 0);
            let mut stream = Stream::new(2, Purpose::new("canvas"), [0, 0]);
            for _ in 0..200 {
                let z = [0; 2].map(|_| 2.0 * stream.uniform_f64() - 1.0);
                let pixels = placed(&canvas, &digit, z);
                assert_eq!(canvas.crop(&pixels, z), digit);
                let mass = |pixels: &[f32]| pixels.iter().map(|&p| f64::from(p)).sum::<f64>();
                assert!((mass(&pixels) - mass(&digit)).abs() < 1e-9);
            }
        }
    }

    /// The released convention: as many columns as the code's digits have at −1, −½, 0, ½ and 1, which is no exact copy.
    #[test]
    fn test_21_corner_alignment_repeats_a_column() {
        for (z, wide) in [(-1.0, 29), (-0.5, 29), (0.0, 28), (0.5, 29), (1.0, 29)] {
            assert_eq!(CORNER.seen(z).flatten().count(), wide, "at {z}");
        }
        let digit = noise(784, 1);
        let mass = |pixels: &[f32]| pixels.iter().sum::<f32>();
        assert!(mass(&placed(&CORNER, &digit, [0.5, 0.5])) > mass(&digit) + 1.0);
    }

    #[test]
    fn what_lies_over_the_border_is_cut_off() {
        let canvas = Canvas::default();
        let pixels = placed(&canvas, &vec![1.0; 784], [1.5, -1.5]); // 17 pixels too far right and down
        assert_eq!(pixels.iter().sum::<f32>(), 11.0 * 11.0);
        let crop = canvas.crop(&vec![1.0; canvas.area()], [1.5, -1.5]);
        assert_eq!(crop.iter().sum::<f32>(), 11.0 * 11.0);
        assert_eq!(canvas.crop(&pixels, [9.0, 9.0]), vec![0.0; 784]);
    }

    /// Test 23: what was placed and is taken away again leaves nothing.
    #[test]
    fn test_23_the_residual_of_the_true_template_is_zero() {
        let (canvas, digit, z) = (Canvas::default(), noise(784, 3), [0.31, -0.62]);
        let mut residual = placed(&canvas, &digit, z);
        canvas.place(&digit, z, -1.0, &mut residual);
        assert!(residual.iter().all(|&pixel| pixel == 0.0));
        let mut other = placed(&canvas, &digit, z);
        canvas.place(&digit, [0.31, -0.58], -1.0, &mut other);
        assert!(other.iter().any(|&pixel| pixel != 0.0), "one pixel off");
    }

    /// At whole numbers of pixels there is nothing between pixels.
    #[test]
    fn bilinear_reading_of_pixels_is_that_of_the_nearest() {
        let (canvas, digit) = (Canvas::default(), noise(784, 4));
        let between = bilinear(canvas);
        for shift in [0, 1, 17, 34, 67, 68] {
            let z = [shift, 68 - shift].map(|pixels| f64::from(pixels) / 34.0 - 1.0);
            let close = |a: &[f32], b: &[f32]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-5);
            let pixels = placed(&canvas, &digit, z);
            assert!(close(&placed(&between, &digit, z), &pixels), "{shift}");
            assert!(close(&between.crop(&pixels, z), &digit), "{shift}");
        }
    }

    /// Between two whole numbers the mixture of both, and mass is kept inside the canvas.
    #[test]
    fn bilinear_reading_is_linear_between_pixels() {
        let (canvas, digit) = (bilinear(Canvas::default()), noise(784, 5));
        let column = |pixels: f64| placed(&canvas, &digit, [pixels / 34.0 - 1.0, 0.0]);
        let (left, right, between) = (column(20.0), column(21.0), column(20.25));
        for ((left, right), between) in left.iter().zip(&right).zip(&between) {
            assert!((0.75 * left + 0.25 * right - between).abs() < 1e-5);
        }
        let mass = |pixels: &[f32]| pixels.iter().map(|&p| f64::from(p)).sum::<f64>();
        assert!((mass(&between) / mass(&digit) - 1.0).abs() < 1e-6);
    }

    /// The released convention reads where its nearest pixels lie.
    #[test]
    fn both_readings_agree_on_where_pixels_lie() {
        for canvas in [Canvas::default(), Canvas::SMALL, CORNER] {
            for way in [Way::Place, Way::Crop] {
                let [a, b, c] = canvas.places(way);
                for z in [-1.0, -0.37, 0.0, 0.61, 1.0] {
                    let nearest = canvas.shares(way, z);
                    for (i, j, _) in nearest {
                        let at = a * i as f64 + b + c * z;
                        assert!((at - j as f64).abs() < 0.5 + 1e-9, "{canvas:?}, {way:?}");
                    }
                }
            }
        }
    }

    /// A crop in the released convention: 28 pixels of places from a border to the other of 27.7 pixels of the canvas.
    #[test]
    fn a_crop_of_corner_alignment_goes_from_border_to_border() {
        let shown = |z: f64| -> Vec<Option<usize>> { CORNER.shown(z).collect() };
        let width = 95.0 * 28.0 / 96.0;
        let from = |start: f64| -> Vec<Option<usize>> {
            let at = |pixel: usize| start + width * pixel as f64 / 27.0;
            (0..28)
                .map(|pixel| Some(at(pixel).round_ties_even() as usize))
                .collect()
        };
        assert_eq!(shown(-1.0), from(0.0));
        assert_eq!(shown(0.0), from((95.0 - width) / 2.0));
        assert_eq!(shown(1.0), from(95.0 - width));
        assert_eq!(shown(1.0).last(), Some(&Some(95)));
        assert_eq!(shown(1.5).last(), Some(&None));
    }

    #[test]
    fn a_way_of_reading_is_written_where_it_is_not_the_released_one() {
        let canvas = Canvas::default();
        let written = |canvas: &Canvas| serde_json::to_value(canvas).unwrap();
        assert_eq!(written(&canvas)["sampling"], serde_json::Value::Null);
        assert_eq!(written(&bilinear(canvas))["sampling"], "bilinear");
        for canvas in [canvas, bilinear(canvas)] {
            let again: Canvas = serde_json::from_value(written(&canvas)).unwrap();
            assert_eq!(again, canvas);
        }
    }
}
