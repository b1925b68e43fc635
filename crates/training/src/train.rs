//! The loop: steps, checks, selection, checkpoints, resume.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use burn::module::{AutodiffModule, Module};
use helmholtz_datasets::{Data, Read, Reading, Splits, Subset, random_subset};
use helmholtz_estimators::{Dream, Estimator, Joint, Layered, Parts};
use helmholtz_evaluation::{Evaluation, LogLikelihoods, LogWeights, Nll, log_weights_at};
use helmholtz_ops::{AutodiffBackend, spread};
use helmholtz_random::{Purpose, Stream};
use helmholtz_runs::{Failure, Provenance, RunError, RunFolder};
use helmholtz_samplers::Scan;
use serde_json::json;

use crate::progress::{EpochSums, Progress};
use crate::snapshot::{EVALUATED, SELECTED, decode_parameters, evaluated, of_evaluated};
use crate::{Check, Event, GradientVariance, Selected, TrainConfig, TrainError, Trainer};

const VALID: Purpose = Purpose::new("valid");
const TEST: Purpose = Purpose::new("test");
const TRAIN: Purpose = Purpose::new("train");
const SUBSET: Purpose = Purpose::new("subset");

/// Test images of the last evaluation between two looks at the clock, on each thread: a multiple of the 10 that keep its bits.
const PIECE: usize = 50;

/// A step whose ELBO is below minus so many nats a pixel has diverged. A pixel that is certain of the wrong value costs some
/// tens of nats, and no sound start is near.
const DIVERGED: f64 = 1e6;

/// Outcome of a finished run.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The check that was selected, with its test NLL.
    pub selected: Selected,
    /// The test NLL of all images at the selected epoch, with each of `final_samples`.
    pub last: Vec<Nll>,
    /// The same for each image, if `final_samples` were asked for.
    pub log_likelihoods: Option<LogLikelihoods>,
    /// Finished epochs.
    pub epochs: u64,
}

/// Trains `model` by an estimator as `config` says in a run folder, from its last checkpoint if it has one; that must be of the same data.
///
/// After every `check_every` epochs the validation NLL is computed, and with `test_at_checks` the test NLL too, and
/// the parameters of the best validation NLL so far are kept. The selection is retrospective, and without `patience`
/// the run is never stopped early. `observe` hears of every step and must be quick. Once `stop` is set, a checkpoint
/// is made and the run ends with [`TrainError::Interrupted`].
///
/// # Errors
/// [`TrainError`]; whichever it is, the checkpoints so far are whole.
pub fn train<B, M, E, D>(
    model: M,
    config: &TrainConfig<E>,
    data: &Splits<D>,
    device: &B::Device,
    folder: &mut RunFolder,
    observe: &(dyn Fn(&Event) + Sync),
    stop: &AtomicBool,
) -> Result<Outcome, TrainError>
where
    B: AutodiffBackend,
    M: AutodiffModule<B> + Layered<B> + Dream<B> + Parts<B>,
    M::InnerModule: Layered<B::InnerBackend> + Joint<B::InnerBackend> + Send,
    E: Estimator<B, M> + Clone,
    D: Data,
{
    config.check()?;
    for warning in folder.warnings() {
        observe(&Event::Warning(warning.clone()));
    }
    let mut run = Run {
        trainer: Trainer::new(model, config.clone(), &data.train, device.clone())?,
        scan: Scan::new(
            config.scan,
            config.seed,
            data.train.len() as u32,
            config.batch,
        )?,
        progress: Progress::default(),
        fingerprint: &data.fingerprint,
        selected_model: Vec::new(),
        evaluated: Vec::new(),
        valid: subset(&data.valid, config.valid_images, config.seed, 0),
        test: subset(&data.test, config.test_images, config.seed, 1),
        some_train: config
            .train_images
            .map(|images| subset(&data.train, Some(images), config.seed, 2)),
        train: &data.train,
        all_test: &data.test,
        config,
        device,
        folder,
        observe,
        stop,
        last_checkpoint: Instant::now(),
    };
    run.resume()?;
    let outcome = run.run();
    let failed = match &outcome {
        Err(TrainError::NotANumber {
            what, epoch, step, ..
        }) => Some((format!("{what} is not a number"), *epoch, *step)),
        Err(TrainError::Diverged {
            elbo, epoch, step, ..
        }) => Some((format!("diverged to an ELBO of {elbo:.3e}"), *epoch, *step)),
        _ => None,
    };
    if let Some((reason, epoch, step)) = failed {
        let batch = run.scan.batch(epoch, step).unwrap_or_default();
        run.folder.fail(&Failure {
            reason,
            seed: config.seed,
            epoch,
            step,
            batch,
        })?;
    }
    outcome
}

