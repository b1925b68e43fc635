//! The evaluation of a run's parameters on some of the test images.

use super::{AnyModel, OnModel};
use crate::artifacts::Artifacts;
use crate::error::HarnessError;
use crate::framework::failed;
use crate::trained::Run;
use helmholtz_datasets::Images;
use helmholtz_estimators::{Joint, Layered, Method, Propose};
use helmholtz_evaluation::{
    AnalyticKl, Bounds, Evaluation, LogWeights, Tempering, bounds, log_weights_at,
    tempered_log_evidence,
};
use helmholtz_ops::Backend;
use helmholtz_random::Purpose;
use helmholtz_runs::Pieces;
use helmholtz_training::load_model;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Draws of a run's own last evaluation: with the run's seed and as many samples the number is the same.
const TEST: Purpose = Purpose::new("test");
/// Draws of a run's own number by the released formula.
pub(super) const RELEASED: Purpose = Purpose::new("released");
/// Draws of tempered particles.
const TEMPERED: Purpose = Purpose::new("tempered");

/// Result of an evaluation.
pub(crate) struct Evaluated {
    /// `[rows, samples]`; none without numbers of samples.
    pub weights: Vec<LogWeights>,
    /// Tempered estimates, where they were asked for and not stopped.
    pub tempered: Option<Tempered>,
}

/// Result of tempered sequential Monte Carlo.
#[derive(Serialize, Deserialize)]
pub(crate) struct Tempered {
    /// ln p̂(x) of each row.
    pub log_evidence: Vec<f64>,
    /// Bounds of as many data drawn from the model.
    pub bounds: Vec<Bounds>,
    /// Evaluations of p(x, h) for a datum.
    pub evaluations: usize,
}

/// What the log-weights of a model are.
#[derive(Clone, Copy)]
pub(crate) enum Formula {
    /// ln p(x, h) − ln q(h | x): of a likelihood.
    Likelihood,
    /// Those of [`AnalyticKl`]: of the number that released code reports.
    Released,
}

/// Images of a piece for each thread: what a stop loses at most. Ten groups of ten, so that few threads are idle at its end.
const PIECE: usize = 100;

/// What `of_rows` makes of all images on so many threads, piece by piece; each that is done is kept under a name that begins with `what`.
///
/// # Errors
/// [`HarnessError::Interrupted`] where `of_rows` was stopped and gives none.
pub(crate) fn in_pieces<T: Serialize + DeserializeOwned>(
    images: usize,
    threads: usize,
    what: &str,
    pieces: &Pieces,
    mut of_rows: impl FnMut(Range<usize>) -> Result<Option<T>, HarnessError>,
) -> Result<Vec<T>, HarnessError> {
    let size = PIECE * threads.max(1);
    let piece = |first: usize| {
        let rows = first..(first + size).min(images);
        let name = format!("{what} of images {} to {}", rows.start, rows.end);
        pieces.get(&name, || {
            of_rows(rows)?.ok_or(HarnessError::Interrupted { epoch: 0 })
        })
    };
    (0..images).step_by(size).map(piece).collect()
}

/// Work of an evaluation; of a part that was stopped nothing comes.
pub(crate) struct Work<'a> {
    pub run: &'a Run,
    pub method: Method,
    pub images: &'a Images,
    /// Rows of the images.
    pub rows: Range<usize>,
    pub samples: &'a [usize],
    /// What they are samples of.
    pub formula: Formula,
    /// Particles and steps of tempered sequential Monte Carlo, if it is asked for.
    pub tempered: Option<[usize; 2]>,
    pub seed: u64,
    pub threads: usize,
    /// Hears how far it is.
    pub state: &'a (dyn Fn(String) + Sync),
    pub stop: &'a AtomicBool,
}

impl Tempered {
    /// The whole of parts in order; none of none.
    pub fn of_parts(parts: Vec<Self>) -> Option<Self> {
        parts.into_iter().reduce(|mut whole, part| {
            whole.log_evidence.extend(part.log_evidence);
            whole.bounds.extend(part.bounds);
            whole
        })
    }
}

impl OnModel for Work<'_> {
    type Output = Option<Evaluated>;

    fn on_any<B: Backend>(self, model: Box<dyn AnyModel<B>>) -> Result<Self::Output, HarnessError> {
        model.evaluate(self)
    }
}

impl Work<'_> {
    pub(super) fn on<B: Backend, M: Artifacts<B>>(
        self,
        model: M,
    ) -> Result<Option<Evaluated>, HarnessError> {
        let device = Default::default();
        let Run {
            checkpoint,
            parameters,
            ..
        } = self.run;
        let model = load_model(model, checkpoint, *parameters, &device).map_err(failed)?;
        let epoch = self.run.epoch().unwrap_or(0);
        let model = self.method.tested(model.valid(), epoch);
        let (images, rows) = (self.images, self.rows.clone());
        let mut weights = Vec::new();
        if let Some(&largest) = self.samples.iter().max() {
            let found = match self.formula {
                Formula::Likelihood => self.log_weights(&model, TEST, largest, "", &device),
                Formula::Released => {
                    let model = AnalyticKl(model.clone());
                    self.log_weights(&model, RELEASED, largest, "released formula, ", &device)
                }
            };
            match found {
                Some(found) => weights = found,
                None => return Ok(None),
            }
        }
        let Some([particles, steps]) = self.tempered else {
            let tempered = None;
            return Ok(Some(Evaluated { weights, tempered }));
        };
        let tempering = Tempering {
            particles,
            steps,
            seed: self.seed,
            purpose: TEMPERED,
            threads: self.threads,
        };
        let progress = self.progress("tempered".into());
        let log_evidence = tempered_log_evidence::<B, _>(
            &model,
            images,
            rows.clone(),
            &tempering,
            &device,
            &progress,
        );
        let progress = self.progress("both bounds".into());
        let tempered = log_evidence.and_then(|log_evidence| {
            Some(Tempered {
                log_evidence,
                bounds: bounds::<B, _>(&model, images, rows, &tempering, &device, &progress)?,
                evaluations: tempering.evaluations(model.layers().len()),
            })
        });
        Ok(Some(Evaluated { weights, tempered }))
    }

    /// The log-weights of its rows, `[rows, samples]`, in a pass of the largest number of samples; none of a stop.
    fn log_weights<B: Backend, M: Propose<B> + Joint<B> + Clone + Send>(
        &self,
        model: &M,
        purpose: Purpose,
        largest: usize,
        name: &str,
        device: &B::Device,
    ) -> Option<Vec<LogWeights>> {
        let evaluation = Evaluation {
            samples: largest,
            seed: self.seed,
            purpose,
            threads: self.threads,
        };
        let go_on = self.progress(format!("{name}S = {largest}"));
        log_weights_at::<B, M>(
            model,
            self.images,
            self.rows.clone(),
            &evaluation,
            self.samples,
            device,
            &go_on,
        )
    }

    /// Tells how far a part is, and whether to go on.
    fn progress(&self, part: String) -> impl Fn(usize) -> bool + Sync {
        let (done, all) = (AtomicUsize::new(self.rows.start), self.images.len());
        move |images: usize| {
            let done = done.fetch_add(images, Ordering::Relaxed) + images;
            if images > 0 {
                (self.state)(format!("{part}: {done} of {all} images"));
            }
            !self.stop.load(Ordering::Relaxed)
        }
    }
}
