//! The discrete Langevin proposal: DMALA and DULA.

mod around;
mod proposal;
#[cfg(test)]
mod tests;

use helmholtz_random::Chance;

pub(super) use self::around::Around;
pub(super) use self::proposal::{Proposal, settle};
use super::balancing::square_root;
use super::memory::Memory;
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
/// [`warm_up`](Self::warm_up). A step costs one evaluation of all differences, however many sites change, and another
/// one where the chain was moved by something else before. The evaluation of the last step is remembered, for eight
/// chains that take turns.
///
/// [`unadjusted`](Self::unadjusted) leaves out the acceptance test (DULA): the same cost, and a stationary law that is
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
#[derive(Clone, Debug)]
pub struct DiscreteLangevin<T, G = fn(f64) -> f64> {
    target: T,
    log_g: G,
    step_size: f64,
    adjusted: bool,
    memory: Memory<Around>,
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
            memory: Memory::default(),
        })
    }

    /// The kernel without the acceptance test (DULA). Its stationary law is not the target.
    ///
    /// On three bits, by enumeration, the total variation distance of the two was
    ///
    /// | α | 10 | 1 | 0.2 | 0.1 | 0.05 |
    /// |---|---|---|---|---|---|
    /// | distance | 0.24 | 0.17 | 0.028 | 0.0023 | 0.000016 |
    ///
    /// It falls as exp(-1 / (2 α)), but so does the share of sites that change. (`tests/discrete/langevin.rs` of
    /// `helmholtz-invariance`, for a target with log-densities from -2 to 1.5.)
    pub fn unadjusted(mut self) -> Self {
        self.adjusted = false;
        self
    }

    /// The step size α.
    pub fn step_size(&self) -> f64 {
        self.step_size
    }

    /// Runs `steps` transitions from `state` while tuning ln α by dual averaging, so that the acceptance probability is
    /// `target_acceptance` on average. Returns the kernel with the step size found, which stays. The best acceptance of
    /// the proposal in many independent dimensions is 0.574 (Sun, Dai and Schuurmans, 2022, "Optimal scaling for
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
        let mut around = self.memory.take(state);
        for _ in 0..steps {
            // A step size above this one proposes as at infinity; below its inverse nothing ever moves.
            self.step_size = averaging.trial().clamp(1.0 / LARGEST, LARGEST);
            around.forget_laws();
            let proposed = self.proposal().propose(&mut around, state, chance);
            averaging.update(proposed.acceptance());
            settle(proposed, &mut around, state, chance);
        }
        around.forget_laws();
        // What else was remembered has the laws of the step size before.
        self.memory = Memory::default();
        self.memory.keep(around);
        let found = averaging.average().clamp(1.0 / LARGEST, LARGEST);
        self.step_size = positive("the step size found by the warm-up", found)?;
        Ok(self)
    }

    fn proposal(&self) -> Proposal<'_, T, &G> {
        Proposal {
            target: &self.target,
            log_g: &self.log_g,
            step_size: self.step_size,
        }
    }
}

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
        let (proposal, mut around) = (self.proposal(), self.memory.take(state));
        let info = if self.adjusted {
            let proposed = proposal.propose(&mut around, state, chance);
            settle(proposed, &mut around, state, chance)
        } else {
            proposal.unadjusted(&mut around, state, chance)
        };
        self.memory.keep(around);
        info
    }
}
