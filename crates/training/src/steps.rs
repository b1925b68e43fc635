//! The loop over gradient steps on data that never end.

use std::error::Error;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use burn::module::AutodiffModule;
use burn::optim::adaptor::OptimizerAdaptor;
use burn::optim::{GradientsParams, Optimizer};
use helmholtz_ops::AutodiffBackend;
use helmholtz_runs::{Checkpoint, Failure, Position, Provenance, RunFolder};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::ordered::Ordered;
use crate::snapshot::{
    MODEL, OPTIMIZER, decode_optimizer, decode_parameters, encode, is_finite, part,
};
use crate::{Adam, Event, TrainError};

/// Objective to descend, one draw of it after the other. What it carries from step to step, such as chains and control variates,
/// is part of the checkpoint.
pub trait Objective<B: AutodiffBackend, M: AutodiffModule<B>> {
    /// The gradients of step `step`, counted from 0, and what progress shows of them. They depend on nothing but the model,
    /// the number of the step and what is [saved](Self::save).
    ///
    /// # Errors
    /// What keeps the run from going on, with its place.
    fn gradients(
        &mut self,
        model: &M,
        step: u64,
    ) -> Result<(GradientsParams, f64), Box<dyn Error + Send + Sync>>;

    /// Returns what is to be recorded of the model after `steps` steps, by name.
    ///
    /// # Errors
    /// What keeps the run from going on.
    fn check(
        &self,
        model: &M::InnerModule,
        steps: u64,
    ) -> Result<Map<String, Value>, Box<dyn Error + Send + Sync>>;

    /// Saves what it carries from step to step, as parts of a checkpoint: nothing unless stated.
    /// [`Learner::save`](crate::Learner::save) and [`save_chains`](crate::save_chains) make parts. The names `model` and
    /// `optimizer` are taken.
    fn save(&self) -> Vec<(&'static str, Vec<u8>)> {
        Vec::new()
    }

    /// Takes over what [`save`](Self::save) gave, before the first step of a resumed run.
    ///
    /// # Errors
    /// What keeps the run from going on, such as [`TrainError::Checkpoint`].
    fn load(&mut self, _checkpoint: &Checkpoint) -> Result<(), TrainError> {
        Ok(())
    }
}

/// Configuration of a descent: its length, and what to keep of it.
#[derive(Clone, Debug, PartialEq)]
pub struct StepConfig {
    /// Names the run in errors.
    pub seed: u64,
    /// Gradient steps.
    pub steps: u64,
    /// Adam's learning rate.
    pub learning_rate: f64,
    /// Share of the steps, the last of them, over which the learning rate falls linearly to zero; 0 holds it.
    pub decay: f64,
    /// Adam's β₂.
    pub beta_2: f64,
    /// Steps from one check to the next, the first at the start; the end is checked too.
    pub check_every: u64,
    /// Seconds from one checkpoint to the next. One is also made after each check.
    pub checkpoint_seconds: f64,
    /// Name of the device in the provenance, such as `cpu`.
    pub device_name: String,
}

impl StepConfig {
    /// The learning rate of a step, counted from 0: with N steps and a share d, `learning_rate · min(1, (N − step) / (d N))`.
    fn rate(&self, step: u64) -> f64 {
        let left = self.steps.saturating_sub(step) as f64;
        let falling = self.decay * self.steps as f64;
        if left < falling {
            self.learning_rate * left / falling
        } else {
            self.learning_rate
        }
    }
}

/// Progress of a run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Progress {
    steps_done: u64,
    /// The steps done at the last check.
    checked: Option<u64>,
    /// Who made an older checkpoint; the run folder's history says it of others.
    #[serde(default, skip_serializing)]
    provenance: Option<Provenance>,
}

