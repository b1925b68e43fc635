//! Parameters, optimiser and chains, and one training step of them.

mod checkpoint;

use burn::module::AutodiffModule;
use burn::tensor::DType;
use helmholtz_datasets::{Data, Read, Reading};
use helmholtz_estimators::{
    Batch, Chains, Dream, EstimateError, Estimator, Layered, Learned, Method, Parts, dreams,
    refresh, scatter,
};
use helmholtz_evaluation::batch_of;
use helmholtz_ops::{AutodiffBackend, Values};
use helmholtz_random::{Purpose, Stream};
use helmholtz_samplers::{Info, MemoryStore, SamplerError};

use crate::optimizer::OfModel;
use crate::{ChainStart, GradientVariance, Learner, TrainConfig};

const NOISE: Purpose = Purpose::new("noise");
const ACCEPT: Purpose = Purpose::new("accept");
const REFRESH: Purpose = Purpose::new("refresh");
const SLEEP: Purpose = Purpose::new("sleep");
const READ: Purpose = Purpose::new("read");

/// Data refreshed at a time when the chains are started.
const REFRESH_BATCH: usize = 250;

/// Report of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepReport {
    /// The estimated ELBO of the batch, nats a datum.
    pub elbo: f64,
    /// Rows that were differentiated.
    pub live_rows: usize,
    /// Diagnostics of the kernel, over the batch.
    pub info: Info,
}

/// A model in training by an estimator E: what one step changes.
pub struct Trainer<B, M, E = Method>
where
    B: AutodiffBackend,
    M: AutodiffModule<B>,
{
    /// The model; `None` only while a step consumes it.
    pub(crate) model: Option<M>,
    pub(crate) optimizer: OfModel<B, M>,
    pub(crate) learner: Learner<B>,
    pub(crate) chains: MemoryStore,
    pub(crate) gradient_variance: Option<GradientVariance>,
    config: TrainConfig<E>,
    device: B::Device,
}