/// A random subset named by the seed, never a prefix: files may be sorted.
fn subset<D: Data>(data: &D, count: Option<usize>, seed: u64, split: u64) -> Subset<'_, D> {
    match count {
        Some(count) => {
            let mut stream = Stream::new(seed, SUBSET, [split, 0]);
            Subset::of(data, random_subset(data.len(), count, &mut stream))
        }
        None => Subset::all(data),
    }
}

struct Run<'a, B, M, E, D>
where
    B: AutodiffBackend,
    M: AutodiffModule<B>,
{
    trainer: Trainer<B, M, E>,
    scan: Scan,
    progress: Progress,
    /// The data's.
    fingerprint: &'a str,
    /// The parameters at the selected check, as a checkpoint part; empty before the first.
    selected_model: Vec<u8>,
    /// Log weights of the last evaluation, as far as it has come: of the first test images, for each of `final_samples`.
    evaluated: Vec<LogWeights>,
    valid: Subset<'a, D>,
    test: Subset<'a, D>,
    /// Training images that are evaluated at checks.
    some_train: Option<Subset<'a, D>>,
    train: &'a D,
    all_test: &'a D,
    config: &'a TrainConfig<E>,
    device: &'a B::Device,
    folder: &'a mut RunFolder,
    observe: &'a (dyn Fn(&Event) + Sync),
    stop: &'a AtomicBool,
    last_checkpoint: Instant,
}

