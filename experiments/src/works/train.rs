//! Training a cell in its run folder, and measuring what that costs.

use super::evaluate::RELEASED;
use crate::artifacts::{Artifacts, Drawing};
use crate::cell::{Cell, ScanOrder};
use crate::cell_runner::{CellResult, Cost, Final};
use crate::error::HarnessError;
use crate::events;
use crate::framework::{ended, failed};
use crate::log_likelihoods;
use burn::module::Module;
use burn::tensor::backend::BackendTypes;
use helmholtz_datasets::Splits;
use helmholtz_estimators::{Factored, Layered, Method};
use helmholtz_evaluation::{AnalyticKl, Evaluation, Nll, nll};
use helmholtz_harness::driver::Observer;
use helmholtz_harness::work::shortened;
use helmholtz_ops::Backend;
use helmholtz_random::Purpose;
use helmholtz_runs::{RunFolder, read_metrics};
use helmholtz_samplers::{Scan, ScanOrder as SamplerScan};
use helmholtz_training::{Event, Parameters, TrainConfig, Trainer, load_model, train};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Runs cells on a backend's default device.
pub(crate) struct Runner<B: Backend> {
    pub data: Arc<Splits>,
    pub threads: usize,
    /// Name of the device in the provenance.
    pub name: String,
    pub device: <B as BackendTypes>::Device,
}

impl<B: Backend> Runner<B> {
    pub(crate) fn new(data: Arc<Splits>, threads: usize, name: String) -> Self {
        Self {
            data,
            threads,
            name,
            device: Default::default(),
        }
    }

    /// Returns the configuration of a cell's training.
    pub(crate) fn config(&self, cell: &Cell, method: Method) -> TrainConfig {
        let settings = &cell.settings;
        let final_samples = settings
            .final_samples
            .as_ref()
            .map_or(&[][..], |all| all.all());
        TrainConfig {
            seed: cell.seed,
            method,
            epochs: settings.epochs,
            switch_epoch: settings.switch_epoch(),
            chain_start: settings.chain_start,
            batch: settings.batch,
            particles: settings.particles,
            analytic_kl: settings.analytic_kl,
            optimizer: settings.optimizer,
            betas: settings.betas(),
            learning_rate: settings.learning_rate,
            inference_rate: settings.inference_rate,
            prior_rate: settings.prior_rate,
            sleep_every: settings.sleep_every,
            gradient_beta: settings.gradient_beta,
            scan: match settings.scan {
                ScanOrder::Shuffled => SamplerScan::Shuffled,
                ScanOrder::WithReplacement => SamplerScan::WithReplacement,
            },
            check_every: settings.check_every,
            patience: settings.patience,
            valid_samples: settings.valid_samples as usize,
            valid_images: settings.valid_images.map(|images| images as usize),
            test_samples: settings.test_samples as usize,
            test_images: settings.test_images.map(|images| images as usize),
            train_images: settings.train_images.map(|images| images as usize),
            test_at_checks: settings.tests_at_checks(),
            final_samples: final_samples
                .iter()
                .map(|&samples| samples as usize)
                .collect(),
            checkpoint_seconds: settings.checkpoint_seconds as f64,
            threads: self.threads,
            device_name: self.name.clone(),
        }
    }
}

/// Measuring a cell's cost.
pub(crate) struct Measure<'a, B: Backend> {
    pub runner: &'a Runner<B>,
    pub cell: &'a Cell,
    pub method: Method,
}

