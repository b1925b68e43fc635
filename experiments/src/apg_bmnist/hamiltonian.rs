//! HMC-RWS: independent chains on all latents, from the one-shot proposal.

use burn::tensor::Tensor;
use helmholtz_apg::{Model, OneShot};
use helmholtz_ops::AutodiffBackend;
use helmholtz_random::Stream;
use helmholtz_samplers::{BatchedHmc, Info};
use helmholtz_tracker::{Bounce, Sampling, Sequence, Tracker, TrackerState};

use super::DRAWS;
use super::digits::video;
use super::evaluation::{Watched, look};
use super::settings::HmcSettings;
use crate::error::HarnessError;
use crate::runner::failed;

/// Moves `particles` chains for each sequence `moves` times by the density with pixels read by `sampling`, and watches where they
/// end, by the density of the model as it is. Also gives the share of moves that were accepted, and the step size.
///
/// The step size is found by a warm-up that starts where the chains do; the chains then start again, so that moves count from the
/// one-shot proposal.
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
) -> Result<(Watched, [f64; 2]), HarnessError> {
    let x = video::<B>(bounce, sequences, device);
    let mut stream = Stream::new(0, DRAWS, [batch, 0]);
    let like: TrackerState<B> =
        OneShot::<B, Stream>::propose(model, &x, particles, &mut stream).state;
    let reading = model.clone().with_sampling(sampling);
    let log_density = |rows: Tensor<B, 2>| reading.log_joint_of_rows(&x, &like, rows);
    let mut kernel = BatchedHmc::new(log_density, hmc.step_size, leapfrog).map_err(failed)?;
    let mut rows = like.to_rows().inner();
    if hmc.warm_up > 0 {
        let warmed = kernel.warm_up(hmc.acceptance, hmc.warm_up, rows.clone(), &mut stream);
        kernel = warmed.map_err(failed)?.0;
    }
    let mut info = Info::default();
    for _ in 0..moves {
        let (next, own) = kernel.step(rows, &mut stream);
        rows = next;
        info += own;
    }
    let state = TrackerState {
        position: like.position.clone().inner(),
        appearance: like.appearance.clone().inner(),
    }
    .with_rows(rows);
    let seen = video::<B::InnerBackend>(bounce, sequences, device);
    let log_joint = inner.log_joint(&seen, &state);
    let shape = [particles, sequences.len(), 1];
    let options = (device, log_joint.dtype());
    let weights = Tensor::full(shape, 1.0 / particles as f64, options);
    let mut watched = look(inner, bounce, sequences, &seen.frames, &state, weights);
    watched.log_joint = log_joint.mean_dim(0).into_data().iter().collect();
    let accepted = info.accepted as f64 / (info.moves as f64).max(1.0);
    Ok((watched, [accepted, kernel.step_size()]))
}
