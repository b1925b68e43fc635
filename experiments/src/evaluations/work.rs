//! The evaluation of a run's parameters on some of the test images.

use crate::backend::{Built, OnBackend};
use crate::error::HarnessError;
use crate::kept::Keeps;
use crate::likelihood::runner::failed;
use crate::nets::{AnyModel, Net, OnModel};
use crate::trained::Run;
use helmholtz_datasets::Images;
use helmholtz_evaluation::{Evaluation, LogWeights, log_weights_at};
use helmholtz_ops::Backend;
use helmholtz_random::Purpose;
use helmholtz_training::load_model;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Of a run's own last evaluation: with the run's seed and as many samples the number is the same.
const TEST: Purpose = Purpose::new("test");

/// What to evaluate: `[rows, samples]` log-weights come of it, or nothing if it was stopped.
pub(crate) struct Work<'a> {
    pub run: &'a Run,
    pub images: &'a Images,
    /// Those of the images.
    pub rows: Range<usize>,
    pub samples: &'a [usize],
    pub seed: u64,
    pub threads: usize,
    /// Hears how far it is.
    pub state: &'a (dyn Fn(String) + Sync),
    pub stop: &'a AtomicBool,
}

impl OnBackend for Work<'_> {
    type Output = Option<Vec<LogWeights>>;

    fn on<B: Built>(self) -> Result<Self::Output, HarnessError> {
        let (net, seed) = (Net::of(&self.run.cell)?, self.seed);
        net.build::<B, _>(seed, &Default::default(), self)
    }
}

impl<B: Backend> OnModel<B> for Work<'_> {
    type Output = Option<Vec<LogWeights>>;

    fn on_any(self, model: Box<dyn AnyModel<B>>) -> Result<Self::Output, HarnessError> {
        model.evaluate(self)
    }

    fn on<M: Keeps<B>>(self, model: M) -> Result<Self::Output, HarnessError> {
        let device = Default::default();
        let Run {
            cell,
            checkpoint,
            parameters,
            ..
        } = self.run;
        let model = load_model(model, checkpoint, *parameters, &device).map_err(failed)?;
        let epoch = self.run.epoch().unwrap_or(0);
        let model = cell.method()?.tested(model.valid(), epoch);
        let largest = self.samples.iter().copied().max().unwrap_or(0);
        let evaluation = Evaluation {
            samples: largest,
            seed: self.seed,
            purpose: TEST,
            threads: self.threads,
        };
        let (done, all) = (AtomicUsize::new(self.rows.start), self.images.len());
        let progress = |images: usize| {
            let done = done.fetch_add(images, Ordering::Relaxed) + images;
            (self.state)(format!("S = {largest}: {done} of {all} images"));
            !self.stop.load(Ordering::Relaxed)
        };
        Ok(log_weights_at::<B, _>(
            &model,
            self.images,
            self.rows,
            &evaluation,
            self.samples,
            &device,
            &progress,
        ))
    }
}
