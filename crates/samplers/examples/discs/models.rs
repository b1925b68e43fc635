//! The classical targets of DISCS, with its parameters drawn by its rules, and the critical Ising and Potts models.

use helmholtz_samplers::DifferenceTarget;
use helmholtz_samplers::random::{Draws, Purpose, Stream};

/// A target whose sites can be taken one at a time, too.
pub trait Model: DifferenceTarget<u8> {
    fn name(&self) -> String;

    fn sites(&self) -> usize;

    /// ln p(x with x_i = v), for each v, up to a constant.
    fn conditional(&self, x: &[u8], i: usize, log_weights: &mut [f64]);
}

fn stream(what: u64) -> Stream {
    Stream::new(1, Purpose::new("model"), [what, 0])
}

/// ln p = β Σ [x_i = x_j] + Σ h_i(x_i) over the edges of a square grid, open or a torus.
pub struct Grid {
    name: String,
    side: usize,
    values: usize,
    beta: f64,
    torus: bool,
    /// h_i(v) at i C + v; empty for none.
    field: Vec<f64>,
}

impl Grid {
    /// Without a field on a torus, at a share of the critical coupling β = ln(1 + √C); that of Ising spins of -1 and 1 is
    /// half of it.
    pub fn near_critical(side: usize, values: usize, share: f64) -> Self {
        Self {
            name: format!("{side} x {side}, {values} values, {share} of critical"),
            side,
            values,
            beta: share * (values as f64).sqrt().ln_1p(),
            torus: true,
            field: Vec::new(),
        }
    }

    /// DISCS: spins with the coupling λ on an open grid, in a field of uniforms on ±1.5, less ½ in a disc and more outside
    /// of it.
    pub fn ising(side: usize, lambda: f64) -> Self {
        let spins = Self::field(side, 1);
        Self {
            name: format!("Ising {side} x {side}, λ = {lambda}, field"),
            side,
            values: 2,
            beta: 2.0 * lambda,
            torus: false,
            field: spins.iter().flat_map(|b| [*b, -b]).collect(),
        }
    }

    /// DISCS: four values with the coupling λ on an open grid, in such a field for each value.
    pub fn potts(side: usize, values: usize, lambda: f64) -> Self {
        Self {
            name: format!("Potts {side} x {side}, {values} values, λ = {lambda}, field"),
            side,
            values,
            beta: lambda,
            torus: false,
            field: Self::field(side, values).iter().map(|b| -b).collect(),
        }
    }

    fn field(side: usize, columns: usize) -> Vec<f64> {
        let mut stream = stream(columns as u64);
        let from_middle = |i: usize| (i as f64 / side as f64 - 0.5).powi(2);
        let site = |i: usize| {
            let distance = from_middle(i / side) + from_middle(i % side);
            if distance < 0.5 / std::f64::consts::PI {
                0.5
            } else {
                -0.5
            }
        };
        let entries = (0..side * side * columns).map(|entry| (entry / columns, entry));
        entries
            .map(|(i, _)| site(i) + 1.5 * (2.0 * stream.uniform() - 1.0))
            .collect()
    }

    fn neighbours(&self, i: usize) -> impl Iterator<Item = usize> {
        let (n, row, column) = (self.side, i / self.side, i % self.side);
        let all = [
            (column + 1 < n, row * n + (column + 1) % n),
            (column > 0, row * n + (column + n - 1) % n),
            (row + 1 < n, (row + 1) % n * n + column),
            (row > 0, (row + n - 1) % n * n + column),
        ];
        let torus = self.torus;
        all.into_iter()
            .filter(move |(inside, _)| torus || *inside)
            .map(|(_, j)| j)
    }
}

impl DifferenceTarget<u8> for Grid {
    fn values(&self) -> usize {
        self.values
    }

    fn log_density(&self, x: &[u8]) -> f64 {
        let equal = |i: usize| self.neighbours(i).filter(|&j| x[i] == x[j]).count();
        let edges = (0..x.len()).map(equal).sum::<usize>() as f64 / 2.0;
        let field = |(i, v): (usize, &u8)| self.field[i * self.values + usize::from(*v)];
        let field = match self.field.is_empty() {
            true => 0.0,
            false => x.iter().enumerate().map(field).sum(),
        };
        self.beta * edges + field
    }

    fn log_density_and_differences(&self, x: &[u8], differences: &mut [f64]) -> f64 {
        for (i, row) in differences.chunks_mut(self.values).enumerate() {
            self.conditional(x, i, row);
            let now = row[usize::from(x[i])];
            row.iter_mut().for_each(|d| *d -= now);
        }
        self.log_density(x)
    }
}

impl Model for Grid {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn sites(&self) -> usize {
        self.side * self.side
    }

    fn conditional(&self, x: &[u8], i: usize, log_weights: &mut [f64]) {
        match self.field.get(i * self.values..(i + 1) * self.values) {
            Some(field) => log_weights.copy_from_slice(field),
            None => log_weights.fill(0.0),
        }
        for j in self.neighbours(i) {
            log_weights[usize::from(x[j])] += self.beta;
        }
    }
}

/// Independent bits with logits N(0, σ²).
pub struct Bernoulli(Vec<f64>, f64);

