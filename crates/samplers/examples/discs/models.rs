//! The classical targets of DISCS, with its parameters drawn by its rules, and Ising models near the critical coupling.

use helmholtz_samplers::DifferenceTarget;
use helmholtz_samplers::random::{Draws, Purpose, Stream};
use serde_json::{Value, json};

/// A target whose sites can be taken one at a time, or a few, too.
pub trait Model: DifferenceTarget<u8> + Sync {
    fn name(&self) -> String;

    /// The name and the parameters that DISCS has for it; none if it has no such model.
    fn of_discs(&self) -> Option<(&'static str, Value)>;

    fn sites(&self) -> usize;

    /// ln p(x with x_i = v), for each v, up to a constant.
    fn conditional(&self, x: &[u8], i: usize, log_weights: &mut [f64]);

    /// ln p but for terms without a site of the block, which is in order.
    fn log_density_of_block(&self, x: &[u8], block: &[usize]) -> f64;
}

fn stream(what: u64) -> Stream {
    Stream::new(1, Purpose::new("model"), [what, 0])
}

/// ln p = β Σ [x_i = x_j] + Σ h_i(x_i) over the edges of a square grid, open or a torus.
pub struct Grid {
    name: String,
    side: usize,
    torus: bool,
    values: usize,
    beta: f64,
    /// λ of the models of DISCS; none for others.
    lambda: Option<f64>,
    /// h_i(v) at i C + v.
    field: Vec<f64>,
    /// Of each site; where the grid ends, the number of sites.
    neighbours: Vec<[u32; 4]>,
}

/// What stands beyond the end of a grid: equal to no value.
const NOTHING: u8 = u8::MAX;

impl Grid {
    /// Without a field on a torus, at a share of the critical coupling β = ln(1 + √C); that of Ising spins of -1 and 1 is
    /// half of it.
    pub fn near_critical(side: usize, values: usize, share: f64) -> Self {
        let name = format!("{side} x {side}, {values} values, {share} of critical");
        let beta = share * (values as f64).sqrt().ln_1p();
        Self::new(
            name,
            side,
            true,
            beta,
            None,
            vec![0.0; side * side * values],
        )
    }

    /// DISCS: spins with the coupling λ on an open grid, in a field of uniforms on ±1.5, less ½ in a disc and more outside
    /// of it.
    pub fn ising(side: usize, lambda: f64) -> Self {
        let name = format!("Ising {side} x {side}, λ = {lambda}, field");
        let field = Self::field(side, 1).iter().flat_map(|b| [*b, -b]).collect();
        Self::new(name, side, false, 2.0 * lambda, Some(lambda), field)
    }

    /// DISCS: values with the coupling λ on an open grid, in such a field for each value.
    pub fn potts(side: usize, values: usize, lambda: f64) -> Self {
        let name = format!("Potts {side} x {side}, {values} values, λ = {lambda}, field");
        let field = Self::field(side, values).iter().map(|b| -b).collect();
        Self::new(name, side, false, lambda, Some(lambda), field)
    }

