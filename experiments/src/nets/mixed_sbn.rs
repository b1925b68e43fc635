//! Sigmoid belief networks with a categorical variable on top: Helmholtz machines.

use super::{Family, NetConfig};
use crate::artifacts::{Artifacts, Drawing, Pictures};
use burn::backend::Autodiff;
use helmholtz_datasets::Images;
use helmholtz_estimators::LatentKind;
use helmholtz_ops::Backend;
use helmholtz_sbn::{MixedSbn, MixedSbnConfig};

impl NetConfig for MixedSbnConfig {
    of_its_crate!(MixedSbnConfig, MixedSbn);

    const LATENTS: LatentKind = LatentKind::Classes;

    fn of_width(self, visible: usize) -> Self {
        let bits = self.bits.of_width(visible);
        Self { bits, ..self }
    }

    fn layers(&self) -> usize {
        self.bits.layers() + 1
    }

    fn values(&self) -> usize {
        self.bits.values() + self.classes
    }
}

impl Family for MixedSbnConfig {
    const NAME: &'static str = "mixed-sbn";

    const FROM_DATA: &'static [&'static str] = &["bits.visible"];

    fn named() -> Vec<(&'static str, Self)> {
        let named = |name| (name, Self::named(name).expect("one of its names"));
        Self::NAMES.map(named).to_vec()
    }
}

impl<B: Backend> Artifacts<B> for MixedSbn<Autodiff<B>> {
    fn starting(self, train: &Images) -> Self {
        self.for_means(|| train.pixel_means())
    }

    fn pictures(model: &MixedSbn<B>, drawing: &Drawing<'_, B>) -> Pictures {
        drawing.digits(model, MixedSbn::visible_logits)
    }
}
