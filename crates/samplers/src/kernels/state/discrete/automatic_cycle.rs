//! A cycle of scales that a warm-up finds.

use helmholtz_random::Chance;

use super::discrete_langevin::{Around, Proposal, settle};
use super::memory::Memory;
use super::{DifferenceTarget, DiscreteLangevin, Site, cyclical_step_sizes};
use crate::arguments::{at_least_one, open_unit};
use crate::{Info, Kernel, SamplerError};

/// A step size α and an exponent β, of the proposal q_i(v | x) ∝ t_iv^β exp(-\[v ≠ x_i\] / (2 α)).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// α, positive.
    pub step_size: f64,
    /// β in (0, 1): ½ is balanced for small steps; near 1 suits large ones, where each site follows its conditional.
    pub exponent: f64,
}

/// A cycle of [`DiscreteLangevin`] kernels of different scales, from bold to timid: large ones leave a mode, small ones
/// explore it. One step makes one move of each scale, n moves in all.
///
/// [`warm_up`](Self::warm_up) finds the scales by itself, after Pynadath, Bhattacharya, Hariharan and Zhang (2024,
/// "Gradient-based discrete sampling with automatic cyclical scheduling", Algorithm 2). The scales then stay as they
/// are: every move is in detailed balance with the target, so that the cycle leaves it invariant.
///
/// ```
/// use helmholtz_samplers::random::{Purpose, Stream};
/// use helmholtz_samplers::{AutomaticCycle, EachChange, Kernel};
///
/// // Two modes: few of twenty bits set, and many.
/// let count = |x: &Vec<bool>| x.iter().filter(|b| **b).count() as f64;
/// let target = |x: &Vec<bool>| 0.08 * (count(x) - 10.0).powi(2);
/// let (mut x, mut stream) = (vec![false; 20], Stream::new(7, Purpose::new("chain"), [0, 0]));
/// let cycle = AutomaticCycle::warm_up(EachChange::new(target, 2), 8, 3000, &mut x, &mut stream)?;
/// assert!(cycle.scales().is_sorted_by(|a, b| a.step_size >= b.step_size));
/// cycle.step(&mut x, &mut stream); // eight moves
/// # Ok::<(), helmholtz_samplers::SamplerError>(())
/// ```
#[derive(Clone, Debug)]
pub struct AutomaticCycle<T> {
    target: T,
    scales: Vec<Scale>,
    memory: Memory<Around>,
}

/// The acceptance at which the ends of the cycle are.
const ACCEPTANCE: f64 = 0.5;

/// A step size beyond which the distance no longer counts: exp(-1/(2 · 100)) is nearly 1.
const LARGEST: f64 = 100.0;

/// The exponents that are tried: ½, 0.55, ..., 0.95.
fn exponents() -> impl Iterator<Item = f64> {
    (0..10).map(|i| 0.5 + 0.05 * f64::from(i))
}

impl<T> AutomaticCycle<T> {
    /// The cycle of these scales, in order.
    ///
    /// # Errors
    /// [`SamplerError::Parameter`] without scales, and unless each step size is positive and finite and each exponent in
    /// (0, 1).
    pub fn new(target: T, scales: Vec<Scale>) -> Result<Self, SamplerError> {
        at_least_one("the number of scales", scales.len())?;
        for scale in &scales {
            crate::arguments::positive("a step size", scale.step_size)?;
            open_unit("an exponent", scale.exponent)?;
        }
        Ok(Self {
            target,
            scales,
            memory: Memory::default(),
        })
    }

    /// The scales, in the order of the moves.
    pub fn scales(&self) -> &[Scale] {
        &self.scales
    }

    /// Runs about `transitions` transitions from `state` while finding a cycle of `scales` scales, and returns it.
    ///
    /// A third of them tunes the largest step size, with β = 0.95, to an acceptance of ½, and a third the smallest, with
    /// β = ½. Between the two the step sizes fall along a cosine ([`cyclical_step_sizes`]). The last third tries ten
    /// exponents for each, and takes that with the most accepted changes a move on average, where the paper takes that
    /// with the highest acceptance. The transitions are burn-in: do not average over them.
    ///
    /// # Errors
    /// [`SamplerError::Parameter`] without scales.
    pub fn warm_up<V: Site>(
        target: T,
        scales: usize,
        transitions: usize,
        state: &mut Vec<V>,
        chance: &mut (impl Chance + ?Sized),
    ) -> Result<Self, SamplerError>
    where
        T: DifferenceTarget<V>,
    {
        let third = transitions / 3;
        let mut end = |exponent: f64, from: f64| -> Result<f64, SamplerError> {
            let log_g = |log_t| exponent * log_t;
            let kernel = DiscreteLangevin::with_balancing(&target, log_g, from)?;
            let found = kernel.warm_up(ACCEPTANCE, third, state, chance)?;
            Ok(found.step_size().min(LARGEST))
        };
        let largest = end(0.95, 1.0)?;
        let smallest = end(0.5, largest)?.min(largest);
        let trials = third / (exponents().count() * scales.max(1));
        let mut around = Around::default();
        let found = cyclical_step_sizes(largest, smallest, scales)?
            .into_iter()
            .map(|step_size| {
                let mut best = (f64::NEG_INFINITY, 0.5);
                for exponent in exponents() {
                    let scale = Scale {
                        step_size,
                        exponent,
                    };
                    let mut changes = 0.0;
                    around.forget_laws();
                    for _ in 0..trials.max(1) {
                        let (_, accepted) = scale.step(&target, &mut around, state, chance);
                        changes += accepted;
                    }
                    if changes > best.0 {
                        best = (changes, exponent);
                    }
                }
                Scale {
                    step_size,
                    exponent: best.1,
                }
            });
        let found = found.collect();
        Self::new(target, found)
    }
}

