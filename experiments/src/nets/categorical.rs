//! Autoencoders with categorical latents: table 2.

use super::{Family, NetConfig};
use crate::artifacts::{Artifacts, Drawing, Pictures};
use crate::cell::Settings;
use burn::backend::Autodiff;
use helmholtz_categorical_vae::{CategoricalVae, CategoricalVaeConfig};
use helmholtz_estimators::LatentKind;
use helmholtz_ops::Backend;

impl NetConfig for CategoricalVaeConfig {
    of_its_crate!(CategoricalVaeConfig, CategoricalVae);

    const LATENTS: LatentKind = LatentKind::Classes;

    const OPTIONS: &'static [&'static str] = &[
        "slope",
        "learned_prior",
        "free_logits",
        "released_nll",
        "prior_rate",
    ];

    fn of_width(self, visible: usize) -> Self {
        Self { visible, ..self }
    }

    fn with(self, settings: &Settings) -> Self {
        Self {
            free_logits: settings.free_logits || self.free_logits,
            learned_prior: settings.learned_prior.unwrap_or(self.learned_prior),
            slope: settings.slope.unwrap_or(self.slope),
            ..self
        }
    }

    fn values(&self) -> usize {
        self.visible + self.variables * self.classes as usize
    }
}

impl Family for CategoricalVaeConfig {
    const NAME: &'static str = "categorical-vae";

    const FROM_DATA: &'static [&'static str] = &["visible"];

    fn named() -> Vec<(&'static str, Self)> {
        vec![("categorical", Self::table_2())]
    }
}

impl<B: Backend> Artifacts<B> for CategoricalVae<Autodiff<B>> {
    fn pictures(model: &CategoricalVae<B>, drawing: &Drawing<'_, B>) -> Pictures {
        drawing.digits(model, CategoricalVae::visible_logits)
    }
}
