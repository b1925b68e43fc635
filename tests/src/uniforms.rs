//! Integration over uniforms: exact, or with less variance than independent draws.

use helmholtz_distributions::Noise;
use helmholtz_random::Stream;

/// Uniforms from a list, in order.
#[derive(Clone, Debug)]
pub struct Listed<'a>(pub &'a [f32]);

impl Noise for Listed<'_> {
    fn fill(&mut self, out: &mut [f32]) {
        let (own, rest) = self.0.split_at(out.len());
        out.copy_from_slice(own);
        self.0 = rest;
    }
}

/// Square roots that are linearly independent over the rationals.
const PRIMES: [f64; 25] = [
    2.0, 3.0, 5.0, 7.0, 11.0, 13.0, 17.0, 19.0, 23.0, 29.0, 31.0, 37.0, 41.0, 43.0, 47.0, 53.0,
    59.0, 61.0, 67.0, 71.0, 73.0, 79.0, 83.0, 89.0, 97.0,
];

/// Uniforms spread evenly over rows: the n-th row's d-th uniform is the fractional part of n √p_d + s_d, p_d a prime and s_d a
/// uniform of a stream (a Kronecker lattice with random shifts: Cranley & Patterson 1976).
///
/// The uniforms of a single row are independent, so that the mean of an estimate over rows has the right expectation. Those of
/// different rows are not, and its variance is less.
pub struct Lattice<'a> {
    rows: usize,
    stream: &'a mut Stream,
    dimension: usize,
}

impl<'a> Lattice<'a> {
    /// For an estimate that draws for this many rows at a time, up to 25 uniforms each.
    pub fn new(rows: usize, stream: &'a mut Stream) -> Self {
        Self {
            rows,
            stream,
            dimension: 0,
        }
    }
}

impl Noise for Lattice<'_> {
    fn fill(&mut self, out: &mut [f32]) {
        let columns = out.len() / self.rows;
        for column in 0..columns {
            let (step, shift) = (PRIMES[self.dimension].sqrt(), self.stream.uniform_f64());
            self.dimension += 1;
            for row in 0..self.rows {
                let uniform = (row as f64 * step + shift).fract() as f32;
                // Rounded up to 1, it is the largest below.
                out[row * columns + column] = uniform.min(1.0f32.next_down());
            }
        }
    }
}

/// Points and weights that integrate over [low, high) every polynomial up to the square exactly: at three points that f32
/// holds, the weights solve for the moments, in f64.
pub fn cell(low: f64, high: f64) -> [(f64, f32); 3] {
    let at = |share: f64| (low + share * (high - low)) as f32;
    let points = [at(0.1), at(0.5), at(0.9)];
    // From the middle, where the odd moments vanish and a narrow cell loses no digits.
    let (middle, width) = (0.5 * (low + high), high - low);
    let x = points.map(|u| f64::from(u) - middle);
    // Lagrange: the weight of x_i is the integral of Π_{j ≠ i} (u − x_j) / (x_i − x_j).
    let weight = |i: usize| {
        let (a, b) = (x[(i + 1) % 3], x[(i + 2) % 3]);
        width * (width * width / 12.0 + a * b) / ((x[i] - a) * (x[i] - b))
    };
    [
        (weight(0), points[0]),
        (weight(1), points[1]),
        (weight(2), points[2]),
    ]
}

/// The cells between the breakpoints, each with its integration points.
pub fn cells(mut breakpoints: Vec<f64>) -> Vec<[(f64, f32); 3]> {
    breakpoints.extend([0.0, 1.0]);
    breakpoints.sort_by(f64::total_cmp);
    breakpoints.dedup();
    breakpoints.windows(2).map(|w| cell(w[0], w[1])).collect()
}

/// Calls `visit` with every choice of one of the points in each place, and the product of their weights.
pub fn each_choice(places: &[Vec<(f64, f32)>], mut visit: impl FnMut(f64, &[f32])) {
    let mut at = vec![0; places.len()];
    loop {
        let chosen: Vec<(f64, f32)> = at.iter().zip(places).map(|(&i, p)| p[i]).collect();
        let uniforms: Vec<f32> = chosen.iter().map(|&(_, u)| u).collect();
        visit(
            chosen.iter().map(|&(weight, _)| weight).product(),
            &uniforms,
        );
        let Some(next) = (0..at.len()).find(|&i| at[i] + 1 < places[i].len()) else {
            return;
        };
        at[..next].fill(0);
        at[next] += 1;
    }
}