    fn new(
        name: String,
        side: usize,
        torus: bool,
        beta: f64,
        lambda: Option<f64>,
        field: Vec<f64>,
    ) -> Self {
        let beyond = (side * side) as u32;
        let neighbours = (0..side * side).map(|i| {
            let (row, column) = (i / side, i % side);
            let all = [
                (column + 1 < side, row * side + (column + 1) % side),
                (column > 0, row * side + (column + side - 1) % side),
                (row + 1 < side, (row + 1) % side * side + column),
                (row > 0, (row + side - 1) % side * side + column),
            ];
            all.map(|(inside, j)| if inside || torus { j as u32 } else { beyond })
        });
        Self {
            name,
            side,
            torus,
            values: field.len() / (side * side),
            beta,
            lambda,
            neighbours: neighbours.collect(),
            field,
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

    /// How many neighbours of site i have the value v.
    #[inline]
    fn equal(&self, beyond: &[u8], i: usize, v: u8) -> f64 {
        let count: u32 = (self.neighbours[i].iter())
            .map(|&j| u32::from(beyond[j as usize] == v))
            .sum();
        f64::from(count)
    }

    /// The state, and what stands beyond its end.
    fn padded(x: &[u8]) -> Vec<u8> {
        let mut padded = Vec::with_capacity(x.len() + 1);
        padded.extend_from_slice(x);
        padded.push(NOTHING);
        padded
    }
}

impl DifferenceTarget<u8> for Grid {
    fn values(&self) -> usize {
        self.values
    }

    fn log_density(&self, x: &[u8]) -> f64 {
        let padded = Self::padded(x);
        let site = |(i, v): (usize, &u8)| {
            self.field[i * self.values + usize::from(*v)]
                + 0.5 * self.beta * self.equal(&padded, i, *v)
        };
        x.iter().enumerate().map(site).sum()
    }

    fn log_density_and_differences(&self, x: &[u8], differences: &mut [f64]) -> f64 {
        let (side, values) = (self.side, self.values);
        let framed = self.framed(x);
        let mut log_p = 0.0;
        for row in 0..side {
            let sites = row * side * values..(row + 1) * side * values;
            let line =
                |down: usize, right: usize| &framed[(row + down) * (side + 2) + right..][..side];
            let around = [line(1, 2), line(1, 0), line(2, 1), line(0, 1)];
            let differences = &mut differences[sites.clone()];
            let (own, field) = (line(1, 1), &self.field[sites]);
            log_p += match values {
                2 => self.line_of_bits(own, around, field, differences),
                _ => self.line(own, around, field, differences),
            };
        }
        log_p
    }
}

impl Grid {
    /// The state in a frame of what stands beyond its ends, `[side + 2, side + 2]`.
    fn framed(&self, x: &[u8]) -> Vec<u8> {
        let (side, width) = (self.side, self.side + 2);
        let mut framed = vec![NOTHING; width * width];
        for (row, line) in x.chunks_exact(side).enumerate() {
            let own = &mut framed[(row + 1) * width..][..width];
            own[1..=side].copy_from_slice(line);
            if self.torus {
                (own[0], own[side + 1]) = (line[side - 1], line[0]);
            }
        }
        if self.torus {
            framed.copy_within(side * width..(side + 1) * width, 0);
            framed.copy_within(width..2 * width, (side + 1) * width);
        }
        framed
    }

    /// The differences of a line of the grid, and its share of ln p.
    fn line(&self, own: &[u8], around: [&[u8]; 4], field: &[f64], differences: &mut [f64]) -> f64 {
        let rows = differences.chunks_exact_mut(self.values);
        let fields = field.chunks_exact(self.values);
        let mut log_p = 0.0;
        for (i, ((row, field), now)) in rows.zip(fields).zip(own).enumerate() {
            let neighbours = around.map(|line| line[i]);
            let with = |v: usize| {
                let equal = neighbours.map(|n| u8::from(usize::from(n) == v));
                field[v] + self.beta * f64::from(equal.iter().sum::<u8>())
            };
            let here = with(usize::from(*now));
            for (v, difference) in row.iter_mut().enumerate() {
                *difference = with(v) - here;
            }
            log_p += 0.5 * (here + field[usize::from(*now)]);
        }
        log_p
    }

    /// The same of bits, whose two differences are one number.
    fn line_of_bits(
        &self,
        own: &[u8],
        around: [&[u8]; 4],
        field: &[f64],
        differences: &mut [f64],
    ) -> f64 {
        let [right, left, below, above] = around;
        let sides = right.iter().zip(left).zip(below.iter().zip(above));
        let sites = own.iter().zip(sides);
        let rows = differences.as_chunks_mut::<2>().0.iter_mut();
        let mut log_p = 0.0;
        for ((row, [zero, one]), (now, ((a, b), (c, d)))) in
            rows.zip(field.as_chunks::<2>().0).zip(sites)
        {
            let equal = |v: u8| {
                u8::from(*a == v) + u8::from(*b == v) + u8::from(*c == v) + u8::from(*d == v)
            };
            let zeros = zero + self.beta * f64::from(equal(0));
            let ones = one + self.beta * f64::from(equal(1));
            let is_one = *now == 1;
            let (here, there) = if is_one { (ones, zeros) } else { (zeros, ones) };
            *row = [there - here; 2];
            log_p += 0.5 * (here + if is_one { one } else { zero });
        }
        log_p
    }
}

impl Model for Grid {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn of_discs(&self) -> Option<(&'static str, Value)> {
        let (side, lambda) = (self.side, self.lambda?);
        Some(match self.values {
            2 => {
                let b: Vec<f64> = self.field.iter().copied().step_by(2).collect();
                ("ising", json!({ "side": side, "lambda": lambda, "b": b }))
            }
            values => {
                let b: Vec<f64> = self.field.iter().map(|h| -h).collect();
                (
                    "potts",
                    json!({ "side": side, "values": values, "lambda": lambda, "b": b }),
                )
            }
        })
    }

    fn sites(&self) -> usize {
        self.side * self.side
    }

    fn conditional(&self, x: &[u8], i: usize, log_weights: &mut [f64]) {
        log_weights.copy_from_slice(&self.field[i * self.values..(i + 1) * self.values]);
        for &j in &self.neighbours[i] {
            if let Some(v) = x.get(j as usize) {
                log_weights[usize::from(*v)] += self.beta;
            }
        }
    }

    fn log_density_of_block(&self, x: &[u8], block: &[usize]) -> f64 {
        let mut log_p = 0.0;
        for &i in block {
            log_p += self.field[i * self.values + usize::from(x[i])];
            for &j in &self.neighbours[i] {
                let j = j as usize;
                // A pair within the block is met twice.
                if x.get(j) == Some(&x[i]) {
                    log_p += self.beta * if block.contains(&j) { 0.5 } else { 1.0 };
                }
            }
        }
        log_p
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
        let mut log_p = 0.0;
        for ((a, x), row) in self.0.iter().zip(x).zip(differences.chunks_exact_mut(2)) {
            let x = f64::from(*x);
            row.fill(a * (1.0 - 2.0 * x));
            log_p += a * x;
        }
        log_p
    }

    fn log_density_ratio_and_differences(
        &self,
        from: &[u8],
        _: &[u8],
        changes: &[usize],
        sites: &mut Vec<usize>,
        differences: &mut Vec<f64>,
    ) -> Option<f64> {
        sites.extend_from_slice(changes);
        let gain = |&i: &usize| self.0[i] * (1.0 - 2.0 * f64::from(from[i]));
        differences.extend(changes.iter().flat_map(|i| [-gain(i); 2]));
        Some(changes.iter().map(gain).sum())
    }
}

impl Model for Bernoulli {
    fn name(&self) -> String {
        format!("Bernoulli, {} bits, σ = {}", self.0.len(), self.1)
    }

    fn of_discs(&self) -> Option<(&'static str, Value)> {
        Some(("bernoulli", json!({ "logits": self.0 })))
    }

    fn sites(&self) -> usize {
        self.0.len()
    }

    fn conditional(&self, _: &[u8], i: usize, log_weights: &mut [f64]) {
        log_weights.copy_from_slice(&[0.0, self.0[i]]);
    }

    fn log_density_of_block(&self, x: &[u8], block: &[usize]) -> f64 {
        block.iter().map(|&i| self.0[i] * f64::from(x[i])).sum()
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
        let (stays, starts) = ((BETA / (1.0 - BETA)).ln(), (ALPHA / (1.0 - ALPHA)).ln());
        // 1 for a zero and -1 for a one, which is the sign of the change.
        let signs: Vec<f64> = x.iter().map(|x| 1.0 - 2.0 * f64::from(*x)).collect();
        let rows = differences.chunks_exact_mut(2 * chains);
        for (l, row) in rows.enumerate() {
            let (rest, first) = (self.rest(x, l), l * chains);
            let own = &signs[first..first + chains];
            let seen = own.iter().zip(&self.weights);
            for (row, (sign, w)) in row.chunks_exact_mut(2).zip(seen) {
                row.fill((2.0 * rest * sign * w - w * w) / (2.0 * SIGMA * SIGMA));
            }
            let mut towards = |other: &[f64]| {
                let signs = own.iter().zip(other);
                for (row, (a, b)) in row.chunks_exact_mut(2).zip(signs) {
                    row.iter_mut().for_each(|d| *d -= stays * a * b);
                }
            };
            if l + 1 < self.seen.len() {
                towards(&signs[first + chains..first + 2 * chains]);
            }
            match l {
                0 => (row.chunks_exact_mut(2).zip(own))
                    .for_each(|(row, sign)| row.iter_mut().for_each(|d| *d += sign * starts)),
                _ => towards(&signs[first - chains..first]),
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

    fn of_discs(&self) -> Option<(&'static str, Value)> {
        let parameters = json!({ "weights": self.weights, "seen": self.seen });
        Some(("fhmm", parameters))
    }

    fn sites(&self) -> usize {
        self.seen.len() * self.weights.len()
    }

    fn conditional(&self, x: &[u8], i: usize, log_weights: &mut [f64]) {
        let rest = self.rest(x, i / self.weights.len());
        log_weights.fill(0.0);
        log_weights[usize::from(1 - x[i])] = self.flip(x, i, rest);
    }

    fn log_density_of_block(&self, x: &[u8], block: &[usize]) -> f64 {
        let chains = self.weights.len();
        let stays = |equal: bool| if equal { BETA.ln() } else { (1.0 - BETA).ln() };
        let (mut log_p, mut last) = (0.0, usize::MAX);
        for &i in block {
            let l = i / chains;
            if l != last {
                log_p -= self.rest(x, l).powi(2) / (2.0 * SIGMA * SIGMA);
                last = l;
            }
            log_p += match i.checked_sub(chains) {
                Some(j) => stays(x[i] == x[j]),
                None if x[i] == 1 => ALPHA.ln(),
                None => (1.0 - ALPHA).ln(),
            };
            // A later site of the block has this term, too.
            if i + chains < x.len() && !block.contains(&(i + chains)) {
                log_p += stays(x[i] == x[i + chains]);
            }
        }
        log_p
    }
}
