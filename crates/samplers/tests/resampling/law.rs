//! The exact law of a resampling scheme.

use std::collections::{BTreeMap, HashSet};
use std::convert::Infallible;

use helmholtz_random::{Enumerator, enumerate};
use helmholtz_samplers::resampling::*;
use rand_core::TryRng;

/// Rounding may add up to this.
pub const TOLERANCE: f64 = 1e-12;

/// Values that a uniform can take.
const LATTICE: u64 = 1 << 53;

/// A generator that gives the uniforms it was told, then zeros, and counts them.
pub struct Uniforms {
    lattice: Vec<u64>,
    pub used: usize,
}

impl Uniforms {
    pub fn zeros() -> Self {
        Self::on_lattice(Vec::new())
    }

    /// The uniforms k / 2^53.
    pub fn on_lattice(lattice: Vec<u64>) -> Self {
        Self { lattice, used: 0 }
    }
}

impl TryRng for Uniforms {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        unreachable!("uniforms are drawn from u64s")
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        self.used += 1;
        Ok(self.lattice.get(self.used - 1).map_or(0, |k| k << 11))
    }

    fn try_fill_bytes(&mut self, _: &mut [u8]) -> Result<(), Infallible> {
        unreachable!("uniforms are drawn from u64s")
    }
}

/// The ancestors in each slot, with their probability.
pub type Law = BTreeMap<Vec<u32>, f64>;

/// How the ancestors depend on the uniforms.
#[derive(Clone, Copy)]
pub enum Shape {
    /// In steps, at places that do not depend on the other uniforms of the same piece.
    Steps,
    /// The uniforms make sorted ones, but for the last so many, which are for steps.
    ///
    /// The least of n sorted uniforms is 1 - v^{1/n}. In w = v^{1/n} the probabilities of what follows are polynomials
    /// in each piece of it, of degree below n, which Gauss and Legendre's rule integrates without error.
    Sorted(usize),
}

/// The law of `draw` over its independent uniforms.
pub fn law(shape: Shape, draw: &impl Fn(&mut Uniforms) -> Vec<u32>) -> Law {
    let mut zeros = Uniforms::zeros();
    draw(&mut zeros);
    let mut law = Law::new();
    integrate(shape, draw, &mut Vec::new(), zeros.used, 1.0, &mut law);
    let total: f64 = law.values().sum();
    assert!((total - 1.0).abs() < TOLERANCE, "probabilities sum to one");
    law
}

fn integrate(
    shape: Shape,
    draw: &impl Fn(&mut Uniforms) -> Vec<u32>,
    prefix: &mut Vec<u64>,
    left: usize,
    probability: f64,
    law: &mut Law,
) {
    let answer = |lattice: Vec<u64>| {
        let mut uniforms = Uniforms::on_lattice(lattice);
        let ancestors = draw(&mut uniforms);
        assert_eq!(uniforms.used, prefix.len() + left, "as many uniforms");
        ancestors
    };
    if left == 0 {
        *law.entry(answer(prefix.clone())).or_default() += probability;
        return;
    }
    let sorted = match shape {
        Shape::Sorted(others) => left.saturating_sub(others),
        Shape::Steps => 0,
    };
    // What the uniform decides, seen through what it leads to: with zeros after it, sorted uniforms show the ancestor
    // it has chosen; a step shows with one or another of several continuations.
    let continuations = if sorted > 0 { 1 } else { 5 };
    let decided = |k: u64| -> Vec<Vec<u32>> {
        (0..continuations)
            .map(|i| {
                let rest =
                    (1..left as u64).map(|l| i * (LATTICE / 5 + l * 0x9e37_79b9_7f4a) % LATTICE);
                answer(prefix.iter().copied().chain([k]).chain(rest).collect())
            })
            .collect()
    };
    for (from, to) in pieces(&decided) {
        let share = |k: u64| k as f64 / LATTICE as f64;
        let nodes: Vec<(u64, f64)> = if sorted > 1 {
            let n = sorted as i32;
            let (low, high) = (
                (1.0 - share(to)).powf(1.0 / f64::from(n)),
                (1.0 - share(from)).powf(1.0 / f64::from(n)),
            );
            gauss_legendre(sorted)
                .into_iter()
                .map(|(node, weight)| {
                    let w = low + (high - low) * node;
                    let k = ((1.0 - w.powi(n)) * LATTICE as f64) as u64;
                    let density = f64::from(n) * w.powi(n - 1);
                    (k.clamp(from, to - 1), weight * density * (high - low))
                })
                .collect()
        } else {
            vec![(from + (to - from) / 2, share(to - from))]
        };
        for (k, weight) in nodes {
            prefix.push(k);
            integrate(shape, draw, prefix, left - 1, probability * weight, law);
            prefix.pop();
        }
    }
}