impl<B: Backend> Measure<'_, B> {
    pub(super) fn on<M: Artifacts<B>>(self, model: M) -> Result<Cost, HarnessError> {
        let Runner {
            data,
            threads,
            device,
            ..
        } = self.runner;
        let model = model.starting(&data.train);
        let parameters = burn::module::Module::num_params(&model) as u64;
        // The dearer stage for an estimator that has two.
        let config = TrainConfig {
            switch_epoch: 0,
            ..self.runner.config(self.cell, self.method)
        };
        let keeps_chains = config.keeps_chains(0);
        let all = data.train.len() as u32;
        Scan::new(config.scan, config.seed, all, config.batch).map_err(failed)?;
        let sizes = [(config.batch as u64, 1), (config.particles as u64, 64)];
        let ([batch, particles], times) = shortened(parameters, sizes);
        // With the steps up to a sleep phase, where they are not many.
        let cycle = self.cell.settings.sleep_every.unwrap_or(1);
        let work = parameters.saturating_mul(batch * particles);
        let ([cycle], _) = shortened(work, [(cycle.min(50), 1)]);
        let config = TrainConfig {
            batch: batch as usize,
            particles: particles as usize,
            ..config
        };
        let some = all.min(40 * config.batch as u32);
        let images = data.train.select(&(0..some).collect::<Vec<_>>());
        let mut scan = Scan::new(config.scan, config.seed, some, config.batch).map_err(failed)?;
        let mut trainer = Trainer::new(model, config, &images, device.clone()).map_err(failed)?;
        if keeps_chains {
            trainer.start_chains(&images).map_err(failed)?;
        }
        let mut index = 0;
        let steps = seconds_of_one(|| {
            for _ in 0..cycle {
                let rows = scan
                    .batch(0, index % scan.steps_per_epoch())
                    .map_err(failed)?;
                index += 1;
                trainer.step(&images, &rows, 0, index).map_err(failed)?;
            }
            B::sync(device).map_err(failed)
        })?;
        let step = times * steps / cycle as f64;

        let row_bytes = trainer.chains().snapshot().len() / images.len().max(1);
        let model = trainer.model().valid();
        let ([few], _) = shortened(100 * parameters, [(data.valid.len().min(40) as u64, 1)]);
        let few: Vec<u32> = (0..few as u32).collect();
        let few = data.valid.select(&few);
        let evaluation = Evaluation {
            samples: 100,
            seed: self.cell.seed,
            purpose: Purpose::new("measure"),
            threads: *threads,
        };
        let evaluated = seconds_of_one(|| {
            nll::<B, _>(&model, &few, &evaluation, device, &|_| true);
            Ok(())
        })?;
        Ok(Cost {
            step,
            image_sample: evaluated / (few.len() * evaluation.samples).max(1) as f64,
            parameters,
            row_bytes: row_bytes as u64,
        })
    }
}

/// Running a cell in its folder.
pub(crate) struct Run<'a, B: Backend> {
    pub runner: &'a Runner<B>,
    pub cell: &'a Cell,
    pub method: Method,
    pub folder: RunFolder,
    pub observer: &'a dyn Observer,
    pub stop: &'a AtomicBool,
}

