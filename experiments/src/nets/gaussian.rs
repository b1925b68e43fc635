//! One layer of bits under grey images: the second half of RODEO's protocol.

use super::{Failed, Family, NetConfig};
use crate::artifacts::Artifacts;
use crate::cell::Settings;
use burn::backend::Autodiff;
use burn::tensor::DType;
use burn::tensor::backend::BackendTypes;
use helmholtz_ops::Backend;
use helmholtz_sbn::{GaussianVae, GaussianVaeConfig};

impl NetConfig for GaussianVaeConfig {
    type Model<B: Backend> = GaussianVae<Autodiff<B>>;

    const ANY_NUMBERS: bool = true;

    const OPTIONS: &'static [&'static str] = &["slope"];

    fn of_width(self, visible: usize) -> Self {
        Self { visible, ..self }
    }

    fn with(self, settings: &Settings) -> Self {
        Self {
            slope: settings.slope.unwrap_or(self.slope),
            ..self
        }
    }

    fn values(&self) -> usize {
        self.visible + self.latent
    }

    fn check(&self) -> Result<(), Failed> {
        Ok(GaussianVaeConfig::check(self)?)
    }

    fn init<B: Backend>(
        &self,
        seed: u64,
        device: &<B as BackendTypes>::Device,
    ) -> Result<GaussianVae<Autodiff<B>>, Failed> {
        Ok(GaussianVaeConfig::init(self, seed, DType::F32, device)?)
    }
}

impl Family for GaussianVaeConfig {
    const NAME: &'static str = "gaussian-vae";

    const FROM_DATA: &'static [&'static str] = &["visible"];

    fn named() -> Vec<(&'static str, Self)> {
        vec![
            ("gaussian-nonlinear", Self::digits(true)),
            ("gaussian-linear", Self::digits(false)),
        ]
    }
}

impl<B: Backend> Artifacts<B> for GaussianVae<Autodiff<B>> {}
