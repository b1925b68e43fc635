//! Metropolis independence sampling on states.

use helmholtz_random::Chance;

use crate::arguments::at_least_one;
use crate::{IndependenceProposal, IndexKernel, Info, Kernel, SamplerError, Target, Visits};

/// An [`IndexKernel`] on states: draws K proposals from q, weighs them and the current state by ln p - ln q, and takes
/// the state in which the index kernel ends.
///
/// With [`Mis`](crate::Mis) it is K Metropolis independence moves a step, and with [`Mtmis`](crate::Mtmis) one move
/// that picks among K trials. With [`Cis`](crate::Cis) it is conditional importance sampling, and with
/// [`Barker`](crate::Barker) K moves by Barker's rule. All of them are uniformly ergodic if p / q is bounded. If it is
/// not, Metropolis independence moves are not even geometrically ergodic (Mengersen and Tweedie, 1996): let q have the
/// heavier tails. The density q must be positive wherever p is, since a current state that q cannot propose has an
/// infinite weight. Such a state is left at once, like every state without a finite weight.
///
/// ```
/// use helmholtz_samplers::random::{Draws, Purpose, Stream};
/// use helmholtz_samplers::{IndependenceProposal, Independence, Kernel, Mis};
///
/// struct Wide; // N(0, 2²)
/// impl<C: Draws> IndependenceProposal<f64, C> for Wide {
///     fn propose(&self, chance: &mut C) -> f64 { 2.0 * chance.normal() }
///     fn log_density(&self, x: &f64) -> f64 { -x * x / 8.0 }
/// }
///
/// let kernel = Independence::new(|x: &f64| -x.abs(), Wide, Mis, 4)?; // Laplace
/// let (mut x, mut stream) = (0.0, Stream::new(7, Purpose::new("chain"), [0, 0]));
/// let info = kernel.step(&mut x, &mut stream);
/// assert_eq!(info.moves, 4);
/// # Ok::<(), helmholtz_samplers::SamplerError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Independence<T, Q, K> {
    target: T,
    proposal: Q,
    kernel: K,
    proposals: usize,
}

impl<T, Q, K> Independence<T, Q, K> {
    /// A step runs `kernel` on `proposals` draws from `proposal`.
    ///
    /// # Errors
    /// [`SamplerError::Parameter`] without proposals.
    pub fn new(target: T, proposal: Q, kernel: K, proposals: usize) -> Result<Self, SamplerError> {
        Ok(Self {
            target,
            proposal,
            kernel,
            proposals: at_least_one("the number of proposals", proposals)?,
        })
    }
}

impl<T, Q, K> Independence<T, Q, K> {
    pub(crate) fn kernel(&self) -> &K {
        &self.kernel
    }

    /// ln p - ln q.
    pub(crate) fn log_weight<S, C: ?Sized>(&self, state: &S) -> f64
    where
        T: Target<S>,
        Q: IndependenceProposal<S, C>,
    {
        self.target.log_density(state) - self.proposal.log_density(state)
    }

    /// Draws of q, with their log-weights.
    pub(crate) fn proposals<S, C: ?Sized>(&self, chance: &mut C) -> (Vec<S>, Vec<f64>)
    where
        T: Target<S>,
        Q: IndependenceProposal<S, C>,
    {
        let proposals: Vec<S> = (0..self.proposals)
            .map(|_| self.proposal.propose(chance))
            .collect();
        let log_w = proposals.iter().map(|s| self.log_weight(s)).collect();
        (proposals, log_w)
    }
}

impl<S, C, T, Q, K> Kernel<S, C> for Independence<T, Q, K>
where
    C: Chance + ?Sized,
    T: Target<S>,
    Q: IndependenceProposal<S, C>,
    K: IndexKernel,
{
    type Info = Info;

    fn step(&self, state: &mut S, chance: &mut C) -> Info {
        let (mut proposals, log_w) = self.proposals(chance);
        let mut visits = Vec::new();
        let info = self
            .kernel
            .run(self.log_weight(state), &log_w, chance, &mut visits);
        if let Some(taken) = Visits::new(&visits).last().checked_sub(1) {
            *state = proposals.swap_remove(taken);
        }
        info
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Mis;

    #[test]
    fn a_kernel_without_proposals_is_refused() {
        let refused = Independence::new(|_: &u8| 0.0, (), Mis, 0);
        assert!(matches!(refused, Err(SamplerError::Parameter { .. })));
    }
}
