//! The gradient of a run, block by block.

use burn::module::AutodiffModule;
use burn::optim::{GradientsAccumulator, GradientsParams};
use burn::tensor::backend::AutodiffBackend;
use helmholtz_samplers::resampling::Resampler;

use crate::{ApgError, Block, OneShot, Randomness, Run, Sampler};

impl<R> Sampler<R> {
    /// Runs on data x, and differentiates each loss as soon as it is known, so that no more than one block's tape is in
    /// memory: the gradient of the sum over sweeps and blocks, to be descended.
    ///
    /// # Errors
    /// Those of [`run`](Sampler::run).
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
        let mut sum = GradientsAccumulator::new();
        let run = self.run(model, x, blocks, randomness, |_, loss| {
            let gradients = GradientsParams::from_grads(loss.total().backward(), model);
            sum.accumulate(model, gradients);
        })?;
        Ok((sum.grads(), run))
    }
}
