//! What a kernel knows around the states that its chains are in.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use super::super::Site;
use super::around::Around;

/// So that a step need not evaluate again what the last one did. A target is a function of the state, so nothing but the time
/// depends on what is remembered.
#[derive(Default)]
pub struct Memory(Mutex<Vec<Around>>);

/// States that are remembered: of as many chains that take turns.
const MOST: usize = 8;

impl Memory {
    /// What is known around this state; if it is not remembered, something else to forget.
    pub fn take<V: Site>(&self, state: &[V]) -> Around {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let same = all.iter().position(|around| around.is_of(state));
        match same.or_else(|| all.iter().position(|around| around.is_empty())) {
            Some(place) => all.remove(place),
            None if all.len() < MOST => Around::default(),
            None => all.remove(0),
        }
    }

    /// Remembers it, until others are.
    pub fn keep(&self, around: Around) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() == MOST {
            all.remove(0);
        }
        all.push(around);
    }
}

/// A copy of a kernel remembers nothing yet.
impl Clone for Memory {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Memory").finish_non_exhaustive()
    }
}
