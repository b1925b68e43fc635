//! Small problems and their exact transition matrices.

use helmholtz_random::{Purpose, Stream, enumerate};
use helmholtz_samplers::{IndexKernel, Visits};

/// Rounding may add up to this.
pub const TOLERANCE: f64 = 1e-12;

pub type Matrix = Vec<Vec<f64>>;

/// A target `p` and an independence proposal `q` over the states `0..p.len()`.
pub struct Problem {
    pub p: Vec<f64>,
    pub q: Vec<f64>,
    /// ln p - ln q up to a constant, as a kernel is given it.
    log_w: Vec<f64>,
}

impl Problem {
    pub fn new(p: Vec<f64>, q: Vec<f64>) -> Self {
        let log_w = p
            .iter()
            .zip(&q)
            .map(|(p, q)| p.ln() - q.ln() - 91.7)
            .collect();
        Self { p, q, log_w }
    }

    /// Five problems of 3 to 7 states, with logits uniform in [-3, 3].
    pub fn several() -> Vec<Self> {
        (3..8)
            .map(|n| Self::new(distribution(n, 0), distribution(n, 1)))
            .collect()
    }

    pub fn states(&self) -> usize {
        self.p.len()
    }

    /// w = p / q, normalised.
    pub fn w(&self, state: usize) -> f64 {
        self.p[state] / self.q[state]
    }

    /// Every tuple of `k` proposals with its probability.
    pub fn tuples(&self, k: usize) -> Vec<(f64, Vec<usize>)> {
        let mut tuples = vec![(1.0, Vec::new())];
        for _ in 0..k {
            tuples = tuples
                .into_iter()
                .flat_map(|(probability, tuple)| {
                    self.q.iter().enumerate().map(move |(h, q)| {
                        let mut longer = tuple.clone();
                        longer.push(h);
                        (probability * q, longer)
                    })
                })
                .collect();
        }
        tuples
    }

    /// The law of `read`(visits as states, state at the end) from `start`, as rows (probability, result).
    fn run<T>(
        &self,
        kernel: &impl IndexKernel,
        start: usize,
        proposals: &[usize],
        read: impl Fn(&[usize], usize) -> T,
    ) -> Vec<(f64, T)> {
        let log_w: Vec<f64> = proposals.iter().map(|&h| self.log_w[h]).collect();
        let state = |index: usize| {
            if index == 0 {
                start
            } else {
                proposals[index - 1]
            }
        };
        enumerate(|chance| {
            let mut visits = Vec::new();
            kernel.run(self.log_w[start], &log_w, chance, &mut visits);
            let states: Vec<usize> = visits.iter().map(|&i| state(i as usize)).collect();
            read(&states, state(Visits::new(&visits).last()))
        })
    }

    /// The transition matrix of one run with `k` proposals: from the start to the state at the end.
    pub fn transition(&self, kernel: &impl IndexKernel, k: usize) -> Matrix {
        self.transition_to(kernel, k, |_, last| last)
    }

    /// The transition matrix from the start to the state after `moves` moves.
    pub fn transition_after(&self, kernel: &impl IndexKernel, k: usize, moves: usize) -> Matrix {
        self.transition_to(kernel, k, |states, _| states[moves - 1])
    }

    fn transition_to(
        &self,
        kernel: &impl IndexKernel,
        k: usize,
        read: impl Fn(&[usize], usize) -> usize,
    ) -> Matrix {
        let n = self.states();
        let mut matrix = vec![vec![0.0; n]; n];
        for (probability, proposals) in self.tuples(k) {
            for (start, row) in matrix.iter_mut().enumerate() {
                for (branch, end) in self.run(kernel, start, &proposals, &read) {
                    row[end] += probability * branch;
                }
            }
        }
        for row in &matrix {
            assert!(
                (row.iter().sum::<f64>() - 1.0).abs() < TOLERANCE,
                "a row sums to one"
            );
        }
        matrix
    }
}

/// softmax of `n` uniform logits in [-3, 3].
pub fn distribution(n: usize, which: u64) -> Vec<f64> {
    const TEST: Purpose = Purpose::new("test");
    let mut stream = Stream::new(20, TEST, [n as u64, which]);
    let weights: Vec<f64> = (0..n)
        .map(|_| (6.0 * stream.uniform_f64() - 3.0).exp())
        .collect();
    let total: f64 = weights.iter().sum();
    weights.iter().map(|w| w / total).collect()
}

/// max |p P - p|.
pub fn invariance_error(p: &[f64], matrix: &Matrix) -> f64 {
    max_difference(&apply(p, matrix), p)
}

/// max |p_x P_xy - p_y P_yx|.
pub fn balance_error(p: &[f64], matrix: &Matrix) -> f64 {
    let n = p.len();
    (0..n * n)
        .map(|i| (p[i / n] * matrix[i / n][i % n] - p[i % n] * matrix[i % n][i / n]).abs())
        .fold(0.0, f64::max)
}

/// The row vector p P.
pub fn apply(p: &[f64], matrix: &Matrix) -> Vec<f64> {
    (0..p.len())
        .map(|y| p.iter().zip(matrix).map(|(p, row)| p * row[y]).sum())
        .collect()
}

pub fn product(a: &Matrix, b: &Matrix) -> Matrix {
    a.iter().map(|row| apply(row, b)).collect()
}

pub fn power(matrix: &Matrix, k: usize) -> Matrix {
    (1..k).fold(matrix.clone(), |product_so_far, _| {
        product(&product_so_far, matrix)
    })
}

pub fn trace(matrix: &Matrix) -> f64 {
    matrix.iter().enumerate().map(|(i, row)| row[i]).sum()
}

pub fn max_difference(a: &[f64], b: &[f64]) -> f64 {
    a.iter()
        .zip(b)
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, f64::max)
}

pub fn matrix_difference(a: &Matrix, b: &Matrix) -> f64 {
    a.iter()
        .zip(b)
        .map(|(a, b)| max_difference(a, b))
        .fold(0.0, f64::max)
}