impl Scale {
    /// One move of this scale, with the accepted changes that were to be expected.
    fn step<V: Site>(
        self,
        target: &impl DifferenceTarget<V>,
        around: &mut Around,
        state: &mut Vec<V>,
        chance: &mut (impl Chance + ?Sized),
    ) -> (Info, f64) {
        let proposal = Proposal {
            target,
            log_g: |log_t| self.exponent * log_t,
            step_size: self.step_size,
        };
        let proposed = proposal.propose(around, state, chance);
        let changes = proposed.accepted_changes();
        (settle(proposed, around, state, chance), changes)
    }
}

impl<V, C, T> Kernel<Vec<V>, C> for AutomaticCycle<T>
where
    V: Site,
    C: Chance + ?Sized,
    T: DifferenceTarget<V>,
{
    type Info = Info;

    fn step(&self, state: &mut Vec<V>, chance: &mut C) -> Info {
        let mut around = self.memory.take(state);
        let moves = self.scales.iter().map(|scale| {
            around.forget_laws();
            scale.step(&self.target, &mut around, state, chance).0
        });
        let info = moves.sum();
        around.forget_laws();
        self.memory.keep(around);
        info
    }
}

#[cfg(test)]
mod tests {
    use helmholtz_random::{Purpose, Stream};

    use super::super::tests::{Counted, Ring, stream};
    use super::*;
    use crate::EachChange;

    #[test]
    fn what_makes_no_cycle_is_refused() {
        let target = |_: &Vec<bool>| 0.0;
        let with = |step_size, exponent| {
            let scale = Scale {
                step_size,
                exponent,
            };
            AutomaticCycle::new(target, vec![scale])
        };
        assert!(with(0.3, 0.5).is_ok());
        for (step_size, exponent) in [(0.0, 0.5), (f64::NAN, 0.5), (0.3, 1.0), (0.3, 0.0)] {
            assert!(with(step_size, exponent).is_err());
        }
        assert!(AutomaticCycle::new(target, Vec::new()).is_err());
        let mut stream = Stream::new(1, Purpose::new("test"), [0, 0]);
        let target = EachChange::new(target, 2);
        let none = AutomaticCycle::warm_up(target, 0, 30, &mut vec![false; 2], &mut stream);
        assert!(none.is_err());
    }

    /// Independent bits: each proposal of β = 0.95 and a large step is nearly its conditional, and nearly all are accepted.
    #[test]
    fn the_largest_step_of_independent_bits_follows_their_conditionals() {
        let target = |x: &Vec<bool>| 1.3 * x.iter().filter(|b| **b).count() as f64;
        let mut stream = Stream::new(1, Purpose::new("test"), [1, 0]);
        let mut x = vec![false; 30];
        let cycle =
            AutomaticCycle::warm_up(EachChange::new(target, 2), 4, 3000, &mut x, &mut stream);
        let cycle = cycle.expect("a cycle");
        let largest = cycle.scales()[0];
        assert_eq!(largest.step_size, LARGEST);
        assert!(largest.exponent >= 0.9, "{:?}", cycle.scales());
    }
    /// A third of the transitions each for the largest step, the smallest, and the exponents; the ends are those of kernels that are
    /// tuned alone, by the same draws.
    #[test]
    fn the_warm_up_tunes_the_ends_first_and_takes_the_transitions_it_is_given() {
        let ring = Ring::new(40, 2);
        let target = Counted::new(EachChange::new(&ring, 2));
        let (mut x, mut stream) = (vec![0u8; 40], stream(50));
        let cycle = AutomaticCycle::warm_up(&target, 4, 3000, &mut x, &mut stream).unwrap();
        // An evaluation a transition, and one where nothing is remembered.
        assert_eq!(target.evaluations(), 3 * 1000 + 3);
        let (mut x, mut stream) = (vec![0u8; 40], super::super::tests::stream(50));
        let mut end = |exponent: f64, from: f64| {
            let log_g = move |log_t: f64| exponent * log_t;
            let kernel = DiscreteLangevin::with_balancing(&target, log_g, from).unwrap();
            let found = kernel.warm_up(ACCEPTANCE, 1000, &mut x, &mut stream);
            found.unwrap().step_size()
        };
        let largest = end(0.95, 1.0);
        let ends = [largest, end(0.5, largest)];
        let found = cycle.scales();
        let found = [found[0].step_size, found[3].step_size];
        for (found, expected) in found.iter().zip(ends) {
            assert!(
                (found / expected - 1.0).abs() < 1e-12,
                "{found}, not {expected}"
            );
        }
        assert!(ends[0] < LARGEST && ends[1] < ends[0], "{ends:?}");
    }
}
