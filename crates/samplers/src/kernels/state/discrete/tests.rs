//! What is remembered of a step against what is computed anew, for each kernel that remembers.

use std::sync::atomic::{AtomicUsize, Ordering};

use helmholtz_random::{Purpose, Stream};

use super::balancing_functions::barker;
use super::*;
use crate::{Info, Kernel, Target};

/// ln p = Σ h_i(x_i) + J \[x_i = x_{i+1}\] on a ring.
pub(super) struct Ring {
    pub values: usize,
    field: Vec<f64>,
}

impl Ring {
    pub fn new(sites: usize, values: usize) -> Self {
        Self::of_strength(sites, values, 1.0)
    }

    /// With a field so many times as strong.
    pub fn of_strength(sites: usize, values: usize, strength: f64) -> Self {
        let field = (0..sites * values)
            .map(|i| strength * (1.7 * i as f64).sin())
            .collect();
        Self { values, field }
    }
}

impl Target<Vec<u8>> for &Ring {
    fn log_density(&self, x: &Vec<u8>) -> f64 {
        let equal = |i: usize| f64::from(x[i] == x[(i + 1) % x.len()]);
        let site = |i: usize| self.field[i * self.values + usize::from(x[i])] + 0.9 * equal(i);
        (0..x.len()).map(site).sum()
    }
}

pub(super) fn stream(which: usize) -> Stream {
    Stream::new(1, Purpose::new("discrete"), [which as u64, 0])
}

/// The ring, with differences from the two neighbours; it tells what is other after these changes, or does not.
struct Local {
    ring: Ring,
    tells: fn(&[usize]) -> bool,
}

impl Local {
    fn row(&self, x: &[u8], i: usize) -> Vec<f64> {
        let (n, values) = (x.len(), self.ring.values);
        let with = |v: u8| {
            let equal = [x[(i + 1) % n], x[(i + n - 1) % n]].map(|other| f64::from(other == v));
            self.ring.field[i * values + usize::from(v)] + 0.9 * (equal[0] + equal[1])
        };
        (0..values as u8).map(|v| with(v) - with(x[i])).collect()
    }
}

impl DifferenceTarget<u8> for Local {
    fn values(&self) -> usize {
        self.ring.values
    }

    fn log_density(&self, x: &[u8]) -> f64 {
        (&self.ring).log_density(&x.to_vec())
    }

    fn log_density_and_differences(&self, x: &[u8], differences: &mut [f64]) -> f64 {
        for (i, row) in differences.chunks_exact_mut(self.ring.values).enumerate() {
            row.copy_from_slice(&self.row(x, i));
        }
        self.log_density(x)
    }

    fn log_density_ratio_and_differences(
        &self,
        from: &[u8],
        to: &[u8],
        changes: &[usize],
        sites: &mut Vec<usize>,
        differences: &mut Vec<f64>,
    ) -> Option<f64> {
        let n = from.len();
        let near = changes.iter().flat_map(|i| [i + n - 1, *i, i + 1]);
        sites.extend(near.map(|i| i % n));
        sites.sort_unstable();
        sites.dedup();
        differences.extend(sites.iter().flat_map(|i| self.row(to, *i)));
        (self.tells)(changes).then(|| self.log_density(to) - self.log_density(from))
    }
}

/// Counts evaluations of all differences.
pub(super) struct Counted<T>(T, AtomicUsize);

impl<T> Counted<T> {
    pub fn new(target: T) -> Self {
        Self(target, AtomicUsize::new(0))
    }

    /// Since they were last asked for.
    pub fn evaluations(&self) -> usize {
        self.1.swap(0, Ordering::Relaxed)
    }
}

impl<T: DifferenceTarget<u8>> DifferenceTarget<u8> for Counted<T> {
    fn values(&self) -> usize {
        self.0.values()
    }

    fn log_density(&self, state: &[u8]) -> f64 {
        self.0.log_density(state)
    }

    fn log_density_and_differences(&self, state: &[u8], differences: &mut [f64]) -> f64 {
        self.1.fetch_add(1, Ordering::Relaxed);
        self.0.log_density_and_differences(state, differences)
    }
}

type Dynamic<'a> = Box<dyn Kernel<Vec<u8>, Stream, Info = Info> + 'a>;

/// How many kernels remember, and each of them by its number.
const KERNELS: usize = 5;

