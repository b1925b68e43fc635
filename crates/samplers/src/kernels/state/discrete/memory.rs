//! What a kernel knows around the states that its chains are in.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use super::Site;

/// So that a step need not evaluate again what the last one did. A target is a function of the state, so nothing but the time
/// depends on what is remembered.
pub(super) struct Memory<A>(Mutex<Vec<A>>);

/// What is known around a state.
pub(super) trait Remembered: Default {
    /// Whether it is this state.
    fn is_of<V: Site>(&self, state: &[V]) -> bool;
}

/// States that are remembered: of as many chains that take turns.
const MOST: usize = 8;

impl<A> Default for Memory<A> {
    fn default() -> Self {
        Self(Mutex::new(Vec::new()))
    }
}

impl<A: Remembered> Memory<A> {
    /// What is known around this state; nothing yet if it is not remembered.
    pub fn take<V: Site>(&self, state: &[V]) -> A {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match all.iter().position(|around| around.is_of(state)) {
            Some(place) => all.remove(place),
            None => A::default(),
        }
    }

    /// Remembers it, until others are.
    pub fn keep(&self, around: A) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() == MOST {
            all.remove(0);
        }
        all.push(around);
    }
}

/// A copy of a kernel remembers nothing yet.
impl<A> Clone for Memory<A> {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl<A> fmt::Debug for Memory<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Memory").finish_non_exhaustive()
    }
}