impl Progress {
    /// Position that the run has reached.
    fn position(&self) -> Position {
        Position {
            epochs: 0,
            steps: self.steps_done,
        }
    }
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
    objective: &mut O,
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
    let adam = Adam::default().with_betas([0.9, config.beta_2]);
    let mut run = Run {
        model,
        optimizer: OptimizerAdaptor::from(adam),
        progress: Progress::default(),
        config,
        folder,
        observe,
        last_checkpoint: Instant::now(),
    };
    run.resume(objective, device)?;
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
    fn resume(
        &mut self,
        objective: &mut impl Objective<B, M>,
        device: &B::Device,
    ) -> Result<(), TrainError> {
        let Some(mut checkpoint) = self.folder.latest_checkpoint()? else {
            return Ok(());
        };
        let bytes = part(&checkpoint, MODEL)?;
        let record = decode_parameters::<B, M>(&self.model, bytes, MODEL, device)?;
        self.model = self.model.clone().load_record(record);
        let bytes = part(&checkpoint, OPTIMIZER)?;
        let record = decode_optimizer::<B, _, _>(&self.model, bytes, OPTIMIZER, device)?;
        self.optimizer = self.optimizer.clone().load_record(record);
        objective.load(&checkpoint)?;
        self.progress = serde_json::from_value(checkpoint.state.take())
            .map_err(|_| TrainError::Checkpoint { part: "state" })?;
        if self.progress.steps_done > self.config.steps {
            return Err(TrainError::BeyondEnd {
                what: "steps",
                found: self.progress.steps_done,
                most: self.config.steps,
            });
        }
        let now = self.provenance();
        let (at, earlier) = (self.progress.position(), self.progress.provenance.take());
        if let Some(warning) = self.folder.resumed(at, earlier.as_ref(), &now) {
            (self.observe)(&Event::Warning(warning));
        }
        let step = self.progress.steps_done;
        (self.observe)(&Event::Resumed { epoch: 0, step });
        Ok(())
    }

