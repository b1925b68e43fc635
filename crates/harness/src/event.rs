//! Events of a running unit, its end, and their observers.

use crate::error::HarnessError;
use serde_json::Value;

/// Event of a running unit.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// The unit resumes after so many finished counts.
    Resumed {
        /// Finished counts.
        done: u64,
    },
    /// A step was made.
    Step {
        /// Counts that are finished, and the part of the one in progress: 2.5 in the middle of the third.
        done: f64,
        /// Something that tells how it does, for the board.
        score: Option<f64>,
    },
    /// The unit's counts are over, sooner than planned perhaps; what follows is the evaluation of the end.
    Trained {
        /// Finished counts.
        done: u64,
        /// The part of that evaluation, from 0 to 1, that an earlier program did.
        part: f64,
    },
    /// Something is measured.
    Evaluating {
        /// The part of it that is done, from 0 to 1, where that is known.
        part: Option<f64>,
        /// Name of the evaluation; empty where there is nothing to tell apart.
        what: String,
    },
    /// A check was made.
    Check {
        /// Finished counts.
        done: u64,
        /// Something that tells how it does, for the board.
        score: Option<f64>,
        /// For a line.
        text: String,
        /// The fields of its line of JSON.
        fields: Value,
    },
    /// Something else, for lines of JSON: `checkpoint`, `chains-started`.
    Note {
        /// Name of the event.
        event: &'static str,
        /// The fields of its line.
        fields: Value,
    },
    /// A warning.
    Warning(String),
}

/// End of a planned unit.
#[derive(Debug)]
pub enum Ended {
    /// With its result, now or in an earlier session, and what it is in a few words.
    Done(Value, String),
    /// Stopped on request, after a checkpoint of so many counts.
    Interrupted {
        /// The counts that the checkpoint holds.
        done: u64,
    },
    /// Never started, because a stop was requested first.
    NotStarted,
    /// With an error.
    Failed(HarnessError),
}

/// Hears what happens in a running unit, from the thread that runs it.
pub trait Observer: Sync {
    /// Called often (after every step): must be cheap.
    fn event(&self, event: &Event);
}

/// Hears nothing.
#[derive(Debug, Clone, Copy)]
pub struct NoopObserver;

impl Observer for NoopObserver {
    fn event(&self, _: &Event) {}
}
