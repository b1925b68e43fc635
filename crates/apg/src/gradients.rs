//! The gradient of a run, block by block.

use burn::module::{AutodiffModule, ModuleVisitor, Param};
use burn::optim::{GradientsAccumulator, GradientsParams};
use burn::tensor::{Tensor, activation, backend::AutodiffBackend};
use helmholtz_samplers::resampling::Resampler;

use crate::randomness::{PROPOSE, RESAMPLE};
use crate::{
    ApgError, Block, Loss, Model, OneShot, Particle, Population, Position, Proposal, Randomness,
    Rescore, Run, Sampler,
};

impl<R> Sampler<R> {
    /// Runs on data x, and differentiates each loss as soon as it is known, so that no more than one block's tape is
    /// in memory. The result is the gradient of the sum over sweeps and blocks, to be descended.
    ///
    /// # Errors
    /// Those of [`run`](Sampler::run); [`ApgError::Loss`] and [`ApgError::Gradient`] for a loss or a gradient that is not finite.
    pub fn gradients<B, M, G>(
        &self,
        model: &M,
        x: &M::Data,
        blocks: &[&dyn Block<B, M, G::Chance>],
        randomness: &mut G,
    ) -> Result<(GradientsParams, Run<M::State>), ApgError>
    where
        B: AutodiffBackend,
        M: OneShot<B, G::Chance> + AutodiffModule<B>,
        G: Randomness,
        R: Resampler<G::Chance>,
    {
        let (mut sum, mut failed) = (GradientsAccumulator::new(), None);
        let run = randomness.to_string();
        let finished = self.run(
            model,
            x,
            blocks,
            randomness,
            |position, _, loss| match backward(loss, model) {
                Ok(gradients) => sum.accumulate(model, gradients),
                Err(value) => {
                    let (block, sweep, run) =
                        (name_of(position, blocks), position.sweep, run.clone());
                    failed.get_or_insert_with(|| not_finite(value, block, sweep, run));
                }
            },
        );
        // The first fault, of which weights that are none may have come.
        match failed {
            Some(error) => Err(error),
            None => Ok((sum.grads(), finished?)),
        }
    }

    /// The gradient of reweighted wake-sleep whose particles move before they are learned from, as HMC-RWS trains (Wu et al.
    /// 2020, section 6.1). Particles are z_l ~ q(z | x), and `moves` makes z'_l of z_l. The losses are those of the one-shot
    /// proposal at z'_l with the weights
    ///
    /// > w_l = p(x, z_l) / q(z_l | x)
    ///
    /// of z_l. `moves` must leave p(z | x) invariant: (z'_l, w_l) is then properly weighted as (z_l, w_l) is, since the kernel's reversal has
    /// p(x, z') r(z | z') = p(x, z) f(z' | z). The weights p(x, z') / q(z' | x) are not, for z' is no draw of q. `moves` draws from the chance
    /// of [`RESAMPLE`], which nothing else uses here. Sweeps and policy of the sampler mean nothing.
    ///
    /// # Errors
    /// Those of [`gradients`](Sampler::gradients), and that of `moves`.
    pub fn moved_gradients<B, M, G, E>(
        &self,
        model: &M,
        x: &M::Data,
        randomness: &mut G,
        moves: impl FnOnce(M::State, &mut G::Chance) -> Result<M::State, E>,
    ) -> Result<(GradientsParams, Population<M::State>), E>
    where
        B: AutodiffBackend,
        M: OneShot<B, G::Chance> + Rescore<B> + AutodiffModule<B>,
        G: Randomness,
        E: From<ApgError>,
    {
        let (run, one_shot) = (randomness.to_string(), || "one-shot".to_owned());
        let position = Position::default();
        let chance = randomness.at(PROPOSE, position);
        let Proposal { state, log_q } = model.propose(x, self.particles(), chance);
        let state = state.detach();
        let log_w = (model.log_joint(x, &state) - log_q).detach();
        let population = Population::new(state.clone(), log_w.clone());
        let population = population.map_err(|refused| refused.at(position, one_shot(), &run))?;
        let moved = moves(state, randomness.at(RESAMPLE, position))?.detach();
        let weights = activation::softmax(log_w, 0);
        let logs = [model.log_one_shot(x, &moved), model.log_joint(x, &moved)];
        let [log_q, log_p] = logs.map(|log| log.unsqueeze_dim(2));
        let loss = Loss::new(weights.unsqueeze_dim(2), log_q, log_p);
        let gradients =
            backward(loss, model).map_err(|value| not_finite(value, one_shot(), 0, run))?;
        Ok((gradients, population.with_state(moved)))
    }
}

/// What reports call the one-shot proposal, or the block of this place.
pub(crate) fn name_of<B, M, C>(position: Position, blocks: &[&dyn Block<B, M, C>]) -> String
where
    B: AutodiffBackend,
    M: Model<B>,
    C: ?Sized,
{
    match position {
        Position { sweep: 0, .. } => "one-shot".to_owned(),
        Position { block, .. } => blocks[block].name(),
    }
}

/// Why a loss has no gradient: its value, if that is not finite, or else some entry of the gradient is not.
pub(crate) struct NotFinite(Option<f64>);

pub(crate) fn not_finite(
    NotFinite(value): NotFinite,
    block: String,
    sweep: usize,
    run: String,
) -> ApgError {
    match value {
        Some(value) => ApgError::Loss {
            block,
            sweep,
            run,
            value,
        },
        None => ApgError::Gradient { block, sweep, run },
    }
}

/// The gradient of a loss, all of it finite.
pub(crate) fn backward<B, M>(loss: Loss<B>, model: &M) -> Result<GradientsParams, NotFinite>
where
    B: AutodiffBackend,
    M: AutodiffModule<B>,
{
    let loss = loss.total();
    let value: f64 = loss.to_data().iter::<f64>().sum();
    if !value.is_finite() {
        return Err(NotFinite(Some(value)));
    }
    let gradients = GradientsParams::from_grads(loss.backward(), model);
    let mut finite = Finite(&gradients, true);
    model.visit(&mut finite);
    match finite.1 {
        true => Ok(gradients),
        false => Err(NotFinite(None)),
    }
}

/// Whether all gradients are finite: their sums are.
struct Finite<'a>(&'a GradientsParams, bool);

impl<B: AutodiffBackend> ModuleVisitor<B> for Finite<'_> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<B, D>>) {
        if let Some(gradient) = self.0.get::<B::InnerBackend, D>(param.id) {
            let sum: f64 = gradient.sum().into_data().iter::<f64>().sum();
            self.1 &= sum.is_finite();
        }
    }
}
