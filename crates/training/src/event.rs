//! Events of a run while it goes on.

/// Something that happened in a run. Epochs and steps count finished ones; NLLs are in nats.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// The run goes on after a checkpoint.
    Resumed {
        /// Finished epochs.
        epoch: u64,
        /// Finished steps of the epoch in progress.
        step: u64,
    },
    /// A training step was made.
    Step {
        /// The epoch in progress, from 1.
        epoch: u64,
        /// The steps made in it, from 1.
        step: u64,
        /// The steps of an epoch.
        steps_per_epoch: u64,
        /// Minus the estimated ELBO of the step's batch.
        loss: f64,
    },
    /// The chains of all data were started anew, at draws from q.
    ChainsStarted {
        /// Finished epochs.
        epoch: u64,
    },
    /// An evaluation is under way.
    Evaluating {
        /// Images done.
        done: u64,
        /// Images in all.
        total: u64,
    },
    /// A check was made.
    Check {
        /// Finished epochs.
        epoch: u64,
        /// 1, or 2 once chains are kept.
        stage: u8,
        /// Validation NLL.
        valid_nll: f64,
        /// Test NLL, where it is computed at checks.
        test_nll: Option<f64>,
        /// Seconds of work so far, over all resumes.
        seconds: f64,
    },
    /// Training is over, after all epochs or out of patience; what follows is the evaluation of the end.
    Trained {
        /// Finished epochs.
        epoch: u64,
        /// Test images of that evaluation that a checkpoint holds.
        evaluated: u64,
        /// Test images in all.
        total: u64,
    },
    /// A checkpoint was published.
    Checkpoint {
        /// Finished epochs.
        epoch: u64,
    },
    /// Something the user should know and that does not stop the run.
    Warning(String),
}
