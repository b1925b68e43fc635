//! What a run keeps of its selected parameters, besides likelihoods.

use crate::cell::Cell;
use crate::completions;
use crate::digits;
use crate::error::HarnessError;
use burn::backend::Autodiff;
use burn::module::AutodiffModule;
use burn::tensor::Tensor;
use burn::tensor::backend::BackendTypes;
use helmholtz_categorical_vae::CategoricalVae;
use helmholtz_conditional_sbn::{ConditionalSbn, Feedforward};
use helmholtz_datasets::Images;
use helmholtz_estimators::{Dream, Model, Particles, Parts, Propose};
use helmholtz_evaluation::{AnalyticKl, Evaluation, nll};
use helmholtz_ops::Backend;
use helmholtz_random::{Purpose, Stream};
use helmholtz_report::picture::Picture;
use helmholtz_sbn::{MixedSbn, Sbn};
use std::sync::atomic::{AtomicBool, Ordering};

const RELEASED: Purpose = Purpose::new("released");

/// A model that a cell can train, and what its runs keep of the selected parameters.
pub trait Keeps<B: Backend>:
    Model<Autodiff<B>> + Parts<Autodiff<B>> + AutodiffModule<Autodiff<B>, InnerModule: Send>
{
    /// How it starts on these training images, where its start takes something from them.
    fn starting(self, _train: &Images) -> Self {
        self
    }

    /// What a run keeps besides, from the selected parameters.
    ///
    /// # Errors
    /// A stop.
    fn keep(_selected: &Self::InnerModule, _run: &Finished<B>) -> Result<Kept, HarnessError> {
        Ok(Kept::default())
    }

    /// Pictures of what `model` has learned; `test` images are there or not. A run draws them of the selected parameters.
    fn pictures(
        model: &Self::InnerModule,
        test: Option<&Images>,
        seed: u64,
        device: &<B as BackendTypes>::Device,
    ) -> Vec<(Shown, Picture)>;
}

/// What a picture shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// [`digits::sampled`].
    Sampled,
    /// [`digits::reconstructed`].
    Reconstructed,
    /// [`completions::picture`].
    Completed,
}

impl Shown {
    /// Its name in the run folder.
    pub fn file(self) -> &'static str {
        match self {
            Self::Sampled => "sampled.png",
            Self::Reconstructed => "reconstructed.png",
            Self::Completed => "completions.png",
        }
    }

    /// In words.
    pub fn caption(self) -> &'static str {
        match self {
            Self::Sampled => "sampled from p",
            Self::Reconstructed => "test images, and below each three reconstructions",
            Self::Completed => "test images, their upper halves, and sampled lower ones",
        }
    }

    /// What a file of a run folder shows.
    pub fn of(file: &str) -> Option<Self> {
        let all = [Self::Sampled, Self::Reconstructed, Self::Completed];
        all.into_iter().find(|shown| shown.file() == file)
    }
}

/// A run after its last epoch.
pub struct Finished<'a, B: Backend> {
    /// What was run.
    pub cell: &'a Cell,
    /// The test images.
    pub test: &'a Images,
    /// Where to compute.
    pub device: &'a <B as BackendTypes>::Device,
    /// Threads of an evaluation.
    pub threads: usize,
    /// Set to stop.
    pub stop: &'a AtomicBool,
}

/// What becomes part of the result.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Kept {
    /// See [`CellResult::released_nll`](crate::likelihood::cell_runner::CellResult::released_nll).
    pub released_nll: Option<f64>,
}

impl<B: Backend> Keeps<B> for Sbn<Autodiff<B>> {
    fn starting(self, train: &Images) -> Self {
        self.for_means(|| train.pixel_means())
    }

    fn pictures(
        model: &Sbn<B>,
        test: Option<&Images>,
        seed: u64,
        device: &<B as BackendTypes>::Device,
    ) -> Vec<(Shown, Picture)> {
        drawn(model, Sbn::visible_logits, test, seed, device)
    }
}

