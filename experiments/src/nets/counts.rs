//! Autoencoders with counts for latents.

use super::{Family, NetConfig};
use crate::artifacts::{Artifacts, Drawing, Pictures};
use crate::cell::Settings;
use burn::backend::Autodiff;
use helmholtz_count_vae::{CountVae, CountVaeConfig};
use helmholtz_estimators::LatentKind;
use helmholtz_ops::Backend;

impl NetConfig for CountVaeConfig {
    of_its_crate!(CountVaeConfig, CountVae);

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
    fn pictures(model: &CountVae<B>, drawing: &Drawing<'_, B>) -> Pictures {
        drawing.digits(model, CountVae::visible_logits)
    }
}