/// The half-open runs of the lattice on which a step function is constant. It must not come back to a value
/// within a sixteenth of the lattice.
pub fn pieces<T: PartialEq>(f: &impl Fn(u64) -> T) -> Vec<(u64, u64)> {
    /// The starts of runs in (from, to].
    fn starts<T: PartialEq>(
        f: &impl Fn(u64) -> T,
        (from, at_from): (u64, &T),
        (to, at_to): (u64, &T),
        found: &mut Vec<u64>,
    ) {
        if at_from == at_to {
            return;
        }
        if to - from == 1 {
            found.push(to);
            return;
        }
        let middle = from + (to - from) / 2;
        let at_middle = f(middle);
        starts(f, (from, at_from), (middle, &at_middle), found);
        starts(f, (middle, &at_middle), (to, at_to), found);
    }
    let mut found = vec![0];
    let grid: Vec<u64> = (0..16)
        .map(|i| i * (LATTICE / 16))
        .chain([LATTICE - 1])
        .collect();
    for pair in grid.windows(2) {
        starts(
            f,
            (pair[0], &f(pair[0])),
            (pair[1], &f(pair[1])),
            &mut found,
        );
    }
    found.push(LATTICE);
    found.windows(2).map(|w| (w[0], w[1])).collect()
}

/// Gauss and Legendre's nodes and weights on [0, 1], by Newton's method.
fn gauss_legendre(n: usize) -> Vec<(f64, f64)> {
    (0..n)
        .map(|i| {
            let mut x = (std::f64::consts::PI * (i as f64 + 0.75) / (n as f64 + 0.5)).cos();
            let mut slope = 0.0;
            for _ in 0..100 {
                let (mut before, mut p) = (1.0, x);
                for k in 2..=n {
                    let k = k as f64;
                    (before, p) = (p, ((2.0 * k - 1.0) * x * p - (k - 1.0) * before) / k);
                }
                slope = n as f64 * (x * p - before) / (x * x - 1.0);
                x -= p / slope;
            }
            (0.5 + 0.5 * x, 1.0 / ((1.0 - x * x) * slope * slope))
        })
        .collect()
}

#[test]
fn the_quadrature_is_exact_for_polynomials() {
    for power in 0..16 {
        let integral: f64 = gauss_legendre(8)
            .iter()
            .map(|(x, w)| w * x.powi(power))
            .sum();
        assert!((integral - 1.0 / f64::from(power + 1)).abs() < 1e-14);
    }
}

/// The ancestors that `resampler` gives, or a panic.
pub fn ancestors<C>(
    resampler: &(impl Resampler<C> + ?Sized),
    log_weights: &[f64],
    slots: usize,
    chance: &mut C,
) -> Vec<u32> {
    let mut ancestors = vec![u32::MAX; slots];
    resampler
        .resample(log_weights, chance, &mut ancestors)
        .expect("weights");
    ancestors
}

pub fn law_of_steps(
    resampler: &impl Resampler<Uniforms>,
    log_weights: &[f64],
    slots: usize,
) -> Law {
    law(Shape::Steps, &|u| {
        ancestors(resampler, log_weights, slots, u)
    })
}

pub fn law_of_sorted(
    resampler: &impl Resampler<Uniforms>,
    log_weights: &[f64],
    slots: usize,
) -> Law {
    law(Shape::Sorted(0), &|u| {
        ancestors(resampler, log_weights, slots, u)
    })
}

pub fn law_of_coins(
    resampler: &impl Resampler<Enumerator>,
    log_weights: &[f64],
    slots: usize,
) -> Law {
    let mut law = Law::new();
    for (probability, drawn) in enumerate(|chance| ancestors(resampler, log_weights, slots, chance))
    {
        *law.entry(drawn).or_default() += probability;
    }
    law
}

