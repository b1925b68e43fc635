//! Artifacts that a run keeps of its selected parameters, besides likelihoods: pictures.

use crate::completions;
use crate::digits;
use burn::backend::Autodiff;
use burn::module::AutodiffModule;
use burn::tensor::Tensor;
use burn::tensor::backend::BackendTypes;
use helmholtz_datasets::Images;
use helmholtz_estimators::{Dream, Model, Particles, Parts, Propose};
use helmholtz_ops::Backend;
use helmholtz_random::Stream;
use helmholtz_report::picture::Picture;

/// A model that a cell can train, and the pictures that its runs keep of the selected parameters.
pub trait Artifacts<B: Backend>:
    Model<Autodiff<B>> + Parts<Autodiff<B>> + AutodiffModule<Autodiff<B>, InnerModule: Send>
{
    /// Returns the model as it starts on these training images, where its start takes something from them.
    fn starting(self, _train: &Images) -> Self {
        self
    }

    /// Pictures of what `model` has learned, if any. A run draws them of the selected parameters.
    fn pictures(_model: &Self::InnerModule, _drawing: &Drawing<'_, B>) -> Pictures {
        Pictures::new()
    }
}

/// Pictures of what a model has learned.
pub type Pictures = Vec<(PictureKind, Picture)>;

/// What pictures of a model are drawn from.
pub struct Drawing<'a, B: Backend> {
    /// The test images, if they are there.
    pub test: Option<&'a Images>,
    /// Names the draws.
    pub seed: u64,
    /// Device to compute on.
    pub device: &'a <B as BackendTypes>::Device,
}

impl<B: Backend> Drawing<'_, B> {
    /// [`Artifacts::pictures`] of a net on data of this width; none where they are no pictures of [`SIDE`](completions::SIDE) pixels to a
    /// side.
    pub(crate) fn of<M: Artifacts<B>>(&self, model: &M::InnerModule, width: usize) -> Pictures {
        match width == completions::SIDE * completions::SIDE {
            true => M::pictures(model, self),
            false => Pictures::new(),
        }
    }

    /// Sampled digits, and reconstructed ones if there are images.
    pub(crate) fn digits<M: Dream<B> + Propose<B>>(
        &self,
        model: &M,
        logits: impl Fn(&M, &Particles<B>) -> Tensor<B, 2>,
    ) -> Pictures {
        let Self { seed, device, .. } = *self;
        let drawn = (PictureKind::Sampled, digits::sampled(model, seed, device));
        let again = self.test.map(|test| {
            let picture = digits::reconstructed(model, logits, test, seed, device);
            (PictureKind::Reconstructed, picture)
        });
        [drawn].into_iter().chain(again).collect()
    }

    /// Sampled lower halves, if there are images to complete.
    pub(crate) fn completions(
        &self,
        complete: impl Fn(Tensor<B, 2>, usize, &mut Stream) -> Tensor<B, 2>,
    ) -> Pictures {
        let picture = |test| completions::picture(complete, test, self.seed, self.device);
        let pictures = self.test.map(picture).into_iter();
        pictures
            .map(|picture| (PictureKind::Completed, picture))
            .collect()
    }
}

/// Content of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PictureKind {
    /// [`digits::sampled`].
    Sampled,
    /// [`digits::reconstructed`].
    Reconstructed,
    /// [`completions::picture`].
    Completed,
}

impl PictureKind {
    /// Its name in the run folder.
    pub fn file(self) -> &'static str {
        match self {
            Self::Sampled => "sampled.png",
            Self::Reconstructed => "reconstructed.png",
            Self::Completed => "completions.png",
        }
    }

    /// Caption, in words.
    pub fn caption(self) -> &'static str {
        match self {
            Self::Sampled => "sampled from p",
            Self::Reconstructed => "test images, and below each three reconstructions",
            Self::Completed => "test images, their upper halves, and sampled lower ones",
        }
    }

    /// Returns what a file of a run folder shows.
    pub fn of(file: &str) -> Option<Self> {
        let all = [Self::Sampled, Self::Reconstructed, Self::Completed];
        all.into_iter().find(|kind| kind.file() == file)
    }
}
