//! What an index kernel is.

use helmholtz_random::Chance;

use crate::Info;

/// A Markov kernel that needs of its states only their log-weights.
///
/// The target p and the independence proposal q meet in ℓ(h) = log p(x, h) - log q(h | x), known up to a constant
/// (nats). States are named by index: 0 is the current one, j = 1..=K the j-th proposal, drawn from q independently.
/// There are no tensors here: the caller gathers states by [`Visits::last`](crate::Visits::last), and weights them by
/// [`Visits::coefficients`](crate::Visits::coefficients).
///
/// All kernels treat a log-weight that is not finite the same way, before any coin is tossed. Such a proposal is
/// rejected and counted. A finite proposal against such a current state is accepted. (-inf is an impossible state; NaN
/// and +inf are errors of the caller that shall not trap the chain.)
pub trait IndexKernel {
    /// Runs the kernel from state 0 and writes to `visits`, replacing what it held, the index after each transition.
    fn run(
        &self,
        log_w_current: f64,
        log_w_proposals: &[f64],
        chance: &mut (impl Chance + ?Sized),
        visits: &mut Vec<u32>,
    ) -> Info;
}

/// The Metropolis independence test with the conventions of [`IndexKernel`]: accepts `proposal` against `reference`
/// with probability min(1, exp(proposal - reference)).
pub(crate) fn metropolis(
    proposal: f64,
    reference: f64,
    chance: &mut (impl Chance + ?Sized),
) -> bool {
    proposal.is_finite() && (!reference.is_finite() || chance.accept(proposal - reference))
}
