//! What a kernel that is not invariant does to a state.

use std::fmt;

/// A state that does not keep its probability under one step.
#[derive(Clone, Debug, PartialEq)]
pub struct Leak {
    /// The state.
    pub state: String,
    /// π(x), which it should keep.
    pub before: f64,
    /// (π P)(x), which it has after one step.
    pub after: f64,
    /// The state with which it exchanges least evenly.
    pub partner: String,
    /// The net flow from x to the partner, π(x) P(x, y) - π(y) P(y, x).
    pub net_flow: f64,
}

impl fmt::Display for Leak {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = if self.after < self.before {
            "loses"
        } else {
            "gains"
        };
        let way = if self.net_flow > 0.0 { "to" } else { "from" };
        write!(
            f,
            "{} {verb} {:.3e}: it has {:.6e} and after one step {:.6e}; the largest net flow is {:.3e} {way} {}",
            self.state,
            (self.after - self.before).abs(),
            self.before,
            self.after,
            self.net_flow.abs(),
            self.partner,
        )
    }
}
