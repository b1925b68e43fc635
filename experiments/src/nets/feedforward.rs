//! Predictions of the second half of a datum from the first, without an inference net: ARM's table 3.

use super::{Family, NetConfig};
use crate::artifacts::{Artifacts, Drawing, Pictures};
use burn::backend::Autodiff;
use helmholtz_conditional_sbn::{Feedforward, FeedforwardConfig};
use helmholtz_estimators::{Method, Pathwise};
use helmholtz_ops::Backend;

impl NetConfig for FeedforwardConfig {
    of_its_crate!(FeedforwardConfig, Feedforward);

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
        matches!(method, Method::Pathwise(Pathwise::Concrete(_))).then_some(
            "the method relaxes prior and proposal at two temperatures; without an inference net they are the same law, whose \
             ratio would no longer be 1",
        )
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
    fn pictures(model: &Feedforward<B>, drawing: &Drawing<'_, B>) -> Pictures {
        drawing.completions(|x, count, noise| model.complete(x, count, noise))
    }
}
