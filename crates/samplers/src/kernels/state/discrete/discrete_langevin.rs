//! The discrete Langevin proposal: DMALA and DULA.

use helmholtz_random::Chance;

use super::balancing::square_root;
use super::neighbourhood::{Neighbourhood, log_acceptance};
use super::{DifferenceTarget, Site};
use crate::arguments::{open_unit, positive};
use crate::kernels::state::dual_averaging::DualAveraging;
use crate::{Info, Kernel, SamplerError};

/// Proposes new values for all sites at once, independently given the state, each from
///
/// > q_i(v | x) ∝ g(t_iv) exp(-\[v ≠ x_i\] / (2 α)),  t_iv ≈ p(x with x_i = v) / p(x),
///
/// with g(t) = √t unless another is given, and accepts them together with probability min(1, p(y) q(x | y) / (p(x)
/// q(y | x))): the discrete Metropolis-adjusted Langevin algorithm, DMALA. (Zhang, Liu and Liu, 2022, "A
/// Langevin-like sampler for discrete distributions", eqs. 3-5, with the distance of two values 1.)
///
/// The step size α says how many sites change: α → 0 none, α → ∞ all that like to. Find it by
/// [`warm_up`](Self::warm_up). A step costs two evaluations of all differences, however many sites change.
///
/// [`unadjusted`](Self::unadjusted) leaves out the acceptance test (DULA): half the cost, and a stationary law that is
/// **not** p, but for α → 0.
///
/// A value that is impossible given the other sites is not proposed. A current state of probability zero is left for the
/// first possible one proposed.
///
/// ```
/// use helmholtz_samplers::random::{Purpose, Stream};
/// use helmholtz_samplers::{DiscreteLangevin, EachChange, Kernel};
///
/// let target = |x: &Vec<bool>| -0.3 * (x.iter().filter(|b| **b).count() as f64 - 5.0).powi(2);
/// let (mut x, mut stream) = (vec![false; 20], Stream::new(7, Purpose::new("chain"), [0, 0]));
/// let kernel = DiscreteLangevin::new(EachChange::new(target, 2), 0.2)?
///     .warm_up(0.574, 200, &mut x, &mut stream)?;
/// kernel.step(&mut x, &mut stream);
/// # Ok::<(), helmholtz_samplers::SamplerError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct DiscreteLangevin<T, G = fn(f64) -> f64> {
    target: T,
    log_g: G,
    step_size: f64,
    adjusted: bool,
}

impl<T> DiscreteLangevin<T> {
    /// DMALA with step size α.
    ///
    /// # Errors
    /// [`SamplerError::Parameter`] unless `step_size` is positive and finite.
    pub fn new(target: T, step_size: f64) -> Result<Self, SamplerError> {
        Self::with_balancing(target, square_root, step_size)
    }
}

/// A proposal of all sites, before the coin is tossed.
struct Move<V> {
    to: Vec<V>,
    /// ln of the acceptance probability, not cut at 0; -inf for a proposal that must be rejected.
    log_ratio: f64,
    non_finite: u64,
}

impl<T, G: Fn(f64) -> f64> DiscreteLangevin<T, G> {
    /// The kernel with another function g, as a function from ln t to ln g(t). The acceptance test makes up for one that
    /// is not balanced.
    ///
    /// # Errors
    /// [`SamplerError::Parameter`] unless `step_size` is positive and finite.
    pub fn with_balancing(target: T, log_g: G, step_size: f64) -> Result<Self, SamplerError> {
        Ok(Self {
            target,
            log_g,
            step_size: positive("the step size", step_size)?,
            adjusted: true,
        })
    }

    /// The kernel without the acceptance test (DULA). Its stationary law is not the target.
    pub fn unadjusted(mut self) -> Self {
        self.adjusted = false;
        self
    }

    /// The step size α.
    pub fn step_size(&self) -> f64 {
        self.step_size
    }