    fn run(
        &mut self,
        objective: &mut impl Objective<B, M>,
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
                self.checkpoint(objective)?;
                return Err(TrainError::Interrupted {
                    epochs: 0,
                    steps: done,
                });
            }
            if self.last_checkpoint.elapsed() >= interval {
                self.checkpoint(objective)?;
            }
            self.step(objective, done)?;
        }
    }

    fn step(&mut self, objective: &mut impl Objective<B, M>, step: u64) -> Result<(), TrainError> {
        let found = objective.gradients(&self.model, step);
        let (gradients, loss) = found.map_err(TrainError::Objective)?;
        let (model, rate) = (self.model.clone(), self.config.rate(step));
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

    fn check(&mut self, objective: &mut impl Objective<B, M>, done: u64) -> Result<(), TrainError> {
        let found = objective.check(&self.model.valid(), done);
        let mut row = found.map_err(TrainError::Objective)?;
        row.insert("kind".into(), "check".into());
        row.insert("step".into(), done.into());
        row.insert("seconds".into(), self.folder.seconds().into());
        self.folder.append_metrics(&Value::Object(row))?;
        self.progress.checked = Some(done);
        self.checkpoint(objective)
    }

    fn provenance(&self) -> Provenance {
        let Self { folder, config, .. } = self;
        folder.provenance(config.seed, &config.device_name)
    }

    fn checkpoint(&mut self, objective: &impl Objective<B, M>) -> Result<(), TrainError> {
        let now = self.provenance();
        self.folder.trained(&now, self.progress.position());
        let state = serde_json::to_value(&self.progress)
            .map_err(|_| TrainError::Checkpoint { part: "state" })?;
        let model = encode::<B>(self.model.clone().into_record());
        let optimizer = encode::<B>(Ordered::new(self.optimizer.to_record()));
        let own = objective.save();
        let own = own.iter().map(|(name, bytes)| (*name, bytes.as_slice()));
        let mut parts = vec![(MODEL, model.as_slice()), (OPTIMIZER, optimizer.as_slice())];
        parts.extend(own);
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

#[cfg(test)]
mod tests {
    use std::path::Path;

    use burn::backend::Autodiff;
    use burn::module::{Module, Param};
    use burn::tensor::{Tensor, TensorData, backend::Backend};
    use burn_flex::Flex;
    use helmholtz_runs::{OpenMode, Status, read_metrics};
    use serde_json::json;

    use super::*;

    type B = Autodiff<Flex>;

    #[derive(Module, Debug)]
    struct Point<B: Backend> {
        at: Param<Tensor<B, 1>>,
    }

    impl Point<B> {
        fn start() -> Self {
            let at = Tensor::from_data(TensorData::from([1.0f32, -2.0]), &Default::default());
            Self {
                at: Param::from_tensor(at),
            }
        }
    }

    fn values<B: Backend>(point: &Point<B>) -> Vec<f32> {
        point.at.val().into_data().to_vec().unwrap()
    }

    /// ½ |x − s mod 3|² at step s; not a number from step `ends` on.
    struct Targets {
        ends: u64,
    }

    impl Objective<B, Point<B>> for Targets {
        fn gradients(
            &mut self,
            model: &Point<B>,
            step: u64,
        ) -> Result<(GradientsParams, f64), Box<dyn Error + Send + Sync>> {
            let target = if step < self.ends {
                (step % 3) as f64
            } else {
                f64::NAN
            };
            let loss = (model.at.val() - target).square().sum() * 0.5;
            let value = loss.to_data().iter::<f64>().sum();
            Ok((GradientsParams::from_grads(loss.backward(), model), value))
        }

        fn check(
            &self,
            model: &Point<Flex>,
            steps: u64,
        ) -> Result<Map<String, Value>, Box<dyn Error + Send + Sync>> {
            if steps > 90 {
                return Err("too far".into());
            }
            let row = json!({"first": values(model)[0]});
            Ok(row.as_object().expect("an object").clone())
        }
    }

    #[test]
    fn a_checkpoint_that_is_due_is_made_and_holds_the_model_alone_unless_stated() {
        let home = tempfile::tempdir().unwrap();
        let mut folder = RunFolder::open(home.path(), &json!(1), OpenMode::Resume).unwrap();
        // It ends at the seventh step, without a stop, and between two checks.
        let (mut targets, device) = (Targets { ends: 6 }, Default::default());
        let config = StepConfig {
            checkpoint_seconds: 0.0,
            ..config(10)
        };
        let error = train_steps(
            Point::start(),
            &mut targets,
            &config,
            &device,
            &mut folder,
            &|_| (),
            &AtomicBool::new(false),
        );
        assert!(matches!(error, Err(TrainError::NotANumber { step: 6, .. })));
        let last = folder.latest_checkpoint().unwrap().unwrap();
        assert_eq!(last.state["steps_done"], 6);
        let names: Vec<&str> = last.parts.keys().map(String::as_str).collect();
        assert_eq!(names, [MODEL, OPTIMIZER]);
    }

    #[test]
    fn a_run_that_is_at_its_end_is_at_its_end_and_one_beyond_it_is_refused() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("run");
        run(&folder, 10, 100, 8).unwrap_err();
        let found = run(&folder, 8, 100, 100).unwrap();
        let expected = run(&home.path().join("whole"), 10, 100, 8);
        assert!(expected.is_err());
        assert!(values(&found).iter().all(|value| value.is_finite()));
        let beyond = home.path().join("beyond");
        run(&beyond, 10, 100, 8).unwrap_err();
        let error = run(&beyond, 7, 100, 100).unwrap_err();
        assert!(matches!(
            error,
            TrainError::BeyondEnd {
                what: "steps",
                found: 8,
                most: 7
            }
        ));
    }

    fn config(steps: u64) -> StepConfig {
        StepConfig {
            seed: 5,
            steps,
            learning_rate: 0.1,
            decay: 0.5,
            beta_2: 0.99,
            check_every: 4,
            checkpoint_seconds: 1e9,
            device_name: "cpu".into(),
        }
    }

    /// A run in this folder which is told to stop after `last` steps.
    fn run(folder: &Path, steps: u64, ends: u64, last: u64) -> Result<Point<B>, TrainError> {
        run_on("cpu", folder, steps, ends, last)
    }

    fn run_on(
        device_name: &str,
        folder: &Path,
        steps: u64,
        ends: u64,
        last: u64,
    ) -> Result<Point<B>, TrainError> {
        let mut folder = RunFolder::open(folder, &json!(1), OpenMode::Resume)?;
        let stop = AtomicBool::new(false);
        let observe = |event: &Event| {
            if let Event::Step { step, .. } = event {
                stop.fetch_or(*step == last, Ordering::Relaxed);
            }
        };
        let config = StepConfig {
            device_name: device_name.into(),
            ..config(steps)
        };
        let mut targets = Targets { ends };
        let device = Default::default();
        train_steps(
            Point::start(),
            &mut targets,
            &config,
            &device,
            &mut folder,
            &observe,
            &stop,
        )
    }

    /// The metrics, but for times.
    fn checks(folder: &Path) -> Vec<Value> {
        let mut rows = read_metrics(folder).unwrap();
        for row in &mut rows {
            row.as_object_mut().unwrap().remove("seconds");
        }
        rows
    }

    #[test]
    fn the_learning_rate_is_held_and_then_falls_in_a_straight_line_to_zero() {
        let falling = StepConfig {
            decay: 0.25,
            ..config(8)
        };
        let rates: Vec<f64> = (0..9).map(|step| falling.rate(step)).collect();
        assert_eq!(rates, [0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.05, 0.0]);
        let held = StepConfig {
            decay: 0.0,
            ..config(8)
        };
        assert!((0..8).all(|step| held.rate(step) == 0.1));
    }

    #[test]
    fn a_run_that_was_stopped_ends_in_the_bits_of_one_that_was_not() {
        let home = tempfile::tempdir().unwrap();
        let (whole, parts) = (home.path().join("whole"), home.path().join("parts"));
        let expected = run(&whole, 10, 100, 100).unwrap();
        for stop in [3, 4, 9] {
            let stopped = run(&parts, 10, 100, stop).unwrap_err();
            assert!(matches!(stopped, TrainError::Interrupted { steps, .. } if steps == stop));
        }
        let found = run(&parts, 10, 100, 100).unwrap();
        assert_eq!(values(&found), values(&expected));
        assert_eq!(checks(&parts), checks(&whole));
        let steps: Vec<Value> = checks(&whole)
            .into_iter()
            .map(|mut row| row["step"].take())
            .collect();
        assert_eq!(steps, [0, 4, 8, 10]);
        assert_ne!(
            values(&found),
            values(&run(&home.path().join("other"), 9, 100, 100).unwrap())
        );
    }

    #[test]
    fn the_steps_that_each_machine_made_are_in_the_provenance() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("run");
        run_on("cpu", &folder, 10, 100, 3).unwrap_err();
        run_on("other", &folder, 10, 100, 100).unwrap();
        let opened = RunFolder::open(&folder, &json!(1), OpenMode::Resume).unwrap();
        let history = opened.provenance(5, "cpu").history;
        let parts: Vec<_> = history
            .iter()
            .map(|part| (part.device.as_str(), part.from.steps, part.to.steps))
            .collect();
        assert_eq!(parts, [("cpu", 0, 3), ("other", 3, 10)]);
    }

    #[test]
    fn what_is_not_a_number_ends_the_run_with_its_step_and_keeps_the_checkpoint_before() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("run");
        let error = run(&folder, 10, 6, 100).unwrap_err().to_string();
        assert!(
            error.contains("a parameter is not a number (seed 5, epoch 0, step 6)"),
            "{error}"
        );
        let status = RunFolder::peek(&folder).unwrap();
        assert!(
            matches!(&status, Status::Failed(failure) if failure.step == 6),
            "{status:?}"
        );
        let (found, expected) = (
            run(&folder, 10, 100, 100),
            run(&home.path().join("b"), 10, 100, 100),
        );
        assert_eq!(values(&found.unwrap()), values(&expected.unwrap()));
    }

    #[test]
    fn an_objective_that_refuses_ends_the_run_with_its_words() {
        let home = tempfile::tempdir().unwrap();
        let error = run(&home.path().join("run"), 95, 100, 100)
            .unwrap_err()
            .to_string();
        assert!(error.contains("too far"), "{error}");
    }
}
