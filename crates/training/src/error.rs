//! Why a run stopped.

use helmholtz_estimators::EstimateError;
use helmholtz_runs::RunError;
use helmholtz_samplers::SamplerError;

/// Why a run stopped before its end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrainError {
    /// A number of the configuration that makes no sense.
    #[error("{problem}")]
    Config {
        /// Name of the number, and what it must be.
        problem: String,
    },
    /// The caller asked to stop; a checkpoint was made.
    #[error("interrupted after epoch {epochs} and {steps} steps; the same command resumes there")]
    Interrupted {
        /// Finished epochs.
        epochs: u64,
        /// Finished steps of the epoch in progress.
        steps: u64,
    },
    /// A bound on the likelihood so low that no training comes back from it.
    #[error(
        "the training diverged: the ELBO of a step is {elbo:.3e} nats a datum, below {limit:.0e} (seed {seed}, epoch {epoch}, step \
         {step}); the last checkpoint before it is kept. Lower the learning rate and start with a fresh run folder"
    )]
    Diverged {
        /// The estimated ELBO of the step's batch, nats a datum.
        elbo: f64,
        /// Limit that it must not fall below.
        limit: f64,
        /// The run's seed.
        seed: u64,
        /// The epoch in progress, from 0.
        epoch: u64,
        /// The step in it, from 0.
        step: u64,
    },
    /// A loss or a parameter that is not a number.
    #[error(
        "{what} is not a number (seed {seed}, epoch {epoch}, step {step}); the last checkpoint before it is kept. \
         Lower the learning rate and start with a fresh run folder"
    )]
    NotANumber {
        /// Quantity in which it was found.
        what: &'static str,
        /// The run's seed.
        seed: u64,
        /// The epoch in progress, from 0.
        epoch: u64,
        /// The step in it, from 0.
        step: u64,
    },
    /// A checkpoint of another program version.
    #[error(
        "the checkpoint lacks `{part}`, or that cannot be read: it is of another version, or damaged; start with a fresh run folder"
    )]
    Checkpoint {
        /// Name of the part that is missing or unreadable.
        part: &'static str,
    },
    /// A file of parameters that cannot be written, or does not hold those of the model.
    #[error("the parameters in {path}: {problem}")]
    Parameters {
        /// The file.
        path: std::path::PathBuf,
        /// Problem of the file.
        problem: String,
    },
    /// Parameters, or an optimiser's state, of another net.
    #[error(
        "`{part}` of the checkpoint belongs to another net: {difference}; take the program version and the settings that made it, \
         or start with a fresh run folder"
    )]
    OtherNet {
        /// Name of the part.
        part: &'static str,
        /// Difference between the part and the net.
        difference: String,
    },
    /// A checkpoint that is further than the run goes.
    #[error(
        "the checkpoint is beyond the end of the run: it has {found} {what}, the run has {most}. It was forged or is of another \
         run: start with a fresh run folder"
    )]
    BeyondEnd {
        /// Name of what is counted.
        what: &'static str,
        /// Count in the checkpoint.
        found: u64,
        /// Largest count that the run can have.
        most: u64,
    },
    /// An objective that cannot be descended any further.
    #[error("{0}; the last checkpoint before it is kept")]
    Objective(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The estimator refused.
    #[error(transparent)]
    Estimate(#[from] EstimateError),
    /// The chain store or the scan refused.
    #[error(transparent)]
    Sampler(#[from] SamplerError),
    /// The run folder refused.
    #[error(transparent)]
    Run(#[from] RunError),
}
