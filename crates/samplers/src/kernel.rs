//! What a kernel on states is.

/// A Markov kernel on states of type `S`: one call of [`step`](Kernel::step) is one transition, and leaves the kernel's
/// target invariant.
///
/// `C` is the randomness. A kernel that needs only coins and choices is written for every `C: Chance`
/// ([`helmholtz_random::Chance`]) and can be proved exactly, by enumeration; one that draws real numbers asks for
/// `C: Chance + Draws`, which the enumerator is not: an exact proof of it does not compile.
///
/// A state is the plain value. Log-densities are computed anew at each transition and never kept in the state, so that
/// no stale one survives a change of the target, and kernels with the same `S` compose.
pub trait Kernel<S, C: ?Sized> {
    /// What one transition reports about itself.
    type Info;

    /// One transition: `state` becomes the next state.
    fn step(&self, state: &mut S, chance: &mut C) -> Self::Info;
}
