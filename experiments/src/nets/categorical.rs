//! Autoencoders with categorical latents: table 2.

use super::{Family, NetConfig};
use crate::artifacts::{Artifacts, Drawing, ExtraResults, Finished, Pictures};
use crate::cell::Settings;
use crate::error::HarnessError;
use burn::backend::Autodiff;
use helmholtz_categorical_vae::{CategoricalVae, CategoricalVaeConfig};
use helmholtz_estimators::LatentKind;
use helmholtz_evaluation::{AnalyticKl, Evaluation, nll};
use helmholtz_ops::Backend;
use helmholtz_random::Purpose;
use std::sync::atomic::Ordering;

const RELEASED: Purpose = Purpose::new("released");

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
    fn extra_results(
        selected: &CategoricalVae<B>,
        run: &Finished<B>,
    ) -> Result<ExtraResults, HarnessError> {
        let settings = &run.cell.settings;
        if !settings.released_nll {
            return Ok(ExtraResults::default());
        }
        let evaluation = Evaluation {
            samples: settings.reported_samples().unwrap_or(settings.test_samples) as usize,
            seed: run.cell.seed,
            purpose: RELEASED,
            threads: run.threads,
        };
        let go_on = |_| !run.stop.load(Ordering::Relaxed);
        let model = AnalyticKl(selected.clone());
        let released = nll::<B, _>(&model, run.test, &evaluation, run.device, &go_on);
        let epoch = settings.epochs;
        let released = released.ok_or(HarnessError::Interrupted { epoch })?;
        Ok(ExtraResults {
            released_nll: Some(released.mean),
        })
    }

    fn pictures(model: &CategoricalVae<B>, drawing: &Drawing<'_, B>) -> Pictures {
        drawing.digits(model, CategoricalVae::visible_logits)
    }
}
