//! Slots in a random order, but for one.

use helmholtz_random::Chance;

use crate::kernels::state::mixture::uniform_index;

/// Puts the ancestors from 1 on in a random order, all orders alike (Durstenfeld, 1964), and the first, the pinned one,
/// into `slot`.
///
/// # Panics
/// If there is no such slot.
pub(super) fn turn(ancestors: &mut [u32], slot: usize, chance: &mut (impl Chance + ?Sized)) {
    let others = &mut ancestors[1..];
    for end in (1..others.len()).rev() {
        others.swap(end, uniform_index(end + 1, chance));
    }
    ancestors.swap(0, slot);
}