impl<B: Backend> Run<'_, B> {
    /// Numbers of the last epoch, as its record has them.
    fn last_epoch<const N: usize>(
        &self,
        keys: [&str; N],
    ) -> Result<[Option<f64>; N], HarnessError> {
        let rows = read_metrics(self.folder.path())?;
        let last = rows.iter().rev().find(|row| row["kind"] == "epoch");
        Ok(keys.map(|key| last?[key].as_f64()))
    }

    pub(super) fn on<M: Artifacts<B>>(mut self, model: M) -> Result<CellResult, HarnessError> {
        let Runner {
            data, device, name, ..
        } = self.runner;
        let config = self.runner.config(self.cell, self.method);
        let model = model.starting(&data.train);
        let start = model.valid();
        let observe = |event: &Event| self.observer.event(&events::of_epochs(event));
        let outcome = train(
            model,
            &config,
            data,
            device,
            &mut self.folder,
            &observe,
            self.stop,
        )
        .map_err(ended)?;
        let kept = self.selected(start, &config.method, outcome.selected.epoch)?;
        self.draw::<M>(&kept)?;
        let released_nll = self.released_nll(kept)?;
        let selected = outcome.selected;
        let test = selected
            .test
            .expect("a finished run has the test NLL of its selected check");
        let reported = self.cell.settings.reported_samples();
        let of_reported = |nll: &&Nll| Some(nll.samples as u64) == reported;
        let last = outcome.last.iter().find(of_reported);
        let finals = match outcome.last.as_slice() {
            [_] => &[][..],
            several => several,
        };
        let of_samples = |nll: &Nll| Final {
            samples: nll.samples as u64,
            nll: nll.mean,
            se: nll.standard_error,
            bound: -nll.elbo,
        };
        let log_likelihoods = outcome.log_likelihoods.as_ref();
        let kept_file = |all| log_likelihoods::write(self.folder.path(), all);
        let [training_elbo, gradient_variance] = self.last_epoch(["elbo", "gradient_variance"])?;
        let result = CellResult {
            selected_epoch: selected.epoch,
            valid_nll: selected.valid.mean,
            valid_se: selected.valid.standard_error,
            test_nll: test.mean,
            test_se: test.standard_error,
            samples: test.samples as u64,
            images: last.unwrap_or(&test).images as u64,
            final_samples: last.map(|nll| nll.samples as u64),
            final_nll: last.map(|nll| nll.mean),
            final_se: last.map(|nll| nll.standard_error),
            finals: finals.iter().map(of_samples).collect(),
            log_likelihoods: log_likelihoods.map(kept_file).transpose()?,
            released_nll,
            bound: Some(-last.unwrap_or(&test).elbo),
            training_elbo,
            gradient_variance,
            epochs_done: outcome.epochs,
            epochs_planned: config.epochs,
            seconds: self.folder.seconds(),
            provenance: self.folder.provenance(self.cell.seed, name),
            fingerprint: Some(data.fingerprint.clone()),
            synthetic: data.synthetic,
        };
        self.folder
            .finish(&serde_json::to_value(&result).map_err(failed)?)?;
        Ok(result)
    }

    /// The parameters that were selected, after so many epochs, which the last checkpoint holds; `model` has the right sizes.
    fn selected<M: Module<B> + Layered<B>>(
        &self,
        model: M,
        method: &Method,
        epoch: u64,
    ) -> Result<M, HarnessError> {
        let checkpoint = self
            .folder
            .latest_checkpoint()?
            .expect("a run that has trained has made a checkpoint");
        let device = &self.runner.device;
        let selected = load_model(model, &checkpoint, Parameters::Selected, device);
        Ok(method.tested(selected.map_err(failed)?, epoch))
    }

    /// Writes pictures of what the parameters have learned.
    fn draw<M: Artifacts<B>>(&self, selected: &M::InnerModule) -> Result<(), HarnessError> {
        let Runner { data, device, .. } = self.runner;
        let drawing = Drawing {
            test: Some(&data.test),
            seed: self.cell.seed,
            device,
        };
        for (shown, picture) in drawing.of::<M>(selected, data.test.pixels()) {
            picture.write(&self.folder.path().join(shown.file()))?;
        }
        Ok(())
    }

    /// What released code reports for these parameters, where the settings ask for it.
    fn released_nll<M>(&self, selected: M) -> Result<Option<f64>, HarnessError>
    where
        M: Layered<B> + Factored<B> + Clone + Send,
    {
        let settings = &self.cell.settings;
        if !settings.released_nll {
            return Ok(None);
        }
        let Runner {
            data,
            device,
            threads,
            ..
        } = self.runner;
        let evaluation = Evaluation {
            samples: settings.reported_samples().unwrap_or(settings.test_samples) as usize,
            seed: self.cell.seed,
            purpose: RELEASED,
            threads: *threads,
        };
        let go_on = |_| !self.stop.load(Ordering::Relaxed);
        let model = AnalyticKl(selected);
        let released = nll::<B, _>(&model, &data.test, &evaluation, device, &go_on);
        let epoch = settings.epochs;
        let released = released.ok_or(HarnessError::Interrupted { epoch })?;
        Ok(Some(released.mean))
    }
}

/// The median seconds of one call, over a few after a few to warm up; at most about half a second, or two calls.
fn seconds_of_one(mut work: impl FnMut() -> Result<(), HarnessError>) -> Result<f64, HarnessError> {
    let start = Instant::now();
    let mut times = Vec::new();
    while times.len() < 2 || (times.len() < 50 && start.elapsed() < Duration::from_millis(400)) {
        let start = Instant::now();
        work()?;
        times.push(start.elapsed().as_secs_f64());
    }
    let warm = 3.min(times.len() / 2);
    let timed = &mut times[warm..];
    timed.sort_by(f64::total_cmp);
    Ok(timed[timed.len() / 2])
}
