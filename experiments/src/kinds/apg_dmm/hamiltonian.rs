//! HMC-RWS: chains on centres and places from the one-shot proposal, the rings drawn from their exact conditional after each move.

use burn::tensor::Tensor;
use helmholtz_apg::{Model, OneShot};
use helmholtz_dmm::{Dmm, DmmState, Simulated};
use helmholtz_ops::AutodiffBackend;
use helmholtz_random::Stream;

use super::DRAWS;
use super::watched::{Watched, score};
use crate::error::HarnessError;
use crate::population::hamiltonian::{Chains, HmcSettings, Moves};
use crate::population::populations::numbers;

/// Moves `particles` chains for each instance `moves` times, and tells of where they end.
///
/// # Errors
/// A step size that cannot be found.
pub fn chains<B: AutodiffBackend>(
    (model, inner): (&Dmm<B>, &Dmm<B::InnerBackend>),
    (hmc, leapfrog): (&HmcSettings, usize),
    data: &Simulated<B::InnerBackend>,
    [particles, moves]: [usize; 2],
    batch: u64,
) -> Result<(Watched, Moves), HarnessError> {
    let mut stream = Stream::new(0, DRAWS, [batch, leapfrog as u64]);
    let proposal =
        OneShot::<B::InnerBackend, Stream>::propose(inner, &data.x, particles, &mut stream);
    let hmc = (hmc, leapfrog, moves);
    let (state, moves) = moved((model, inner), hmc, &data.x, proposal.state, &mut stream)?;
    let log_joint = inner.log_joint(&data.x, &state);
    let mean = numbers(log_joint.clone().mean_dim(0));
    let watched = score(inner, data, &state, mean, &numbers(log_joint));
    Ok((watched, moves))
}

/// The chains after so many moves of so many leapfrog steps.
///
/// # Errors
/// A step size that cannot be found.
pub fn moved<B: AutodiffBackend>(
    (model, inner): (&Dmm<B>, &Dmm<B::InnerBackend>),
    (hmc, leapfrog, moves): (&HmcSettings, usize, usize),
    seen: &Tensor<B::InnerBackend, 3>,
    start: DmmState<B::InnerBackend>,
    stream: &mut Stream,
) -> Result<(DmmState<B::InnerBackend>, Moves), HarnessError> {
    let x = Tensor::<B, 3>::from_inner(seen.clone());
    let log_density = |state: &DmmState<B::InnerBackend>| {
        let like = DmmState::<B> {
            mean: Tensor::from_inner(state.mean.clone()),
            assignment: Tensor::from_inner(state.assignment.clone()),
            angle: Tensor::from_inner(state.angle.clone()),
        };
        let x = &x;
        move |rows: Tensor<B, 2>| model.log_density_of_rows(x, &like, rows)
    };
    let next = |state: DmmState<_>, rows, stream: &mut Stream| {
        let state = state.with_rows(rows);
        let choices = inner.exact_choices(seen, &state.mean, &state.angle);
        let assignment = choices.sample(stream);
        DmmState {
            assignment,
            ..state
        }
    };
    let chains = Chains {
        start,
        rows: DmmState::to_rows,
        log_density,
        next,
    };
    chains.run((hmc, leapfrog), moves, stream)
}