fn kernel<'a>(which: usize, target: impl DifferenceTarget<u8> + 'a) -> Dynamic<'a> {
    match which {
        0 => Box::new(DiscreteLangevin::new(target, 0.3).unwrap()),
        1 => Box::new(LocallyBalanced::gibbs_with_gradients(target)),
        2 => Box::new(LocallyBalanced::new(target, barker)),
        3 => Box::new(PathAuxiliary::new(target, barker, 3.5).unwrap()),
        _ => {
            let scale = |step_size, exponent| Scale {
                step_size,
                exponent,
            };
            let scales = vec![scale(0.9, 0.8), scale(0.2, 0.5)];
            Box::new(AutomaticCycle::new(target, scales).unwrap())
        }
    }
}

/// One kernel for all steps, of two chains that take turns and are moved by hand, beside a new one for each.
#[test]
fn what_is_remembered_changes_no_bit() {
    for (which, values) in (0..KERNELS).flat_map(|which| [(which, 2), (which, 3)]) {
        let ring = Ring::new(30, values);
        let new = || kernel(which, EachChange::new(&ring, values));
        let old = new();
        let mut chains = [vec![0u8; 30], vec![1u8; 30]].map(|x| (x.clone(), x));
        let (mut one, mut other) = (stream(10), stream(10));
        let (mut accepted, mut moves) = (0, 0);
        for step in 0..300 {
            for (x, y) in &mut chains {
                let info = old.step(x, &mut one);
                assert_eq!(info, new().step(y, &mut other), "kernel {which}");
                assert_eq!(x, y, "kernel {which}");
                accepted += info.accepted;
                moves += info.moves;
            }
            if step % 7 == 3 {
                let (x, y) = &mut chains[0];
                x[step % 30] = (x[step % 30] + 1) % values as u8;
                y.clone_from(x);
            }
        }
        assert!(
            (moves / 6..moves).contains(&accepted),
            "kernel {which}: {accepted} of {moves}"
        );
    }
}

/// A target that tells what is other after a change, always or now and then, beside the same one that does not.
#[test]
fn what_a_target_tells_changes_no_move() {
    let always: fn(&[usize]) -> bool = |_| true;
    let now_and_then: fn(&[usize]) -> bool = |changes| changes.iter().sum::<usize>() % 2 == 0;
    for (which, values) in (0..KERNELS).flat_map(|which| [(which, 2), (which, 3)]) {
        for tells in [always, now_and_then] {
            let with = |tells| {
                let ring = Ring::new(60, values);
                kernel(which, Local { ring, tells })
            };
            let (told, looked) = (with(tells), with(|_| false));
            let (mut x, mut y) = (vec![0u8; 60], vec![0u8; 60]);
            let (mut one, mut other) = (stream(30), stream(30));
            let (mut accepted, mut moves) = (0, 0);
            for _ in 0..500 {
                let info = told.step(&mut x, &mut one);
                assert_eq!(info, looked.step(&mut y, &mut other), "kernel {which}");
                assert_eq!(x, y, "kernel {which}");
                accepted += info.accepted;
                moves += info.moves;
            }
            assert!(
                (moves / 10..moves).contains(&accepted),
                "kernel {which}: {accepted} of {moves}"
            );
        }
    }
}

#[test]
fn a_step_of_a_chain_that_nothing_else_moves_costs_one_evaluation() {
    for which in 0..KERNELS {
        let ring = Ring::new(120, 2);
        let target = Counted::new(EachChange::new(&ring, 2));
        let mut stream = stream(20);
        // A cycle makes two moves.
        let moves = if which == 4 { 2 } else { 1 };
        // Of nine chains that take turns each is forgotten before its turn comes.
        for (chains, evaluations) in [(1, 1), (8, 8), (9, 18)] {
            let kernel = kernel(which, &target);
            let mut all: Vec<Vec<u8>> = (0..chains)
                .map(|c| (0..120).map(|i| ((5 * i + c) % 11 % 2) as u8).collect())
                .collect();
            let mut round = || {
                all.iter_mut().for_each(|x| {
                    kernel.step(x, &mut stream);
                });
                target.evaluations()
            };
            let again = evaluations + chains * (moves - 1);
            assert_eq!(
                (round(), round()),
                (chains * (moves + 1), again),
                "kernel {which}"
            );
        }
    }
}

