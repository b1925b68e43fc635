//! The loop over gradient steps on data that never end.

use std::error::Error;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use burn::module::AutodiffModule;
use burn::optim::adaptor::OptimizerAdaptor;
use burn::optim::{GradientsParams, Optimizer};
use helmholtz_ops::AutodiffBackend;
use helmholtz_runs::{Failure, Provenance, RunFolder, resumed_elsewhere};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::snapshot::{MODEL, OPTIMIZER, decode, encode, is_finite, part};
use crate::{Adam, Event, TrainError};

/// What is descended, one draw of it after the other.
pub trait Objective<B: AutodiffBackend, M: AutodiffModule<B>> {
    /// The gradients of step `step`, counted from 0, and what progress shows of them. They depend on nothing but the model
    /// and the number of the step.
    ///
    /// # Errors
    /// What keeps the run from going on, with its place.
    fn gradients(
        &self,
        model: &M,
        step: u64,
    ) -> Result<(GradientsParams, f64), Box<dyn Error + Send + Sync>>;

    /// What is to be recorded of the model after `steps` steps, by name.
    ///
    /// # Errors
    /// What keeps the run from going on.
    fn check(
        &self,
        model: &M::InnerModule,
        steps: u64,
    ) -> Result<Map<String, Value>, Box<dyn Error + Send + Sync>>;
}

/// How long to descend, and what to keep of it.
#[derive(Clone, Debug, PartialEq)]
pub struct StepConfig {
    /// Names the run in errors.
    pub seed: u64,
    /// Gradient steps.
    pub steps: u64,
    /// Adam's learning rate.
    pub learning_rate: f64,
    /// Adam's β₂.
    pub beta_2: f64,
    /// Steps from one check to the next, the first at the start; the end is checked too.
    pub check_every: u64,
    /// Seconds from one checkpoint to the next. One is also made after each check.
    pub checkpoint_seconds: f64,
    /// What the provenance calls the device, such as `cpu`.
    pub device_name: String,
}

/// Where a run is.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Progress {
    steps_done: u64,
    /// The steps done at the last check.
    checked: Option<u64>,
    provenance: Option<Provenance>,
}

/// Trains `model` by Adam in a run folder, from its last checkpoint if it has one, and returns it.
///
/// Checks are lines of `metrics.jsonl`. `observe` hears of every step and must be quick. Once `stop` is set, a checkpoint is
/// made and the run ends with [`TrainError::Interrupted`].
///
/// # Errors
/// [`TrainError`]; whichever it is, the checkpoints so far are whole. A parameter that is not a number ends the run at the
/// step that made it.
pub fn train_steps<B, M, O>(
    model: M,
    objective: &O,
    config: &StepConfig,
    device: &B::Device,
    folder: &mut RunFolder,
    observe: &dyn Fn(&Event),
    stop: &AtomicBool,
) -> Result<M, TrainError>
where
    B: AutodiffBackend,
    M: AutodiffModule<B>,
    O: Objective<B, M>,
{
    for warning in folder.warnings() {
        observe(&Event::Warning(warning.clone()));
    }
    let adam = Adam::default().with_beta_2(config.beta_2);
    let mut run = Run {
        model,
        optimizer: OptimizerAdaptor::from(adam),
        progress: Progress::default(),
        config,
        folder,
        observe,
        last_checkpoint: Instant::now(),
    };
    run.resume(device)?;
    match run.run(objective, stop) {
        Ok(()) => Ok(run.model),
        Err(error) => {
            run.note(&error)?;
            Err(error)
        }
    }
}

struct Run<'a, B, M>
where
    B: AutodiffBackend,
    M: AutodiffModule<B>,
{
    model: M,
    optimizer: OptimizerAdaptor<Adam<B::InnerBackend>, M, B>,
    progress: Progress,
    config: &'a StepConfig,
    folder: &'a mut RunFolder,
    observe: &'a dyn Fn(&Event),
    last_checkpoint: Instant,
}

