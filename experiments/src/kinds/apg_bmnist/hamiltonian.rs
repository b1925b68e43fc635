//! HMC-RWS: independent chains on all latents, from the one-shot proposal.

use burn::tensor::Tensor;
use helmholtz_apg::{Model, OneShot};
use helmholtz_ops::AutodiffBackend;
use helmholtz_random::Stream;
use helmholtz_tracker::{Bounce, Sampling, Sequence, Tracker, TrackerState, Video};

use super::DRAWS;
use super::digits::video;
use super::watched::{Watched, score};
use crate::error::HarnessError;
use crate::population::hamiltonian::{Chains, HmcSettings, Moves};

/// Moves `particles` chains for each sequence `moves` times by the density with pixels read by `sampling`, and watches where they
/// end, by the density of the model as it is.
///
/// # Errors
/// A step size that cannot be found.
pub fn chains<B: AutodiffBackend>(
    (model, inner): (&Tracker<B>, &Tracker<B::InnerBackend>),
    (hmc, leapfrog, sampling): (&HmcSettings, usize, Sampling),
    bounce: &Bounce,
    sequences: &[Sequence],
    [particles, moves]: [usize; 2],
    batch: u64,
    device: &B::Device,
) -> Result<(Watched, Moves), HarnessError> {
    let seen = video::<B::InnerBackend>(bounce, sequences, device);
    let mut stream = Stream::new(0, DRAWS, [batch, 0]);
    let start =
        OneShot::<B::InnerBackend, Stream>::propose(inner, &seen, particles, &mut stream).state;
    let x = video::<B>(bounce, sequences, device);
    let hmc = (hmc, leapfrog, moves);
    let (state, moves) = moved(model, (hmc, sampling), &x, start, &mut stream)?;
    let log_joint = inner.log_joint(&seen, &state);
    let shape = [particles, sequences.len(), 1];
    let options = (device, log_joint.dtype());
    let weights = Tensor::full(shape, 1.0 / particles as f64, options);
    let mut watched = score(inner, bounce, sequences, &seen.frames, &state, weights);
    watched.log_joint = log_joint.mean_dim(0).into_data().iter().collect();
    Ok((watched, moves))
}

/// The chains after so many moves of so many leapfrog steps, by the density with pixels read by `sampling`.
///
/// # Errors
/// A step size that cannot be found.
pub fn moved<B: AutodiffBackend>(
    model: &Tracker<B>,
    ((hmc, leapfrog, moves), sampling): ((&HmcSettings, usize, usize), Sampling),
    x: &Video<B>,
    start: TrackerState<B::InnerBackend>,
    stream: &mut Stream,
) -> Result<(TrackerState<B::InnerBackend>, Moves), HarnessError> {
    let reading = model.clone().with_sampling(sampling);
    let like = TrackerState::<B> {
        position: Tensor::from_inner(start.position.clone()),
        appearance: Tensor::from_inner(start.appearance.clone()),
    };
    let chains = Chains {
        start,
        rows: TrackerState::to_rows,
        log_density: |_: &_| |rows: Tensor<B, 2>| reading.log_joint_of_rows(x, &like, rows),
        next: |state: TrackerState<_>, rows, _: &mut _| state.with_rows(rows),
    };
    chains.run((hmc, leapfrog), moves, stream)
}
