//! Predictions of the second half of a datum from the first, with an inference net: table 3.

use super::{Failed, Family, NetConfig};
use crate::artifacts::{Artifacts, PictureKind, completed};
use burn::backend::Autodiff;
use burn::tensor::DType;
use burn::tensor::backend::BackendTypes;
use helmholtz_conditional_sbn::{ConditionalSbn, ConditionalSbnConfig};
use helmholtz_datasets::Images;
use helmholtz_ops::Backend;
use helmholtz_random::Stream;
use helmholtz_report::picture::Picture;

impl NetConfig for ConditionalSbnConfig {
    type Model<B: Backend> = ConditionalSbn<Autodiff<B>>;

    fn of_width(self, width: usize) -> Self {
        let context = width / 2;
        Self {
            context,
            target: width - context,
            ..self
        }
    }

    fn values(&self) -> usize {
        self.target + self.latent
    }

    fn check(&self) -> Result<(), Failed> {
        Ok(ConditionalSbnConfig::check(self)?)
    }

    fn init<B: Backend>(
        &self,
        seed: u64,
        device: &<B as BackendTypes>::Device,
    ) -> Result<ConditionalSbn<Autodiff<B>>, Failed> {
        Ok(ConditionalSbnConfig::init(self, seed, DType::F32, device)?)
    }
}

impl Family for ConditionalSbnConfig {
    const NAME: &'static str = "conditional-sbn";

    const FROM_DATA: &'static [&'static str] = &["context", "target"];

    fn named() -> Vec<(&'static str, Self)> {
        vec![("structured", Self::table_3())]
    }
}

impl<B: Backend> Artifacts<B> for ConditionalSbn<Autodiff<B>> {
    fn pictures(
        model: &ConditionalSbn<B>,
        test: Option<&Images>,
        seed: u64,
        device: &<B as BackendTypes>::Device,
    ) -> Vec<(PictureKind, Picture)> {
        let complete = |x, count, noise: &mut Stream| model.complete(x, count, noise);
        completed(complete, test, seed, device)
    }
}
