//! Kernels one after another.

use crate::{Info, Kernel};

/// One step of each of its kernels, in order: P = P_1 P_2 ... P_n. Without kernels the state stays.
///
/// A cycle of reversible kernels is invariant, but in general not reversible; the palindrome
/// P_1 ... P_n P_n ... P_1 is. Over the components of a state it is systematic-scan Metropolis-within-Gibbs. See
/// [`Gibbs`](crate::Gibbs) for an example. (Tierney, 1994.)
#[derive(Clone, Debug)]
pub struct Cycle<K>(Vec<K>);

impl<K> Cycle<K> {
    /// The cycle through `kernels`.
    pub fn new(kernels: Vec<K>) -> Self {
        Self(kernels)
    }
}

impl<S, C: ?Sized, K: Kernel<S, C, Info = Info>> Kernel<S, C> for Cycle<K> {
    type Info = Info;

    fn step(&self, state: &mut S, chance: &mut C) -> Info {
        self.0.iter().map(|kernel| kernel.step(state, chance)).sum()
    }
}
