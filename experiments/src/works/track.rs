//! Training and measuring, on any backend.

use super::outcome::{Outcome, Point};
use super::train::Runner;
use super::variance::{Event, Measurement, Request};
use super::{AnyModel, OnModel};
use crate::artifacts::Artifacts;
use crate::cell::Cell;
use crate::error::HarnessError;
use crate::events;
use crate::framework::ended;
use crate::trained::Run;
use helmholtz_datasets::Splits;
use helmholtz_estimators::Entry;
use helmholtz_evaluation::Replication;
use helmholtz_harness::driver::{Event as Told, Observer};
use helmholtz_harness::plan_text::count;
use helmholtz_ops::Backend;
use helmholtz_runs::{Pieces, RunFolder, read_metrics};
use helmholtz_training::{Event as Training, Parameters, TrainConfig, train};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A scale.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// One line for the plan.
    pub about: String,
    /// Epochs of a whole run: the switch to stage II is at the table's share of them.
    pub epochs: u64,
    /// Epochs from one measurement to the next.
    pub every: u64,
    /// Images of the mini-batch, the first of the training set.
    pub images: usize,
    /// R: how often an estimate is made.
    pub replicates: usize,
}

impl Profile {
    /// The epochs, from 0, before whose updates is measured: 0, `every`, 2 `every`, …, and the last.
    pub fn measured(&self) -> Vec<u64> {
        let mut epochs: Vec<u64> = (0..self.epochs).step_by(self.every as usize).collect();
        if epochs.last() != Some(&(self.epochs - 1)) {
            epochs.push(self.epochs - 1);
        }
        epochs
    }
}

/// A cell that is trained in its folder, from its last checkpoint, and measured on the way.
pub(crate) struct Track<'a> {
    /// Cell that is trained.
    pub cell: &'a Cell,
    /// Its estimator.
    pub entry: &'a Entry,
    /// When, and how, is measured.
    pub profile: &'a Profile,
    /// Its run folder.
    pub folder: &'a mut RunFolder,
    /// The images.
    pub data: &'a Arc<Splits>,
    /// Name of the device in the provenance.
    pub device: &'a str,
    /// Hears of everything.
    pub observer: &'a dyn Observer,
    /// Set to stop.
    pub stop: &'a AtomicBool,
}

impl OnModel for Track<'_> {
    type Output = Outcome;

    fn on_any<B: Backend>(self, model: Box<dyn AnyModel<B>>) -> Result<Outcome, HarnessError> {
        model.variance_curve(self)
    }
}

impl Track<'_> {
    pub(super) fn on<B: Backend, M: Artifacts<B>>(
        mut self,
        model: M,
    ) -> Result<Outcome, HarnessError> {
        let model = model.starting(&self.data.train);
        let runner = Runner::<B>::new(Arc::clone(self.data), 1, self.device.into());
        let config = runner.config(self.cell, self.entry.method);
        for epoch in self.profile.measured() {
            if self.points()?.iter().any(|point| point.epoch == epoch) {
                continue;
            }
            if self.trained()? > epoch {
                // Its rows were damaged and are gone, as a warning has said: the parameters that they measured are, too.
                continue;
            }
            if epoch > 0 {
                let config = TrainConfig {
                    epochs: epoch,
                    ..config.clone()
                };
                self.train::<B, M>(model.clone(), &config)?;
            }
            for point in self.measure::<B, M>(model.clone(), epoch, config.keeps_chains(epoch))? {
                let mut line = json!(point);
                line["kind"] = "variance".into();
                self.folder.append_metrics(&line)?;
                self.observer.event(&check(&point));
            }
        }
        Ok(Outcome {
            points: self.points()?,
            images: self.profile.images,
            particles: self.cell.settings.particles,
            switch: config.method.keeps_chains().then_some(config.switch_epoch),
            epochs_done: self.profile.epochs - 1,
            epochs_planned: self.profile.epochs,
            fingerprint: Some(self.data.fingerprint.clone()),
            synthetic: self.data.synthetic,
            provenance: self.folder.provenance(self.cell.seed, self.device),
        })
    }

    /// Finished epochs of the folder's checkpoint.
    fn trained(&self) -> Result<u64, HarnessError> {
        let checkpoint = self.folder.latest_checkpoint()?;
        Ok(checkpoint.map_or(0, |last| last.state["epochs_done"].as_u64().unwrap_or(0)))
    }

    /// The measurements that the folder's metrics hold.
    fn points(&self) -> Result<Vec<Point>, HarnessError> {
        let lines = read_metrics(self.folder.path())?;
        Ok(lines.iter().filter_map(point).collect())
    }

    fn train<B: Backend, M: Artifacts<B>>(
        &mut self,
        model: M,
        config: &TrainConfig,
    ) -> Result<(), HarnessError> {
        let device = Default::default();
        let observe = |event: &Training| self.observer.event(&events::of_epochs(event));
        let trained = train(
            model,
            config,
            self.data,
            &device,
            self.folder,
            &observe,
            self.stop,
        );
        trained.map(|_| ()).map_err(ended)
    }

    /// The estimate of the epoch that begins, made again and again.
    fn measure<B: Backend, M: Artifacts<B>>(
        &self,
        model: M,
        epoch: u64,
        chains: bool,
    ) -> Result<Vec<Point>, HarnessError> {
        let cell = self.cell;
        let checkpoint = match epoch {
            0 => None,
            _ => self.folder.latest_checkpoint()?,
        };
        let request = Request {
            net: cell.net.clone(),
            methods: vec![*self.entry],
            particles: cell.settings.particles,
            images: self.profile.images,
            chains,
            analytic_kl: cell.settings.analytic_kl,
            replication: Replication {
                replicates: self.profile.replicates,
                seed: cell.seed,
            },
            run: checkpoint.map(|checkpoint| Run {
                folder: self.folder.path().into(),
                cell: cell.clone(),
                checkpoint,
                parameters: Parameters::Last,
            }),
        };
        let go_on = || !self.stop.load(Ordering::Relaxed);
        let (after, all) = (count(epoch as usize, "epoch"), self.profile.replicates);
        let mut refused = None;
        let measurement = Measurement {
            request: &request,
            train: &self.data.train,
            pieces: &Pieces::none(),
            watch: &mut |event| {
                match event {
                    Event::Replicates(done) => self.observer.event(&Told::Evaluating {
                        part: Some(done as f64 / all as f64),
                        what: format!("after {after}, {done} of {all} estimates"),
                    }),
                    Event::Refused(error) => refused = Some(error),
                    _ => {}
                }
                go_on()
            },
        };
        let rows = measurement.on::<B, M>(model)?;
        if let Some(error) = refused {
            return Err(error);
        }
        match go_on() {
            true => Ok(rows.iter().map(|row| Point::of(epoch, row)).collect()),
            // What was not measured to the end is measured again.
            false => Err(HarnessError::Interrupted { epoch }),
        }
    }
}

/// A measurement as the harness hears of it.
fn check(point: &Point) -> Told {
    let Point { phi, theta, .. } = point;
    let chains = if point.moving { ", chains moving" } else { "" };
    Told::Check {
        done: point.epoch,
        score: None,
        text: format!(
            "ln V phi {:.2}, theta {:.2}{chains}",
            phi.ln().0,
            theta.ln().0
        ),
        fields: json!({"point": point}),
    }
}

/// The measurement that a line of metrics holds, if it is one.
fn point(line: &Value) -> Option<Point> {
    let mut line = line.clone();
    let kind = line.as_object_mut()?.remove("kind")?;
    (kind == "variance").then(|| serde_json::from_value(line).ok())?
}
