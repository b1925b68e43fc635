//! What a kernel on states is.

/// A Markov kernel on states of type `S`: one call of [`step`](Kernel::step) is one transition, and leaves the kernel's
/// target invariant.
///
/// `C` is the randomness. A kernel that needs only coins and choices is written for every `C: Chance`
/// ([`Chance`](crate::random::Chance)) and can be proved exactly, by enumeration. A kernel that draws real numbers asks
/// for `C: Chance + Draws`. The enumerator does not implement `Draws`, so an exact proof of such a kernel does not
/// compile.
///
/// A state is the plain value. Log-densities are computed anew at each transition and never kept in the state. So no
/// stale one survives a change of the target, and kernels with the same `S` compose.
///
/// The kernels of this crate all report an [`Info`](crate::Info), so that different ones can be boxed and put together:
/// `Box<dyn Kernel<S, C, Info = Info>>` is a kernel, and so is a reference to one.
pub trait Kernel<S, C: ?Sized> {
    /// What one transition reports about itself.
    type Info;

    /// One transition: `state` becomes the next state.
    fn step(&self, state: &mut S, chance: &mut C) -> Self::Info;
}

impl<S, C: ?Sized, K: Kernel<S, C> + ?Sized> Kernel<S, C> for &K {
    type Info = K::Info;

    fn step(&self, state: &mut S, chance: &mut C) -> K::Info {
        (**self).step(state, chance)
    }
}

impl<S, C: ?Sized, K: Kernel<S, C> + ?Sized> Kernel<S, C> for Box<K> {
    type Info = K::Info;

    fn step(&self, state: &mut S, chance: &mut C) -> K::Info {
        (**self).step(state, chance)
    }
}