#[test]
fn a_reference_to_a_target_tells_what_the_target_does_and_kernels_can_be_printed() {
    let (ring, tells): (_, fn(&[usize]) -> bool) = (Ring::new(9, 2), |_| true);
    let local = &Local { ring, tells };
    let (from, mut to) = ([0u8; 9], [0u8; 9]);
    to[4] = 1;
    let (mut sites, mut differences) = (Vec::new(), Vec::new());
    let ratio = DifferenceTarget::log_density_ratio_and_differences(
        &local,
        &from,
        &to,
        &[4],
        &mut sites,
        &mut differences,
    );
    let expected = local.log_density(&to) - local.log_density(&from);
    assert_eq!((ratio, sites.as_slice()), (Some(expected), &[3, 4, 5][..]));
    assert_eq!(differences.len(), 6);
    let flat: fn(&Vec<u8>) -> f64 = |_| 0.0;
    let kernel = LocallyBalanced::gibbs_with_gradients(EachChange::new(flat, 2));
    let printed = format!("{kernel:?}");
    assert!(printed.contains("memory: Memory"), "{printed}");
}

/// A target with differences that are not finite at the first site, here and there, that tells what a change leaves behind or does not.
struct Broken(Local, f64);

impl DifferenceTarget<u8> for Broken {
    fn values(&self) -> usize {
        self.0.values()
    }

    fn log_density(&self, x: &[u8]) -> f64 {
        self.0.log_density(x)
    }

    fn log_density_and_differences(&self, x: &[u8], differences: &mut [f64]) -> f64 {
        let log_p = self.0.log_density_and_differences(x, differences);
        differences[..self.values()].fill(self.1);
        log_p
    }

    fn log_density_ratio_and_differences(
        &self,
        from: &[u8],
        to: &[u8],
        changes: &[usize],
        sites: &mut Vec<usize>,
        differences: &mut Vec<f64>,
    ) -> Option<f64> {
        let ratio =
            (self.0).log_density_ratio_and_differences(from, to, changes, sites, differences);
        if sites.first() == Some(&0) {
            differences[..self.values()].fill(self.1);
        }
        ratio
    }
}

/// Two values of three are impossible by a difference of NaN or +inf at one site: two here, and two there. Of -inf none is counted.
#[test]
fn differences_that_are_not_finite_are_counted_at_both_ends_and_never_made() {
    for (which, tells) in (0..4).flat_map(|which| [(which, false), (which, true)]) {
        for (difference, expected) in [(f64::NAN, 4), (f64::INFINITY, 4), (f64::NEG_INFINITY, 0)] {
            let tells: fn(&[usize]) -> bool = match tells {
                true => |_| true,
                false => |_| false,
            };
            let ring = Ring::new(20, 3);
            let kernel = kernel(which, Broken(Local { ring, tells }, difference));
            let (mut x, mut stream) = (vec![1u8; 20], stream(40));
            for _ in 0..50 {
                let info = kernel.step(&mut x, &mut stream);
                assert_eq!(info.non_finite, expected, "kernel {which}");
                assert_eq!(x[0], 1);
            }
        }
    }
}

#[test]
fn a_state_without_sites_stays() {
    for which in 0..KERNELS {
        let kernel = kernel(which, EachChange::new(|_: &Vec<u8>| 0.0, 2));
        let mut x = Vec::new();
        for _ in 0..3 {
            kernel.step(&mut x, &mut stream(60));
        }
        assert!(x.is_empty());
    }
}

/// Two bits of a block, of which one configuration is impossible.
#[test]
fn blocks_and_balls_draw_their_conditional_law_and_count_what_is_impossible() {
    let log_p = [0.3, f64::NEG_INFINITY, -0.4, 0.9];
    let target = move |x: &Vec<u8>| log_p[usize::from(x[0]) + 2 * usize::from(x[1])];
    let total: f64 = log_p.iter().map(|l| l.exp()).sum();
    let block = BlockGibbs::new(target, vec![0, 1], vec![0u8, 1]);
    let ball = HammingBall::new(target, vec![0, 1], 2, 2);
    let mut law = [[0.0; 4]; 2];
    for (kernel, law) in law.iter_mut().enumerate() {
        let step = |chance: &mut helmholtz_random::Enumerator| {
            let mut x = vec![0u8, 0];
            let info = match kernel {
                0 => block.step(&mut x, chance),
                _ => ball.step(&mut x, chance),
            };
            assert_eq!((info.non_finite, info.accepted), (1, 1));
            usize::from(x[0]) + 2 * usize::from(x[1])
        };
        for (probability, state) in helmholtz_random::enumerate(step) {
            law[state] += probability;
        }
    }
    for law in law {
        for (found, log_p) in law.into_iter().zip(log_p) {
            assert!((found - log_p.exp() / total).abs() < 1e-14, "{law:?}");
        }
    }
}
