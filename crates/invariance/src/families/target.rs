//! What a certificate over a family asks of a target.

use std::fmt::Debug;

/// A target over few enough states to list.
pub trait FiniteTarget {
    /// A state.
    type State: Clone + PartialEq + Debug;

    /// Every state that a kernel may come to.
    fn states(&self) -> Vec<Self::State>;

    /// ln p(`state`) + constant (nats); -inf where p is zero.
    fn log_density(&self, state: &Self::State) -> f64;
}
