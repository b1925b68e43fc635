//! Predictions of the second half of a datum from the first, with an inference net: table 3.

use super::{Family, NetConfig};
use crate::artifacts::{Artifacts, Drawing, Pictures};
use burn::backend::Autodiff;
use helmholtz_conditional_sbn::{ConditionalSbn, ConditionalSbnConfig};
use helmholtz_ops::Backend;

impl NetConfig for ConditionalSbnConfig {
    of_its_crate!(ConditionalSbnConfig, ConditionalSbn);

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
}

impl Family for ConditionalSbnConfig {
    const NAME: &'static str = "conditional-sbn";

    const FROM_DATA: &'static [&'static str] = &["context", "target"];

    fn named() -> Vec<(&'static str, Self)> {
        vec![("structured", Self::table_3())]
    }
}

impl<B: Backend> Artifacts<B> for ConditionalSbn<Autodiff<B>> {
    fn pictures(model: &ConditionalSbn<B>, drawing: &Drawing<'_, B>) -> Pictures {
        drawing.completions(|x, count, noise| model.complete(x, count, noise))
    }
}
