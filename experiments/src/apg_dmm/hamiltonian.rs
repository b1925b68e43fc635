//! HMC-RWS: chains on centres and places from the one-shot proposal, the rings drawn from their exact conditional after each move.

use burn::tensor::Tensor;
use helmholtz_apg::{Model, OneShot};
use helmholtz_dmm::{Dmm, DmmState, Simulated};
use helmholtz_ops::AutodiffBackend;
use helmholtz_random::Stream;
use helmholtz_samplers::{BatchedHmc, Info};

use super::DRAWS;
use super::evaluation::{Watched, look};
use super::settings::HmcSettings;
use crate::apg_gmm::training::numbers;
use crate::error::HarnessError;
use crate::runner::failed;

/// Moves `particles` chains for each instance `moves` times, and tells of where they end; also the share of moves that were accepted,
/// and the step size.
///
/// The step size is found by a warm-up that starts where the chains do, and stays; the chains then start again, so that moves count
/// from the one-shot proposal.
///
/// # Errors
/// A step size that cannot be found.
pub fn chains<B: AutodiffBackend>(
    (model, inner): (&Dmm<B>, &Dmm<B::InnerBackend>),
    (hmc, leapfrog): (&HmcSettings, usize),
    data: &Simulated<B::InnerBackend>,
    [particles, moves]: [usize; 2],
    batch: u64,
) -> Result<(Watched, [f64; 2]), HarnessError> {
    let mut stream = Stream::new(0, DRAWS, [batch, leapfrog as u64]);
    let proposal =
        OneShot::<B::InnerBackend, Stream>::propose(inner, &data.x, particles, &mut stream);
    let mut state = proposal.state;
    let x = Tensor::<B, 3>::from_inner(data.x.clone());
    let kernel = |state: &DmmState<B::InnerBackend>, step_size: f64| {
        let like = DmmState::<B> {
            mean: Tensor::from_inner(state.mean.clone()),
            assignment: Tensor::from_inner(state.assignment.clone()),
            angle: Tensor::from_inner(state.angle.clone()),
        };
        let x = x.clone();
        let log_density = move |rows| model.log_density_of_rows(&x, &like, rows);
        BatchedHmc::<B, _>::new(log_density, step_size, leapfrog).map_err(failed)
    };
    let mut step_size = hmc.step_size;
    if hmc.warm_up > 0 {
        let start = kernel(&state, step_size)?;
        let warmed = start.warm_up(hmc.acceptance, hmc.warm_up, state.to_rows(), &mut stream);
        step_size = warmed.map_err(failed)?.0.step_size();
    }
    let mut info = Info::default();
    for _ in 0..moves {
        let (rows, own) = kernel(&state, step_size)?.step(state.to_rows(), &mut stream);
        info += own;
        state = state.with_rows(rows);
        let choices = inner.exact_choices(&data.x, &state.mean, &state.angle);
        state.assignment = choices.sample(&mut stream);
    }
    let log_joint = inner.log_joint(&data.x, &state);
    let mean = numbers(log_joint.clone().mean_dim(0));
    let watched = look(inner, data, &state, mean, &numbers(log_joint));
    let accepted = info.accepted as f64 / (info.moves as f64).max(1.0);
    Ok((watched, [accepted, step_size]))
}
