//! Sigmoid belief networks with a categorical variable on top: Helmholtz machines.

use super::{Failed, Family, NetConfig};
use crate::artifacts::{Artifacts, PictureKind, drawn};
use burn::backend::Autodiff;
use burn::tensor::DType;
use burn::tensor::backend::BackendTypes;
use helmholtz_datasets::Images;
use helmholtz_estimators::LatentKind;
use helmholtz_ops::Backend;
use helmholtz_report::picture::Picture;
use helmholtz_sbn::{MixedSbn, MixedSbnConfig};

impl NetConfig for MixedSbnConfig {
    type Model<B: Backend> = MixedSbn<Autodiff<B>>;

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

    fn check(&self) -> Result<(), Failed> {
        Ok(MixedSbnConfig::check(self)?)
    }

    fn init<B: Backend>(
        &self,
        seed: u64,
        device: &<B as BackendTypes>::Device,
    ) -> Result<MixedSbn<Autodiff<B>>, Failed> {
        Ok(MixedSbnConfig::init(self, seed, DType::F32, device)?)
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

    fn pictures(
        model: &MixedSbn<B>,
        test: Option<&Images>,
        seed: u64,
        device: &<B as BackendTypes>::Device,
    ) -> Vec<(PictureKind, Picture)> {
        drawn(model, MixedSbn::visible_logits, test, seed, device)
    }
}