impl Bernoulli {
    pub fn new(sites: usize, sigma: f64) -> Self {
        let mut stream = stream(5);
        Self((0..sites).map(|_| sigma * stream.normal()).collect(), sigma)
    }
}

impl DifferenceTarget<u8> for Bernoulli {
    fn values(&self) -> usize {
        2
    }

    fn log_density(&self, x: &[u8]) -> f64 {
        self.0.iter().zip(x).map(|(a, x)| a * f64::from(*x)).sum()
    }

    fn log_density_and_differences(&self, x: &[u8], differences: &mut [f64]) -> f64 {
        for ((a, x), row) in self.0.iter().zip(x).zip(differences.chunks_mut(2)) {
            row[usize::from(1 - x)] = a * (1.0 - 2.0 * f64::from(*x));
        }
        self.log_density(x)
    }
}

impl Model for Bernoulli {
    fn name(&self) -> String {
        format!("Bernoulli, {} bits, σ = {}", self.0.len(), self.1)
    }

    fn sites(&self) -> usize {
        self.0.len()
    }

    fn conditional(&self, _: &[u8], i: usize, log_weights: &mut [f64]) {
        log_weights.copy_from_slice(&[0.0, self.0[i]]);
    }
}

/// K hidden chains of bits that start at one with probability α and stay with β, seen by their weighted sum,
/// y_l ~ N(Σ_k w_k x_lk + b, σ²).
pub struct FactorialHmm {
    weights: Vec<f64>,
    /// y_l - b.
    seen: Vec<f64>,
}

const ALPHA: f64 = 0.1;
const BETA: f64 = 0.8;
const SIGMA: f64 = 2.0;

impl FactorialHmm {
    pub fn new(length: usize, chains: usize) -> Self {
        let mut stream = stream(6);
        let weights: Vec<f64> = (0..chains).map(|_| stream.normal()).collect();
        let mut x: Vec<bool> = (0..chains).map(|_| stream.uniform() < ALPHA).collect();
        let mut seen = Vec::with_capacity(length);
        for l in 0..length {
            if l > 0 {
                x.iter_mut().for_each(|x| *x ^= stream.uniform() >= BETA);
            }
            let ones = x.iter().zip(&weights).filter(|(x, _)| **x);
            seen.push(ones.map(|(_, w)| w).sum::<f64>() + SIGMA * stream.normal());
        }
        Self { weights, seen }
    }

    /// y_l less what the bits explain.
    fn rest(&self, x: &[u8], l: usize) -> f64 {
        let chains = self.weights.len();
        let own = x[l * chains..(l + 1) * chains].iter().zip(&self.weights);
        self.seen[l] - own.map(|(x, w)| w * f64::from(*x)).sum::<f64>()
    }

    /// The difference that a flip of bit i = l K + k makes, given the rest at l.
    fn flip(&self, x: &[u8], i: usize, rest: f64) -> f64 {
        let chains = self.weights.len();
        let sign = 1.0 - 2.0 * f64::from(x[i]);
        let after = rest - sign * self.weights[i % chains];
        let seen = (rest * rest - after * after) / (2.0 * SIGMA * SIGMA);
        let stays = (BETA / (1.0 - BETA)).ln();
        let towards = |j: usize| if x[j] == x[i] { -stays } else { stays };
        let before = match i.checked_sub(chains) {
            Some(j) => towards(j),
            None => sign * (ALPHA / (1.0 - ALPHA)).ln(),
        };
        let later = if i + chains < x.len() {
            towards(i + chains)
        } else {
            0.0
        };
        seen + before + later
    }
}

impl DifferenceTarget<u8> for FactorialHmm {
    fn values(&self) -> usize {
        2
    }

    fn log_density(&self, x: &[u8]) -> f64 {
        let chains = self.weights.len();
        let squares = (0..self.seen.len()).map(|l| self.rest(x, l).powi(2));
        let ones = x[..chains].iter().map(|x| usize::from(*x)).sum::<usize>() as f64;
        let first = ones * ALPHA.ln() + (chains as f64 - ones) * (1.0 - ALPHA).ln();
        let stays = x.iter().zip(&x[chains..]).filter(|(a, b)| a == b).count() as f64;
        let moves = (x.len() - chains) as f64 - stays;
        first + stays * BETA.ln() + moves * (1.0 - BETA).ln()
            - squares.sum::<f64>() / (2.0 * SIGMA * SIGMA)
    }

    fn log_density_and_differences(&self, x: &[u8], differences: &mut [f64]) -> f64 {
        let chains = self.weights.len();
        for l in 0..self.seen.len() {
            let rest = self.rest(x, l);
            for i in l * chains..(l + 1) * chains {
                differences[2 * i + usize::from(1 - x[i])] = self.flip(x, i, rest);
            }
        }
        self.log_density(x)
    }
}

impl Model for FactorialHmm {
    fn name(&self) -> String {
        format!(
            "factorial HMM, {} x {}",
            self.seen.len(),
            self.weights.len()
        )
    }

    fn sites(&self) -> usize {
        self.seen.len() * self.weights.len()
    }

    fn conditional(&self, x: &[u8], i: usize, log_weights: &mut [f64]) {
        let rest = self.rest(x, i / self.weights.len());
        log_weights.fill(0.0);
        log_weights[usize::from(1 - x[i])] = self.flip(x, i, rest);
    }
}
