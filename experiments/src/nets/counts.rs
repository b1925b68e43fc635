//! Autoencoders with counts for latents.

use super::{Failed, Family, NetConfig};
use crate::artifacts::{Artifacts, PictureKind, drawn};
use crate::cell::Settings;
use burn::backend::Autodiff;
use burn::tensor::DType;
use burn::tensor::backend::BackendTypes;
use helmholtz_count_vae::{CountVae, CountVaeConfig};
use helmholtz_datasets::Images;
use helmholtz_estimators::LatentKind;
use helmholtz_ops::Backend;
use helmholtz_report::picture::Picture;

impl NetConfig for CountVaeConfig {
    type Model<B: Backend> = CountVae<Autodiff<B>>;

    const LATENTS: LatentKind = LatentKind::Counts;

    const OPTIONS: &'static [&'static str] = &["slope", "learned_prior", "prior_rate"];

    fn of_width(self, visible: usize) -> Self {
        Self { visible, ..self }
    }

    fn with(self, settings: &Settings) -> Self {
        Self {
            learned_prior: settings.learned_prior.unwrap_or(self.learned_prior),
            slope: settings.slope.unwrap_or(self.slope),
            ..self
        }
    }

    fn values(&self) -> usize {
        self.visible + self.variables
    }

    fn check(&self) -> Result<(), Failed> {
        Ok(CountVaeConfig::check(self)?)
    }

    fn init<B: Backend>(
        &self,
        seed: u64,
        device: &<B as BackendTypes>::Device,
    ) -> Result<CountVae<Autodiff<B>>, Failed> {
        Ok(CountVaeConfig::init(self, seed, DType::F32, device)?)
    }
}

impl Family for CountVaeConfig {
    const NAME: &'static str = "count-vae";

    const FROM_DATA: &'static [&'static str] = &["visible"];

    fn named() -> Vec<(&'static str, Self)> {
        vec![
            ("poisson-200", Self::poisson()),
            ("binomial-16", Self::binomial(16)),
            ("binomial-128", Self::binomial(128)),
        ]
    }
}

impl<B: Backend> Artifacts<B> for CountVae<Autodiff<B>> {
    fn pictures(
        model: &CountVae<B>,
        test: Option<&Images>,
        seed: u64,
        device: &<B as BackendTypes>::Device,
    ) -> Vec<(PictureKind, Picture)> {
        drawn(model, CountVae::visible_logits, test, seed, device)
    }
}
