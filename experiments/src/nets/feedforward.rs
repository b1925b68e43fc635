//! Predictions of the second half of a datum from the first, without an inference net: ARM's table 3.

use super::{Failed, Family, NetConfig};
use crate::artifacts::{Artifacts, PictureKind, completed};
use burn::backend::Autodiff;
use burn::tensor::DType;
use burn::tensor::backend::BackendTypes;
use helmholtz_conditional_sbn::{Feedforward, FeedforwardConfig};
use helmholtz_datasets::Images;
use helmholtz_estimators::{Method, OfBits};
use helmholtz_ops::Backend;
use helmholtz_random::Stream;
use helmholtz_report::picture::Picture;

impl NetConfig for FeedforwardConfig {
    type Model<B: Backend> = Feedforward<Autodiff<B>>;

    fn of_width(self, width: usize) -> Self {
        let context = width / 2;
        Self {
            context,
            target: width - context,
            ..self
        }
    }

    fn layers(&self) -> usize {
        self.latent.len()
    }

    fn values(&self) -> usize {
        self.target + self.latent.iter().sum::<usize>()
    }

    fn objection(&self, method: &Method) -> Option<&'static str> {
        matches!(method, Method::OfBits(OfBits::Concrete(_))).then_some(
            "the method relaxes prior and proposal at two temperatures; without an inference net they are the same law, whose \
             ratio would no longer be 1",
        )
    }

    fn check(&self) -> Result<(), Failed> {
        Ok(FeedforwardConfig::check(self)?)
    }

    fn init<B: Backend>(
        &self,
        seed: u64,
        device: &<B as BackendTypes>::Device,
    ) -> Result<Feedforward<Autodiff<B>>, Failed> {
        Ok(FeedforwardConfig::init(self, seed, DType::F32, device)?)
    }
}

impl Family for FeedforwardConfig {
    const NAME: &'static str = "feedforward";

    const FROM_DATA: &'static [&'static str] = &["context", "target"];

    fn named() -> Vec<(&'static str, Self)> {
        let named = |name| (name, Self::named(name).expect("one of its names"));
        Self::NAMES.map(named).to_vec()
    }
}

impl<B: Backend> Artifacts<B> for Feedforward<Autodiff<B>> {
    fn pictures(
        model: &Feedforward<B>,
        test: Option<&Images>,
        seed: u64,
        device: &<B as BackendTypes>::Device,
    ) -> Vec<(PictureKind, Picture)> {
        let complete = |x, count, noise: &mut Stream| model.complete(x, count, noise);
        completed(complete, test, seed, device)
    }
}
