//! The Hamming ball sampler.

use helmholtz_random::Chance;

use super::Site;
use crate::kernels::state::mixture::uniform_index;
use crate::{Info, Kernel, Target};

/// Draws an auxiliary state u uniformly from the ball of radius m around the block of the present state. Then draws the
/// block from the target restricted to the ball around u:
///
/// > u ~ U{u : d(u, x) ≤ m},  y ~ p(y) \[d(y, u) ≤ m\] / Σ,
///
/// d the number of sites that differ. All balls have the same size, so p(x) × (uniform law of u) is a joint density of
/// which both are conditionals. So it is a Gibbs sampler that may change 2 m sites of the block. A step costs
/// Σ_{k≤m} binom(b, k) (C - 1)^k log-densities for b sites with C values. With m = b it is
/// [`BlockGibbs`](crate::BlockGibbs). (Titsias and Yau, 2017, "The Hamming ball sampler", §3.)
///
/// What is not finite is never drawn, and is counted; without a finite state in the ball, the state is left as it is.
///
/// ```
/// use helmholtz_samplers::random::{Purpose, Stream};
/// use helmholtz_samplers::{HammingBall, Kernel, Mixture};
///
/// // Two groups of six bits; each group in turn, within two changes of an auxiliary state.
/// let target = |x: &Vec<bool>| -0.5 * (x.iter().filter(|b| **b).count() as f64 - 4.0).powi(2);
/// let ball = |from: usize| HammingBall::new(target, (from..from + 6).collect(), 2, 2);
/// let kernel = Mixture::uniform(vec![ball(0), ball(6)])?;
/// kernel.step(&mut vec![false; 12], &mut Stream::new(7, Purpose::new("chain"), [0, 0]));
/// # Ok::<(), helmholtz_samplers::SamplerError>(())
/// ```
#[derive(Clone, Debug)]
pub struct HammingBall<T> {
    target: T,
    block: Vec<usize>,
    /// Changes, as shifts of the codes of the block's sites, modulo their number: the ball around any state.
    ball: Vec<Vec<usize>>,
    values: usize,
}

impl<T> HammingBall<T> {
    /// The kernel that moves the sites `block` of `values` values each, within `radius`.
    pub fn new(target: T, block: Vec<usize>, values: usize, radius: usize) -> Self {
        let mut ball = vec![(0, vec![0; block.len()])];
        for site in 0..block.len() {
            let inner = ball.iter().filter(|(changed, _)| *changed < radius);
            let further = inner.flat_map(|(changed, shifts)| {
                (1..values).map(move |by| {
                    let mut shifts = shifts.clone();
                    shifts[site] = by;
                    (changed + 1, shifts)
                })
            });
            let further: Vec<_> = further.collect();
            ball.extend(further);
        }
        Self {
            target,
            block,
            ball: ball.into_iter().map(|(_, shifts)| shifts).collect(),
            values,
        }
    }

    fn put<V: Site>(&self, state: &mut [V], centre: &[usize], shifts: &[usize]) {
        for ((&i, code), shift) in self.block.iter().zip(centre).zip(shifts) {
            state[i] = V::of_code((code + shift) % self.values);
        }
    }
}

impl<V: Site, C: Chance + ?Sized, T: Target<Vec<V>>> Kernel<Vec<V>, C> for HammingBall<T> {
    type Info = Info;

    /// # Panics
    /// If the state lacks a site of the block, as indexing does.
    fn step(&self, state: &mut Vec<V>, chance: &mut C) -> Info {
        let codes =
            |state: &[V]| -> Vec<usize> { self.block.iter().map(|&i| state[i].code()).collect() };
        let current = codes(state);
        let auxiliary = &self.ball[uniform_index(self.ball.len(), chance)];
        self.put(state, &current, auxiliary);
        let centre = codes(state);
        let log_p: Vec<f64> = self
            .ball
            .iter()
            .map(|shifts| {
                self.put(state, &centre, shifts);
                self.target.log_density(state)
            })
            .collect();
        let chosen = chance.choose(&log_p);
        match chosen {
            Some(chosen) => self.put(state, &centre, &self.ball[chosen]),
            None => self.put(state, &current, &self.ball[0]),
        }
        let non_finite = log_p.iter().filter(|l| !l.is_finite()).count();
        Info::of_move(chosen.is_some(), non_finite as u64)
    }
}
