//! One layer of bits under grey images: the second half of RODEO's protocol.

use super::{Family, NetConfig};
use crate::artifacts::Artifacts;
use crate::cell::Settings;
use burn::backend::Autodiff;
use helmholtz_ops::Backend;
use helmholtz_sbn::{GaussianVae, GaussianVaeConfig};

impl NetConfig for GaussianVaeConfig {
    of_its_crate!(GaussianVaeConfig, GaussianVae);

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
