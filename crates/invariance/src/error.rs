//! What can go wrong, and what a failed certificate says.

use crate::Leak;

/// Why a test could not be made, or which certificate failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InvarianceError {
    /// A matrix or a law without states.
    #[error("there are no states; give a state or more")]
    NoStates,
    /// The same state listed twice.
    #[error("state {first} and state {second} are the same, {name}; list every state once")]
    SameState {
        /// Its first index.
        first: usize,
        /// Its second index.
        second: usize,
        /// The state.
        name: String,
    },
    /// A kernel that steps to a state that was not listed.
    #[error(
        "from {from} the kernel steps to {to}, which is not among the states; list every state that can be reached"
    )]
    UnlistedState {
        /// Where it came from.
        from: String,
        /// Where it went.
        to: String,
    },
    /// Weights that are no distribution.
    #[error("weight {index} of the law is {weight}; a law needs {needs}")]
    NoLaw {
        /// The first bad weight.
        index: usize,
        /// Its value.
        weight: f64,
        /// What would do.
        needs: &'static str,
    },
    /// Things of different length that belong together.
    #[error("{what} has length {found}, but {expected} is needed")]
    Length {
        /// What.
        what: &'static str,
        /// Its length.
        found: usize,
        /// The length that fits.
        expected: usize,
    },
    /// π P ≠ π.
    #[error(
        "the law is not invariant, max |πP - π| = {error:.3e} (tolerance {tolerance:.0e}):{}",
        lines(leaks)
    )]
    NotInvariant {
        /// max over states of |(π P)(x) - π(x)|.
        error: f64,
        /// What was allowed.
        tolerance: f64,
        /// The worst states, worst first, three at most.
        leaks: Vec<Leak>,
    },
    /// π(x) P(x, y) ≠ π(y) P(y, x).
    #[error(
        "detailed balance does not hold: the flow from {from} to {to} is {forward:.6e}, back {backward:.6e} (tolerance {tolerance:.0e})"
    )]
    NotReversible {
        /// A state.
        from: String,
        /// The other.
        to: String,
        /// π(from) P(from, to).
        forward: f64,
        /// π(to) P(to, from).
        backward: f64,
        /// What was allowed of their difference.
        tolerance: f64,
    },
    /// A state of positive probability that cannot be reached from another.
    #[error("the kernel is not irreducible: from {from} no sequence of steps leads to {to}")]
    NotIrreducible {
        /// Where a chain may start.
        from: String,
        /// Where it never comes.
        to: String,
    },
    /// A chain that goes round in a cycle.
    #[error("the kernel is periodic: it returns to a state only after multiples of {period} steps")]
    Periodic {
        /// The period.
        period: usize,
    },
    /// A suite that cannot be.
    #[error(
        "a suite needs a false-alarm rate between 0 and 1 and a share or more, not {rate} and {shares}"
    )]
    NoSuite {
        /// The rate asked for.
        rate: f64,
        /// The shares asked for.
        shares: usize,
    },
    /// More shares than the suite declared.
    #[error(
        "the suite has {shares} shares and all are given, so there is none for {name:?}; declare more shares where the suite is made"
    )]
    SuiteSpent {
        /// Shares declared.
        shares: usize,
        /// Who asked.
        name: String,
    },
    /// Two tests of one name, which would see the same random numbers.
    #[error("the suite has given a share to {name:?} already; name every test differently")]
    SameShare {
        /// The name.
        name: String,
    },
    /// A name that the parts of a split share have, which would see the same random numbers.
    #[error("the name {name:?} has a slash, which is kept for the parts of a share; leave it out")]
    ShareName {
        /// The name.
        name: String,
    },
    /// A sample too small to see anything, or for its theory.
    #[error("{test}: {found} samples are too few, because {why}; take {needed} or more")]
    TooFewSamples {
        /// Which test.
        test: String,
        /// Samples there were.
        found: usize,
        /// Samples that would do.
        needed: usize,
        /// Why.
        why: &'static str,
    },
    /// A NaN or an infinity.
    #[error(
        "{test}: {what} of sample {sample} is {value}; test functions and estimates must be finite"
    )]
    NotFinite {
        /// Which test.
        test: String,
        /// Which number.
        what: String,
        /// Of which sample.
        sample: usize,
        /// Its value.
        value: f64,
    },
    /// A value outside the bounds that were claimed for it.
    #[error(
        "{test}: {what} of sample {sample} is {value}, outside the bounds {low} to {high} that were claimed for it"
    )]
    OutOfBounds {
        /// Which test.
        test: String,
        /// Which number.
        what: String,
        /// Of which sample.
        sample: usize,
        /// Its value.
        value: f64,
        /// Lower bound.
        low: f64,
        /// Upper bound.
        high: f64,
    },
}

fn lines(leaks: &[Leak]) -> String {
    leaks.iter().map(|leak| format!("\n  {leak}")).collect()
}