    /// Runs `steps` transitions from `state` while tuning ln α by dual averaging, so that the acceptance probability is
    /// `target_acceptance` on average, and returns the kernel with the step size found, which stays. 0.574 is the best
    /// acceptance of the proposal in many independent dimensions (Sun, Dai and Schuurmans, 2022, "Optimal scaling for
    /// locally balanced proposals in discrete spaces"). The transitions are burn-in. Of an unadjusted kernel the
    /// acceptance is what it would be with the test.
    ///
    /// # Errors
    /// [`SamplerError::Parameter`] unless `target_acceptance` is in (0, 1), and the step size found is positive and
    /// finite.
    pub fn warm_up<V: Site>(
        mut self,
        target_acceptance: f64,
        steps: usize,
        state: &mut Vec<V>,
        chance: &mut (impl Chance + ?Sized),
    ) -> Result<Self, SamplerError>
    where
        T: DifferenceTarget<V>,
    {
        let target_acceptance = open_unit("the target acceptance", target_acceptance)?;
        let mut averaging = DualAveraging::new(self.step_size, target_acceptance, steps);
        for _ in 0..steps {
            // A step size above this one proposes as at infinity; below its inverse nothing ever moves.
            self.step_size = averaging.trial().clamp(1.0 / LARGEST, LARGEST);
            let proposed = self.propose(state, chance);
            averaging.update(proposed.log_ratio.min(0.0).exp());
            self.settle(proposed, state, chance);
        }
        let found = averaging.average().clamp(1.0 / LARGEST, LARGEST);
        self.step_size = positive("the step size found by the warm-up", found)?;
        Ok(self)
    }

    /// Draws y, and compares both ways.
    fn propose<V: Site>(&self, state: &[V], chance: &mut (impl Chance + ?Sized)) -> Move<V>
    where
        T: DifferenceTarget<V>,
    {
        match self.target.values() {
            // Bits, with loops that are unrolled.
            2 => self.propose_by([1.0; 2], state, chance),
            values => self.propose_by(vec![1.0; values], state, chance),
        }
    }

    fn propose_by<V: Site>(
        &self,
        weights: impl AsRef<[f64]> + AsMut<[f64]>,
        state: &[V],
        chance: &mut (impl Chance + ?Sized),
    ) -> Move<V>
    where
        T: DifferenceTarget<V>,
    {
        let values = self.target.values();
        let here = Neighbourhood::of(&self.target, &self.log_g, state);
        let mut to = state.to_vec();
        let mut odds = self.odds(weights);
        let mut normalisers = Vec::with_capacity(state.len());
        self.draw(&here, &mut to, &mut odds, chance, |normaliser| {
            normalisers.push(normaliser)
        });
        let there = Neighbourhood::of(&self.target, &self.log_g, &to);
        // ln q(x | y) - ln q(y | x). What is the same at both ends cancels: sites far from all changes.
        let (mut log_q_ratio, mut quotient) = (0.0, 1.0);
        let rows = here.rows(values).zip(there.rows(values));
        let ends = state.iter().zip(&to).zip(rows);
        for (((x, y), (row, row_there)), normaliser) in ends.zip(&normalisers) {
            if x != y {
                let shift = (values + y.code() - x.code()) % values;
                log_q_ratio += row_there[values - shift - 1] - row[shift - 1];
            }
            if row != row_there {
                let normaliser_there = odds.normaliser(row_there);
                log_q_ratio += normaliser.log_scale - normaliser_there.log_scale;
                quotient *= normaliser.sum / normaliser_there.sum;
                if !(1.0 / FLUSH..FLUSH).contains(&quotient) {
                    log_q_ratio += quotient.ln();
                    quotient = 1.0;
                }
            }
        }
        log_q_ratio += quotient.ln();
        Move {
            to,
            log_ratio: log_acceptance(here.log_p, there.log_p, log_q_ratio),
            non_finite: here.non_finite + there.non_finite,
        }
    }