impl<B: Backend> Keeps<B> for MixedSbn<Autodiff<B>> {
    fn starting(self, train: &Images) -> Self {
        self.for_means(|| train.pixel_means())
    }

    fn pictures(
        model: &MixedSbn<B>,
        test: Option<&Images>,
        seed: u64,
        device: &<B as BackendTypes>::Device,
    ) -> Vec<(Shown, Picture)> {
        drawn(model, MixedSbn::visible_logits, test, seed, device)
    }
}

/// Sampled digits, and reconstructed ones if there are images.
fn drawn<B: Backend, M: Dream<B> + Propose<B>>(
    model: &M,
    logits: impl Fn(&M, &Particles<B>) -> Tensor<B, 2>,
    test: Option<&Images>,
    seed: u64,
    device: &<B as BackendTypes>::Device,
) -> Vec<(Shown, Picture)> {
    let drawn = (Shown::Sampled, digits::sampled(model, seed, device));
    let again = test.map(|test| {
        let picture = digits::reconstructed(model, logits, test, seed, device);
        (Shown::Reconstructed, picture)
    });
    [drawn].into_iter().chain(again).collect()
}

impl<B: Backend> Keeps<B> for CategoricalVae<Autodiff<B>> {
    fn keep(selected: &CategoricalVae<B>, run: &Finished<B>) -> Result<Kept, HarnessError> {
        let settings = &run.cell.settings;
        if !settings.released_nll {
            return Ok(Kept::default());
        }
        let evaluation = Evaluation {
            samples: settings.reported_samples().unwrap_or(settings.test_samples) as usize,
            seed: run.cell.seed,
            purpose: RELEASED,
            threads: run.threads,
        };
        let go_on = |_| !run.stop.load(Ordering::Relaxed);
        let model = AnalyticKl(selected.clone());
        let released = nll::<B, _>(&model, run.test, &evaluation, run.device, &go_on);
        let epoch = settings.epochs;
        let released = released.ok_or(HarnessError::Interrupted { epoch })?;
        Ok(Kept {
            released_nll: Some(released.mean),
        })
    }

    fn pictures(
        model: &CategoricalVae<B>,
        test: Option<&Images>,
        seed: u64,
        device: &<B as BackendTypes>::Device,
    ) -> Vec<(Shown, Picture)> {
        drawn(model, CategoricalVae::visible_logits, test, seed, device)
    }
}

/// Sampled lower halves, if there are images to complete.
fn completed<B: Backend>(
    complete: impl Fn(Tensor<B, 2>, usize, &mut Stream) -> Tensor<B, 2>,
    test: Option<&Images>,
    seed: u64,
    device: &<B as BackendTypes>::Device,
) -> Vec<(Shown, Picture)> {
    let picture = |test| completions::picture(complete, test, seed, device);
    let pictures = test.map(picture).into_iter();
    pictures
        .map(|picture| (Shown::Completed, picture))
        .collect()
}

impl<B: Backend> Keeps<B> for ConditionalSbn<Autodiff<B>> {
    fn pictures(
        model: &ConditionalSbn<B>,
        test: Option<&Images>,
        seed: u64,
        device: &<B as BackendTypes>::Device,
    ) -> Vec<(Shown, Picture)> {
        let complete = |x, count, noise: &mut Stream| model.complete(x, count, noise);
        completed(complete, test, seed, device)
    }
}

impl<B: Backend> Keeps<B> for Feedforward<Autodiff<B>> {
    fn pictures(
        model: &Feedforward<B>,
        test: Option<&Images>,
        seed: u64,
        device: &<B as BackendTypes>::Device,
    ) -> Vec<(Shown, Picture)> {
        let complete = |x, count, noise: &mut Stream| model.complete(x, count, noise);
        completed(complete, test, seed, device)
    }
}
