//! Pictures of what a run has learned.

use super::{AnyModel, OnModel};
use crate::artifacts::{Artifacts, Drawing, PictureKind};
use crate::cell::Cell;
use crate::error::HarnessError;
use crate::framework::failed;
use burn::tensor::backend::BackendTypes;
use helmholtz_datasets::Images;
use helmholtz_estimators::Method;
use helmholtz_ops::Backend;
use helmholtz_report::picture::Picture;
use helmholtz_runs::Checkpoint;
use helmholtz_training::{Parameters, load_model};

/// A picture: caption and content of a PNG.
pub type Drawn = (String, Vec<u8>);

/// A run's pictures, from its checkpoint.
pub(crate) struct Draw<'a> {
    pub cell: &'a Cell,
    pub method: Method,
    pub checkpoint: &'a Checkpoint,
    pub test: Option<&'a Images>,
}

impl OnModel for Draw<'_> {
    type Output = Vec<Drawn>;

    fn on_any<B: Backend>(self, model: Box<dyn AnyModel<B>>) -> Result<Vec<Drawn>, HarnessError> {
        model.draw(self)
    }
}

impl Draw<'_> {
    pub(super) fn on<B: Backend, M: Artifacts<B>>(
        self,
        model: M,
    ) -> Result<Vec<Drawn>, HarnessError> {
        let device = <B as BackendTypes>::Device::default();
        let parameters = match self.checkpoint.state["selected"].is_null() {
            true => Parameters::Last,
            false => Parameters::Selected,
        };
        let model = model.valid();
        let model = load_model(model, self.checkpoint, parameters, &device).map_err(failed)?;
        let state = &self.checkpoint.state;
        let epoch = state["selected"]["epoch"].as_u64();
        let epoch = epoch.or(state["epochs_done"].as_u64()).unwrap_or(0);
        let model = self.method.tested(model, epoch);
        let drawing = Drawing {
            test: self.test,
            seed: self.cell.seed,
            device: &device,
        };
        let pictures = drawing.of::<M>(&model, self.cell.width());
        let as_file =
            |(kind, picture): (PictureKind, Picture)| (kind.caption().to_string(), picture.png());
        Ok(pictures.into_iter().map(as_file).collect())
    }
}