    /// Draws each site of `state` from its law, given the weights around the state.
    fn draw<V: Site>(
        &self,
        around: &Neighbourhood,
        state: &mut [V],
        odds: &mut Odds<impl AsRef<[f64]> + AsMut<[f64]>>,
        chance: &mut (impl Chance + ?Sized),
        mut each: impl FnMut(Normaliser),
    ) {
        let values = odds.weights.as_ref().len();
        for (x, row) in state.iter_mut().zip(around.rows(values)) {
            each(odds.normaliser(row));
            // Staying is always possible, so something is chosen.
            let shift = chance.choose_by_weight(odds.weights.as_ref()).unwrap_or(0);
            if shift > 0 {
                *x = V::of_code((x.code() + shift) % values);
            }
        }
    }

    fn odds<W>(&self, weights: W) -> Odds<W> {
        Odds {
            change: -0.5 / self.step_size - (self.log_g)(0.0),
            weights,
        }
    }

    /// Makes one transition, of the adjusted kernel, and answers with the accepted changes that were to be expected: those
    /// proposed, times their acceptance probability.
    pub(super) fn accepted_changes<V: Site>(
        &self,
        state: &mut Vec<V>,
        chance: &mut (impl Chance + ?Sized),
    ) -> f64
    where
        T: DifferenceTarget<V>,
    {
        let proposed = self.propose(state, chance);
        let changes = (state.iter().zip(&proposed.to)).filter(|(from, to)| from != to);
        let expected = changes.count() as f64 * proposed.log_ratio.min(0.0).exp();
        self.settle(proposed, state, chance);
        expected
    }

    fn settle<V: Site>(
        &self,
        proposed: Move<V>,
        state: &mut Vec<V>,
        chance: &mut (impl Chance + ?Sized),
    ) -> Info {
        let accepted = chance.accept(proposed.log_ratio);
        if accepted {
            *state = proposed.to;
        }
        Info::of_move(accepted, proposed.non_finite)
    }
}

/// The law of one site after the other.
struct Odds<W> {
    /// ln of a change's weight relative to staying, less ln g(t).
    change: f64,
    /// 1 for staying, and those of the changes, all times one number.
    weights: W,
}

/// The sum of a site's weights, sum · e^log_scale, relative to staying.
struct Normaliser {
    sum: f64,
    log_scale: f64,
}

impl<W: AsRef<[f64]> + AsMut<[f64]>> Odds<W> {
    /// Sets the weights of a site, by ln g(t) of its changes.
    #[inline]
    fn normaliser(&mut self, log_g: &[f64]) -> Normaliser {
        let largest = log_g.iter().copied().fold(f64::NEG_INFINITY, f64::max) + self.change;
        // No weight overflows, and no sum is below 1.
        let log_scale = if largest > HUGE { largest } else { 0.0 };
        let weights = self.weights.as_mut();
        weights[0] = if log_scale > 0.0 {
            (-log_scale).exp()
        } else {
            1.0
        };
        for (weight, log_g) in weights[1..].iter_mut().zip(log_g) {
            *weight = (log_g + self.change - log_scale).exp();
        }
        let sum = weights.iter().sum();
        Normaliser { sum, log_scale }
    }
}

/// A log-weight that is large: sums up to e^HUGE, and a quotient of many before, fit f64.
const HUGE: f64 = 300.0;
/// A quotient of sums beyond this one, or below its inverse, is turned into a logarithm.
const FLUSH: f64 = 1e150;

/// The largest step size that a warm-up tries.
const LARGEST: f64 = 1e6;

impl<V, C, T, G> Kernel<Vec<V>, C> for DiscreteLangevin<T, G>
where
    V: Site,
    C: Chance + ?Sized,
    T: DifferenceTarget<V>,
    G: Fn(f64) -> f64,
{
    type Info = Info;

    fn step(&self, state: &mut Vec<V>, chance: &mut C) -> Info {
        if self.adjusted {
            let proposed = self.propose(state, chance);
            return self.settle(proposed, state, chance);
        }
        let around = Neighbourhood::of(&self.target, &self.log_g, state);
        let mut odds = self.odds(vec![1.0; self.target.values()]);
        self.draw(&around, state, &mut odds, chance, |_| ());
        Info::of_move(true, around.non_finite)
    }
}
