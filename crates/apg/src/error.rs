//! What can go wrong.

use helmholtz_samplers::SamplerError;

/// Why a run stopped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ApgError {
    /// A run without particles or sweeps.
    #[error("a run needs {what}; give at least one")]
    Nothing {
        /// What there is none of.
        what: &'static str,
    },
    /// Weights that are none: NaN, or all zero.
    #[error("after block {block} of sweep {sweep}, instance {instance} ({run}): {source}")]
    Weights {
        /// The name of the block, or `one-shot`.
        block: String,
        /// The sweep, 0 for the one-shot proposal.
        sweep: usize,
        /// The instance of the batch.
        instance: usize,
        /// Step and seed.
        run: String,
        /// What the weights are.
        source: SamplerError,
    },
    /// A loss that is not a finite number.
    #[error("the loss of block {block} of sweep {sweep} ({run}) is {value}")]
    Loss {
        /// The name of the block, or `one-shot`.
        block: String,
        /// The sweep, 0 for the one-shot proposal.
        sweep: usize,
        /// Step and seed.
        run: String,
        /// What it is.
        value: f64,
    },
    /// A gradient that is not finite, of a loss that is.
    #[error(
        "the gradient of block {block} of sweep {sweep} ({run}) is not finite, though its loss is"
    )]
    Gradient {
        /// The name of the block, or `one-shot`.
        block: String,
        /// The sweep, 0 for the one-shot proposal.
        sweep: usize,
        /// Step and seed.
        run: String,
    },
    /// A resampling policy that is none.
    #[error(transparent)]
    Policy(SamplerError),
}
