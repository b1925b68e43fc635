//! The gradient of a run, block by block.

use burn::module::AutodiffModule;
use burn::optim::{GradientsAccumulator, GradientsParams};
use burn::tensor::backend::AutodiffBackend;
use helmholtz_samplers::resampling::Resampler;

use crate::{ApgError, Block, OneShot, Place, Randomness, Run, Sampler};

impl<R> Sampler<R> {
    /// Runs on data x, and differentiates each loss as soon as it is known, so that no more than one block's tape is
    /// in memory. The result is the gradient of the sum over sweeps and blocks, to be descended.
    ///
    /// # Errors
    /// Those of [`run`](Sampler::run), and [`ApgError::Loss`] for a loss that is not a finite number.
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
        let place_of = |place: Place| match place {
            Place { sweep: 0, .. } => "one-shot".to_owned(),
            Place { block, .. } => blocks[block].name(),
        };
        let finished = self.run(model, x, blocks, randomness, |place, _, loss| {
            let loss = loss.total();
            let value: f64 = loss.to_data().iter::<f64>().sum();
            if value.is_finite() {
                let gradients = GradientsParams::from_grads(loss.backward(), model);
                sum.accumulate(model, gradients);
            } else {
                failed.get_or_insert_with(|| ApgError::Loss {
                    block: place_of(place),
                    sweep: place.sweep,
                    run: run.clone(),
                    value,
                });
            }
        });
        // The first fault, of which weights that are none may have come.
        match failed {
            Some(error) => Err(error),
            None => Ok((sum.grads(), finished?)),
        }
    }
}