impl<B, M> Run<'_, B, M>
where
    B: AutodiffBackend,
    M: AutodiffModule<B>,
{
    fn resume(&mut self, device: &B::Device) -> Result<(), TrainError> {
        let Some(mut checkpoint) = self.folder.latest_checkpoint()? else {
            return Ok(());
        };
        let record = decode::<B, _>(part(&checkpoint, MODEL)?, MODEL, device)?;
        self.model = self.model.clone().load_record(record);
        let record = decode::<B, _>(part(&checkpoint, OPTIMIZER)?, OPTIMIZER, device)?;
        self.optimizer = self.optimizer.clone().load_record(record);
        self.progress = serde_json::from_value(checkpoint.state.take())
            .map_err(|_| TrainError::Checkpoint { part: "state" })?;
        let before = self.progress.provenance.as_ref();
        if let Some(warning) = before.and_then(|b| resumed_elsewhere(b, &self.provenance())) {
            (self.observe)(&Event::Warning(warning));
        }
        let step = self.progress.steps_done;
        (self.observe)(&Event::Resumed { epoch: 0, step });
        Ok(())
    }

    fn run(
        &mut self,
        objective: &impl Objective<B, M>,
        stop: &AtomicBool,
    ) -> Result<(), TrainError> {
        let interval = Duration::from_secs_f64(self.config.checkpoint_seconds);
        loop {
            let done = self.progress.steps_done;
            let last = done >= self.config.steps;
            let due = last || done.is_multiple_of(self.config.check_every);
            if due && self.progress.checked != Some(done) {
                self.check(objective, done)?;
            }
            if last {
                return Ok(());
            }
            if stop.load(Ordering::Relaxed) {
                self.checkpoint()?;
                return Err(TrainError::Interrupted {
                    epochs: 0,
                    steps: done,
                });
            }
            if self.last_checkpoint.elapsed() >= interval {
                self.checkpoint()?;
            }
            self.step(objective, done)?;
        }
    }

    fn step(&mut self, objective: &impl Objective<B, M>, step: u64) -> Result<(), TrainError> {
        let found = objective.gradients(&self.model, step);
        let (gradients, loss) = found.map_err(TrainError::Objective)?;
        let (model, rate) = (self.model.clone(), self.config.learning_rate);
        self.model = self.optimizer.step(rate, model, gradients);
        if !is_finite(&self.model) {
            return Err(TrainError::NotANumber {
                what: "a parameter",
                seed: self.config.seed,
                epoch: 0,
                step,
            });
        }
        self.progress.steps_done = step + 1;
        (self.observe)(&Event::Step {
            epoch: 1,
            step: step + 1,
            steps_per_epoch: self.config.steps,
            loss,
        });
        Ok(())
    }

    fn check(&mut self, objective: &impl Objective<B, M>, done: u64) -> Result<(), TrainError> {
        let found = objective.check(&self.model.valid(), done);
        let mut row = found.map_err(TrainError::Objective)?;
        row.insert("kind".into(), "check".into());
        row.insert("step".into(), done.into());
        row.insert("seconds".into(), self.folder.seconds().into());
        self.folder.append_metrics(&Value::Object(row))?;
        self.progress.checked = Some(done);
        self.checkpoint()
    }

    fn provenance(&self) -> Provenance {
        let Self { folder, config, .. } = self;
        folder.provenance(config.seed, &config.device_name)
    }

    fn checkpoint(&mut self) -> Result<(), TrainError> {
        self.progress.provenance = Some(self.provenance());
        let state = serde_json::to_value(&self.progress)
            .map_err(|_| TrainError::Checkpoint { part: "state" })?;
        let model = encode::<B>(self.model.clone().into_record());
        let optimizer = encode::<B>(self.optimizer.to_record());
        let parts = [(MODEL, model.as_slice()), (OPTIMIZER, optimizer.as_slice())];
        self.folder.save_checkpoint(&state, &parts)?;
        self.last_checkpoint = Instant::now();
        (self.observe)(&Event::Checkpoint { epoch: 0 });
        Ok(())
    }

    /// Leaves a note in the folder why the run cannot go on.
    fn note(&mut self, error: &TrainError) -> Result<(), TrainError> {
        if let TrainError::NotANumber { .. } | TrainError::Objective(_) = error {
            self.folder.fail(&Failure {
                reason: error.to_string(),
                seed: self.config.seed,
                epoch: 0,
                step: self.progress.steps_done,
                batch: vec![],
            })?;
        }
        Ok(())
    }
}