impl<B, M, E> Trainer<B, M, E>
where
    B: AutodiffBackend,
    M: AutodiffModule<B> + Layered<B> + Dream<B> + Parts<B>,
    E: Estimator<B, M> + Clone,
{
    /// A fresh optimiser, empty chains for the data, and what the method learns beside the model, fresh.
    ///
    /// # Errors
    /// If the store cannot hold that many.
    pub fn new(
        model: M,
        config: TrainConfig<E>,
        data: &(impl Data + ?Sized),
        device: B::Device,
    ) -> Result<Self, SamplerError> {
        let layers = model.layers();
        let rows = match config.method.keeps_chains() {
            true => data.len(),
            false => 0,
        };
        let needed = config.method.controls();
        let mean = || data.means();
        let learned = Learned::init(&needed, mean, &layers, config.seed, DType::F32, &device);
        Ok(Self {
            chains: MemoryStore::new(&model.latents(), rows)?,
            learner: Learner::new(learned, &needed),
            optimizer: OfModel::new(&config, &model),
            gradient_variance: config.gradient_beta.map(GradientVariance::new),
            model: Some(model),
            config,
            device,
        })
    }

    /// The model.
    pub fn model(&self) -> &M {
        self.model.as_ref().expect("a model is there between steps")
    }

    pub(crate) fn replace_model(&mut self, change: impl FnOnce(M) -> M) {
        self.model = self.model.take().map(change);
    }

    /// The chain states, one a datum.
    pub fn chains(&self) -> &MemoryStore {
        &self.chains
    }

    /// The data as an epoch reads them: those that are drawn anew have bits of their own in each.
    fn read<'a, D: Data + ?Sized>(&self, data: &'a D, epoch: u64) -> Read<'a, D> {
        let reading = Reading {
            seed: self.config.seed,
            purpose: READ,
            position: epoch,
        };
        Read::new(data, reading)
    }

    /// Starts the chain of every datum, where [`ChainStart`] says.
    ///
    /// # Errors
    /// If the store doesn't fit the data.
    pub fn start_chains(&mut self, data: &(impl Data + ?Sized)) -> Result<(), EstimateError> {
        let read = self.read(data, self.config.switch_epoch);
        let model = self.model.take().expect("a model is there between steps");
        let rows: Vec<u32> = (0..data.len() as u32).collect();
        let result = rows
            .chunks(REFRESH_BATCH)
            .enumerate()
            .try_for_each(|(block, rows)| {
                let mut noise = Stream::new(self.config.seed, REFRESH, [block as u64, 0]);
                let mut chains = Chains {
                    store: &mut self.chains,
                    rows,
                };
                if self.config.chain_start == ChainStart::Uniform {
                    return Ok(scatter(&mut chains, &mut noise)?);
                }
                let x = batch_of::<B>(&read, rows.iter().map(|&row| row as usize), &self.device);
                refresh(&model, x, &mut chains, &mut noise)
            });
        self.model = Some(model);
        result
    }

    /// One step on these rows of the training data: estimate, write the chains back, update, and sleep where it is time to.
    /// Its draws are named by (seed, epoch, step). Chains are used from the switch on.
    ///
    /// # Errors
    /// What the estimator reports; the parameters are unchanged then.
    pub fn step(
        &mut self,
        data: &(impl Data + ?Sized),
        rows: &[u32],
        epoch: u64,
        step: u64,
    ) -> Result<StepReport, EstimateError> {
        let config = &self.config;
        let read = self.read(data, epoch);
        let x = batch_of::<B>(&read, rows.iter().map(|&row| row as usize), &self.device);
        let chains = config.keeps_chains(epoch).then_some(Chains {
            store: &mut self.chains,
            rows,
        });
        let mut noise = Stream::new(config.seed, NOISE, [epoch, step]);
        let mut chance = Stream::new(config.seed, ACCEPT, [epoch, step]);
        let model = self.model.take().expect("a model is there between steps");
        let method = match config.sleep_every {
            Some(_) => config.method.clone().awake(),
            None => config.method.clone(),
        };
        let batch = Batch {
            x: x.clone(),
            chains,
            particles: config.particles,
            epoch,
            analytic_kl: config.analytic_kl,
        };
        let learned = &mut self.learner.learned;
        let estimated = method.estimate(&model, learned, batch, &mut noise, &mut chance);
        let estimate = match estimated {
            Ok(estimate) => estimate,
            Err(error) => {
                self.model = Some(model);
                return Err(error);
            }
        };
        let mut gradients = estimate.loss.backward();
        if let Some(variance) = &mut self.gradient_variance {
            variance.follow::<B, M>(&model, &model.inference(), &gradients);
        }
        let rate = config.learning_rate;
        let optimizer = &mut self.optimizer;
        self.model = Some(optimizer.step(rate, rows.len(), model, &mut gradients));
        self.learner.step(rate, estimate.controls, gradients);
        match self.config.sleep_every {
            Some(every) if self.config.method.sleeps() && (step + 1).is_multiple_of(every) => {
                self.sleep(x, every as usize, epoch, step);
            }
            _ => {}
        }
        Ok(StepReport {
            elbo: estimate.elbo,
            live_rows: estimate.live_rows,
            info: estimate.info,
        })
    }

    /// A step of φ on `each` dreams for each of the data x `[batch, visible]`.
    fn sleep(&mut self, x: Values<B>, each: usize, epoch: u64, step: u64) {
        let rows = each * x.dims()[0];
        let mut noise = Stream::new(self.config.seed, SLEEP, [epoch, step]);
        let model = self.model.take().expect("a model is there between steps");
        let loss = dreams(&model, x.cycle(rows), &mut noise);
        let rate = self.config.learning_rate;
        let optimizer = &mut self.optimizer;
        self.model = Some(optimizer.step(rate, rows, model, &mut loss.backward()));
    }
}