/// The laws of all schemes of the crate, by name.
pub fn all_laws(log_weights: &[f64], slots: usize) -> [(&'static str, Law); 6] {
    [
        (
            "multinomial",
            law_of_sorted(&Multinomial, log_weights, slots),
        ),
        (
            "by choice",
            law_of_coins(&MultinomialByChoice, log_weights, slots),
        ),
        ("stratified", law_of_steps(&Stratified, log_weights, slots)),
        ("systematic", law_of_steps(&Systematic, log_weights, slots)),
        ("residual", law_of_sorted(&Residual, log_weights, slots)),
        ("ssp", law_of_coins(&Ssp, log_weights, slots)),
    ]
}

pub fn counts(ancestors: &[u32], particles: usize) -> Vec<usize> {
    let mut counts = vec![0; particles];
    for &a in ancestors {
        counts[a as usize] += 1;
    }
    counts
}

/// The law of the copies of each particle.
pub fn law_of_counts(law: &Law, particles: usize) -> BTreeMap<Vec<usize>, f64> {
    let mut of_counts = BTreeMap::new();
    for (ancestors, probability) in law {
        *of_counts.entry(counts(ancestors, particles)).or_default() += probability;
    }
    of_counts
}

/// max |E[#j] - M W_j|.
pub fn mean_error(law: &Law, weights: &[f64], slots: usize) -> f64 {
    let total: f64 = weights.iter().sum();
    let mut error = 0.0;
    for (j, w) in weights.iter().enumerate() {
        let mean: f64 = law
            .iter()
            .map(|(a, p)| p * a.iter().filter(|&&a| a as usize == j).count() as f64)
            .sum();
        error = f64::max(error, (mean - slots as f64 * w / total).abs());
    }
    error
}

/// max |P(A) - Q(A)|.
pub fn difference<K: Ord + Clone + std::hash::Hash>(
    a: &BTreeMap<K, f64>,
    b: &BTreeMap<K, f64>,
) -> f64 {
    let keys: HashSet<&K> = a.keys().chain(b.keys()).collect();
    let get = |law: &BTreeMap<K, f64>, key| law.get(key).copied().unwrap_or(0.0);
    keys.into_iter()
        .map(|key| (get(a, key) - get(b, key)).abs())
        .fold(0.0, f64::max)
}

/// A resampling problem: weights, small whole numbers, and how many slots to fill.
pub struct Case {
    pub weights: &'static [u32],
    pub slots: usize,
}

/// Problems with and without zeros, at the ends and between; whole and broken expectations; N = M and not.
pub const CASES: [Case; 12] = [
    Case {
        weights: &[1, 2, 3],
        slots: 3,
    },
    Case {
        weights: &[4, 1, 3, 2],
        slots: 3,
    },
    Case {
        weights: &[0, 3, 0, 1, 0],
        slots: 3,
    },
    Case {
        weights: &[1, 1, 1],
        slots: 3,
    },
    Case {
        weights: &[1, 1, 1, 1, 1],
        slots: 2,
    },
    Case {
        weights: &[5, 1, 1, 1],
        slots: 4,
    },
    Case {
        weights: &[1, 2, 1],
        slots: 4,
    },
    Case {
        weights: &[2, 7],
        slots: 4,
    },
    Case {
        weights: &[0, 1, 0],
        slots: 3,
    },
    Case {
        weights: &[1],
        slots: 2,
    },
    Case {
        weights: &[1, 1_000_000, 1],
        slots: 2,
    },
    Case {
        weights: &[3, 0, 0, 4],
        slots: 1,
    },
];

impl Case {
    pub fn weights(&self) -> Vec<f64> {
        self.weights.iter().map(|&w| f64::from(w)).collect()
    }

    /// Known up to a constant only.
    pub fn log_weights(&self) -> Vec<f64> {
        self.weights().iter().map(|w| w.ln() - 731.5).collect()
    }

    /// M W_j.
    pub fn expected(&self) -> Vec<f64> {
        let total: f64 = self.weights().iter().sum();
        self.weights()
            .iter()
            .map(|w| w * self.slots as f64 / total)
            .collect()
    }
}
