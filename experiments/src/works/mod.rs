//! All that the program does with the model of a net, a file for each.
//!
//! | file | work |
//! |---|---|
//! | [`train`] | training a cell in its folder, and measuring what that costs |
//! | [`evaluate`] | likelihoods of a run's parameters |
//! | [`draw`] | pictures of what a run has learned |
//! | [`variance`] | the variance of gradients |
//! | [`track`] | the same during training, and its [`outcome`] |
//!
//! None of them knows nets by name, or the device: those who ask for the work do.

pub(crate) mod draw;
pub(crate) mod evaluate;
pub mod outcome;
pub(crate) mod track;
pub(crate) mod train;
pub mod variance;

use crate::artifacts::Artifacts;
use crate::cell_runner::{CellResult, Cost};
use crate::error::HarnessError;
use draw::{Draw, Drawn};
use evaluate::{Evaluated, Work};
use helmholtz_ops::Backend;
use outcome::Outcome;
use track::Track;
use train::{Measure, Run};
use variance::{Measurement, Row};

/// Work that is done with a model on any backend.
pub(crate) trait OnModel {
    /// Result of the work.
    type Output;

    /// Does it, by the method of [`AnyModel`] that is this work's.
    ///
    /// # Errors
    /// The work's own.
    fn on_any<B: Backend>(self, model: Box<dyn AnyModel<B>>) -> Result<Self::Output, HarnessError>;
}

/// A model of whichever type, and all that the program does with models.
pub(crate) trait AnyModel<B: Backend> {
    fn measure(self: Box<Self>, work: Measure<'_, B>) -> Result<Cost, HarnessError>;
    fn train(self: Box<Self>, work: Run<'_, B>) -> Result<CellResult, HarnessError>;
    fn evaluate(self: Box<Self>, work: Work<'_>) -> Result<Option<Evaluated>, HarnessError>;
    fn draw(self: Box<Self>, work: Draw<'_>) -> Result<Vec<Drawn>, HarnessError>;
    fn variance(self: Box<Self>, work: Measurement<'_>) -> Result<Vec<Row>, HarnessError>;
    fn variance_curve(self: Box<Self>, work: Track<'_>) -> Result<Outcome, HarnessError>;
}

impl<B: Backend, M: Artifacts<B>> AnyModel<B> for M {
    fn measure(self: Box<Self>, work: Measure<'_, B>) -> Result<Cost, HarnessError> {
        work.on(*self)
    }

    fn train(self: Box<Self>, work: Run<'_, B>) -> Result<CellResult, HarnessError> {
        work.on(*self)
    }

    fn evaluate(self: Box<Self>, work: Work<'_>) -> Result<Option<Evaluated>, HarnessError> {
        work.on::<B, M>(*self)
    }

    fn draw(self: Box<Self>, work: Draw<'_>) -> Result<Vec<Drawn>, HarnessError> {
        work.on::<B, M>(*self)
    }

    fn variance(self: Box<Self>, work: Measurement<'_>) -> Result<Vec<Row>, HarnessError> {
        work.on::<B, M>(*self)
    }

    fn variance_curve(self: Box<Self>, work: Track<'_>) -> Result<Outcome, HarnessError> {
        work.on::<B, M>(*self)
    }
}