impl<B, M, E, D> Run<'_, B, M, E, D>
where
    B: AutodiffBackend,
    M: AutodiffModule<B> + Layered<B> + Dream<B> + Parts<B>,
    M::InnerModule: Layered<B::InnerBackend> + Joint<B::InnerBackend> + Send,
    E: Estimator<B, M> + Clone,
    D: Data,
{
    fn resume(&mut self) -> Result<(), TrainError> {
        let Some(mut checkpoint) = self.folder.latest_checkpoint()? else {
            return Ok(());
        };
        self.progress = serde_json::from_value(checkpoint.state.take())
            .map_err(|_| TrainError::Checkpoint { part: "state" })?;
        if let Some(stored) = self
            .progress
            .data
            .as_ref()
            .filter(|data| *data != self.fingerprint)
        {
            return Err(TrainError::Run(RunError::OtherData {
                folder: self.folder.path().into(),
                stored: stored.clone(),
                asked: self.fingerprint.into(),
            }));
        }
        self.check_progress()?;
        self.trainer.load(&checkpoint, self.device)?;
        self.selected_model = checkpoint
            .parts
            .remove(SELECTED)
            .ok_or(TrainError::Checkpoint { part: SELECTED })?;
        if let Some(bytes) = checkpoint.parts.get(EVALUATED)
            && self.progress.evaluated == self.config.final_samples
        {
            self.evaluated = of_evaluated(bytes);
        }
        let now = self.provenance();
        let (at, earlier) = (self.progress.position(), self.progress.provenance.take());
        if let Some(warning) = self.folder.resumed(at, earlier.as_ref(), &now) {
            (self.observe)(&Event::Warning(warning));
        }
        (self.observe)(&Event::Resumed {
            epoch: self.progress.epochs_done,
            step: self.progress.step,
        });
        Ok(())
    }

    /// Checks that the checkpoint is no further than the run goes.
    fn check_progress(&self) -> Result<(), TrainError> {
        let Progress {
            epochs_done,
            step,
            checked,
            ..
        } = self.progress;
        let last = self.scan.steps_per_epoch().saturating_sub(1);
        for (what, found, most) in [
            ("epochs", epochs_done, self.config.epochs),
            ("checked epochs", checked, epochs_done),
            ("steps of an epoch", step, last),
        ] {
            if found > most {
                return Err(TrainError::BeyondEnd { what, found, most });
            }
        }
        Ok(())
    }

    fn run(&mut self) -> Result<Outcome, TrainError> {
        loop {
            let epoch = self.progress.epochs_done;
            if self.progress.step == 0
                && self.config.checks_after(epoch)
                && self.progress.checked < epoch
            {
                match self.check(epoch) {
                    // The epoch is whole: its check is made again on resume.
                    Err(TrainError::Interrupted { .. }) => return Err(self.interrupted()),
                    checked => checked?,
                }
            }
            if epoch >= self.config.epochs || self.is_out_of_patience() {
                return self.finish();
            }
            if self.config.keeps_chains(epoch) && !self.progress.chains_started {
                self.trainer.start_chains(self.train)?;
                self.progress.chains_started = true;
                (self.observe)(&Event::ChainsStarted { epoch });
            }
            self.epoch(epoch)?;
        }
    }

    /// Whether the last check was so long after the best one that the run ends.
    fn is_out_of_patience(&self) -> bool {
        let Progress {
            checked, selected, ..
        } = &self.progress;
        let best = selected.map(|selected| selected.epoch);
        let waited = |patience| best.is_some_and(|best| checked - best >= patience);
        *checked == self.progress.epochs_done && self.config.patience.is_some_and(waited)
    }

    /// The remaining steps of an epoch.
    fn epoch(&mut self, epoch: u64) -> Result<(), TrainError> {
        let steps_per_epoch = self.scan.steps_per_epoch();
        let interval = Duration::from_secs_f64(self.config.checkpoint_seconds);
        loop {
            let step = self.progress.step;
            let rows = self.scan.batch(epoch, step)?;
            let report = spread(self.config.threads, || {
                self.trainer.step(self.train, &rows, epoch, step)
            })?;
            if report.elbo.is_nan() {
                return Err(self.not_a_number("the loss", step));
            }
            let limit = -DIVERGED * self.train.width() as f64;
            if report.elbo < limit {
                return Err(TrainError::Diverged {
                    elbo: report.elbo,
                    limit,
                    seed: self.config.seed,
                    epoch,
                    step,
                });
            }
            self.progress.step += 1;
            self.progress.sums.add(report.elbo, &report.info);
            (self.observe)(&Event::Step {
                epoch: epoch + 1,
                step: step + 1,
                steps_per_epoch,
                loss: -report.elbo,
            });
            if self.progress.step == steps_per_epoch {
                self.end_epoch(epoch)?;
                break;
            }
            if self.stop.load(Ordering::Relaxed) {
                return Err(self.interrupted());
            }
            if self.last_checkpoint.elapsed() >= interval {
                self.checkpoint()?;
            }
        }
        if self.stop.load(Ordering::Relaxed) {
            return Err(self.interrupted());
        }
        Ok(())
    }

    fn end_epoch(&mut self, epoch: u64) -> Result<(), TrainError> {
        let EpochSums { elbo, .. } = self.progress.sums;
        let info = self.progress.sums.info();
        let mut row = json!({
            "kind": "epoch",
            "epoch": epoch + 1,
            "stage": self.stage(epoch),
            "elbo": elbo / self.scan.steps_per_epoch() as f64,
            "acceptance": info.acceptance_rate(),
            "ess": info.mean_ess(),
            "cache_gap": info.mean_cache_gap(),
            "non_finite": info.non_finite,
            "seconds": self.folder.seconds(),
        });
        let variance = self.trainer.gradient_variance.as_ref();
        if let Some(value) = variance.and_then(GradientVariance::value) {
            row["gradient_variance"] = json!(value);
        }
        self.folder.append_metrics(&row)?;
        self.progress.epochs_done = epoch + 1;
        self.progress.step = 0;
        self.progress.sums = EpochSums::default();
        Ok(())
    }

    /// 1, or 2 in an epoch (from 0) whose steps use the chains.
    fn stage(&self, epoch: u64) -> u8 {
        1 + u8::from(self.config.keeps_chains(epoch))
    }

    fn check(&mut self, epoch: u64) -> Result<(), TrainError> {
        let method = &self.config.method;
        let model = method.tested(self.trainer.model().valid(), epoch);
        let images = self.valid.len();
        let tested = if self.config.test_at_checks {
            self.test.len()
        } else {
            0
        };
        let both = images + tested;
        let total = both + self.some_train.as_ref().map_or(0, Data::len);
        let of_valid = self.evaluation(self.config.valid_samples, VALID);
        let valid = self.nll(&model, &self.valid, &of_valid, (0, total))?;
        let test = match self.config.test_at_checks {
            true => Some(self.test_nll(&model, (images, total))?),
            false => None,
        };
        let check = Check { epoch, valid, test };
        let train = match &self.some_train {
            Some(images) => {
                let of_train = self.evaluation(self.config.valid_samples, TRAIN);
                let reading = Reading {
                    seed: self.config.seed,
                    purpose: TRAIN,
                    position: epoch,
                };
                let images = Read::new(images, reading);
                Some(self.nll(&model, &images, &of_train, (both, total))?)
            }
            None => None,
        };
        let seconds = self.folder.seconds();
        let mut row = json!({
            "kind": "check",
            "epoch": epoch,
            "stage": self.stage(epoch - 1),
            "valid": valid,
            "seconds": seconds,
        });
        if let Some(test) = test {
            row["test"] = json!(test);
        }
        if let Some(train) = train {
            row["train"] = json!(train);
        }
        self.folder.append_metrics(&row)?;
        if self
            .progress
            .selected
            .is_none_or(|selected| check.beats(&selected))
        {
            self.progress.selected = Some(check);
            self.selected_model = self.trainer.save_model();
        }
        self.progress.checked = epoch;
        (self.observe)(&Event::Check {
            epoch,
            stage: self.stage(epoch - 1),
            valid_nll: valid.mean,
            test_nll: test.map(|test| test.mean),
            seconds,
        });
        self.checkpoint()
    }

    fn evaluation(&self, samples: usize, purpose: Purpose) -> Evaluation {
        Evaluation {
            samples,
            seed: self.config.seed,
            purpose,
            threads: self.config.threads,
        }
    }

    /// The test NLL of a check's images, before which `offset` of `total` were done.
    fn test_nll(
        &self,
        model: &M::InnerModule,
        (offset, total): (usize, usize),
    ) -> Result<Nll, TrainError> {
        let of_test = self.evaluation(self.config.test_samples, TEST);
        self.nll(model, &self.test, &of_test, (offset, total))
    }

    /// The NLL of these images, before which `offset` of `total` were done.
    fn nll(
        &self,
        model: &M::InnerModule,
        data: &impl Data,
        evaluation: &Evaluation,
        (offset, total): (usize, usize),
    ) -> Result<Nll, TrainError> {
        let (all, samples) = (0..data.len(), [evaluation.samples]);
        let weights = self.evaluate(model, data, all, evaluation, &samples, (offset, total))?;
        self.means(&weights, &samples).map(|nlls| nlls[0])
    }

    /// An evaluation of some images with each of `samples`, before which `offset` of `total` were done.
    fn evaluate(
        &self,
        model: &M::InnerModule,
        data: &impl Data,
        which: Range<usize>,
        evaluation: &Evaluation,
        samples: &[usize],
        (offset, total): (usize, usize),
    ) -> Result<Vec<LogWeights>, TrainError> {
        let done = AtomicUsize::new(offset);
        let progress = |images: usize| {
            let done = done.fetch_add(images, Ordering::Relaxed) + images;
            if images > 0 {
                (self.observe)(&Event::Evaluating {
                    done: done as u64,
                    total: total as u64,
                });
            }
            !self.stop.load(Ordering::Relaxed)
        };
        let weights = log_weights_at::<B::InnerBackend, _>(
            model,
            data,
            which,
            evaluation,
            samples,
            self.device,
            &progress,
        );
        weights.ok_or(TrainError::Interrupted {
            epochs: self.progress.epochs_done,
            steps: self.progress.step,
        })
    }

    fn means(&self, weights: &[LogWeights], samples: &[usize]) -> Result<Vec<Nll>, TrainError> {
        let nlls = Nll::each(weights, samples);
        match nlls.iter().any(|nll| nll.mean.is_nan()) {
            true => Err(self.not_a_number("the likelihood", 0)),
            false => Ok(nlls),
        }
    }

    fn finish(&mut self) -> Result<Outcome, TrainError> {
        (self.observe)(&Event::Trained {
            epoch: self.progress.epochs_done,
            evaluated: (self.evaluated.len() / self.config.final_samples.len().max(1)) as u64,
            total: self.all_test.len() as u64,
        });
        let mut selected = self
            .progress
            .selected
            .ok_or(TrainError::Checkpoint { part: "state" })?;
        if selected.test.is_none() {
            let model = self.selected_model(selected.epoch)?;
            match self.test_nll(&model, (0, self.test.len())) {
                Ok(nll) => selected.test = Some(nll),
                Err(TrainError::Interrupted { .. }) => return Err(self.interrupted()),
                Err(error) => return Err(error),
            }
            self.progress.selected = Some(selected);
        }
        let (last, log_likelihoods) = match self.config.final_samples.is_empty() {
            true => (Vec::new(), None),
            false => {
                let last = self.last_evaluation(selected.epoch)?;
                let each = LogLikelihoods::new(&self.config.final_samples, &self.evaluated);
                (last, Some(each))
            }
        };
        Ok(Outcome {
            selected,
            last,
            log_likelihoods,
            epochs: self.progress.epochs_done,
        })
    }

    /// The parameters that were selected after `epoch` epochs.
    fn selected_model(&self, epoch: u64) -> Result<M::InnerModule, TrainError> {
        let model = self.trainer.model().valid();
        let bytes = &self.selected_model;
        let record = decode_parameters::<B::InnerBackend, _>(&model, bytes, SELECTED, self.device)?;
        let model = model.load_record(record);
        Ok(self.config.method.tested(model, epoch))
    }

    /// All test images at the selected parameters, piece by piece: it may take hours, and a resumed run goes on with it.
    fn last_evaluation(&mut self, epoch: u64) -> Result<Vec<Nll>, TrainError> {
        let model = self.selected_model(epoch)?;
        let samples = &self.config.final_samples;
        let evaluation = self.evaluation(0, TEST);
        let interval = Duration::from_secs_f64(self.config.checkpoint_seconds);
        let total = self.all_test.len();
        loop {
            let done = self.evaluated.len() / samples.len();
            if done >= total {
                return self.means(&self.evaluated, samples);
            }
            let piece = done..total.min(done + PIECE * self.config.threads.max(1));
            let images = self.all_test;
            match self.evaluate(&model, images, piece, &evaluation, samples, (done, total)) {
                Ok(weights) => self.evaluated.extend(weights),
                Err(TrainError::Interrupted { .. }) => return Err(self.interrupted()),
                Err(error) => return Err(error),
            }
            if self.last_checkpoint.elapsed() >= interval {
                self.checkpoint()?;
            }
        }
    }

    fn not_a_number(&self, what: &'static str, step: u64) -> TrainError {
        TrainError::NotANumber {
            what,
            seed: self.config.seed,
            epoch: self.progress.epochs_done,
            step,
        }
    }

    /// Makes a checkpoint, and gives the error that says so.
    fn interrupted(&mut self) -> TrainError {
        match self.checkpoint() {
            Ok(()) => TrainError::Interrupted {
                epochs: self.progress.epochs_done,
                steps: self.progress.step,
            },
            Err(error) => error,
        }
    }

    fn provenance(&self) -> Provenance {
        self.folder
            .provenance(self.config.seed, &self.config.device_name)
    }

    fn checkpoint(&mut self) -> Result<(), TrainError> {
        if !self.trainer.is_finite() {
            return Err(self.not_a_number("a parameter", self.progress.step));
        }
        self.progress.data = Some(self.fingerprint.into());
        self.progress.evaluated = match self.evaluated.is_empty() {
            true => Vec::new(),
            false => self.config.final_samples.clone(),
        };
        let now = self.provenance();
        self.folder.trained(&now, self.progress.position());
        let state = serde_json::to_value(&self.progress)
            .map_err(|_| TrainError::Checkpoint { part: "state" })?;
        let parts = self.trainer.save();
        let mut parts: Vec<(&str, &[u8])> = parts
            .iter()
            .map(|(name, bytes)| (*name, bytes.as_slice()))
            .collect();
        parts.push((SELECTED, &self.selected_model));
        let evaluated = evaluated(&self.evaluated);
        if !evaluated.is_empty() {
            parts.push((EVALUATED, &evaluated));
        }
        self.folder.save_checkpoint(&state, &parts)?;
        self.last_checkpoint = Instant::now();
        (self.observe)(&Event::Checkpoint {
            epoch: self.progress.epochs_done,
        });
        Ok(())
    }
}
