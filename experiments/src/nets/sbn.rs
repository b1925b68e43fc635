//! Sigmoid belief networks of bits: table 1, ARM's tables, Helmholtz machines.

use super::{Family, NetConfig};
use crate::artifacts::{Artifacts, Drawing, Pictures};
use crate::cell::Settings;
use burn::backend::Autodiff;
use helmholtz_datasets::Images;
use helmholtz_ops::Backend;
use helmholtz_sbn::{Initialisation, Sbn, SbnConfig};

impl NetConfig for SbnConfig {
    of_its_crate!(SbnConfig, Sbn);

    const OPTIONS: &'static [&'static str] = &[
        "slope",
        "learned_prior",
        "signed",
        "tanh",
        "centred",
        "glorot",
        "prior_rate",
    ];

    fn of_width(self, visible: usize) -> Self {
        Self { visible, ..self }
    }

    fn with(self, settings: &Settings) -> Self {
        Self {
            slope: settings.slope.unwrap_or(self.slope),
            signed: settings.signed || self.signed,
            tanh: settings.tanh || self.tanh,
            centred: settings.centred || self.centred,
            learned_prior: settings.learned_prior.unwrap_or(self.learned_prior),
            initialisation: match settings.glorot {
                true => Initialisation::Xavier { bias: 0.0 },
                false => self.initialisation,
            },
            ..self
        }
    }

    fn layers(&self) -> usize {
        self.latent.len()
    }

    fn values(&self) -> usize {
        self.visible + self.latent.iter().sum::<usize>()
    }
}

impl Family for SbnConfig {
    const NAME: &'static str = "sbn";

    const FROM_DATA: &'static [&'static str] = &["visible"];

    fn named() -> Vec<(&'static str, Self)> {
        let named = |name| (name, Self::named(name).expect("one of its names"));
        Self::NAMES.map(named).to_vec()
    }
}

impl<B: Backend> Artifacts<B> for Sbn<Autodiff<B>> {
    fn starting(self, train: &Images) -> Self {
        self.for_means(|| train.pixel_means())
    }

    fn pictures(model: &Sbn<B>, drawing: &Drawing<'_, B>) -> Pictures {
        drawing.digits(model, Sbn::visible_logits)
    }
}
