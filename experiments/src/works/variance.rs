//! Measuring, on any backend.

use super::{AnyModel, OnModel};
use crate::artifacts::Artifacts;
use crate::error::HarnessError;
use crate::framework::failed;
use crate::trained::Run;
use burn::backend::Autodiff;
use burn::tensor::DType;
use burn::tensor::backend::BackendTypes;
use helmholtz_datasets::{Images, Read, Reading};
use helmholtz_estimators::{Batch, Chains as ChainsOf, Entry, Learned, Method, refresh};
use helmholtz_evaluation::{GradientVariance, Held, Replication, batch_of, method_variance};
use helmholtz_ops::{Backend, Values};
use helmholtz_random::{Purpose, Stream};
use helmholtz_runs::Pieces;
use helmholtz_samplers::{ChainStore, MemoryStore};
use helmholtz_training::{load_chains, load_learned, load_model};
use serde::{Deserialize, Serialize};

const START: Purpose = Purpose::new("start");
/// The bits of data that are drawn anew whenever they are read.
const READ: Purpose = Purpose::new("read");

/// Treatment of the chains from one replicate to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Chains {
    /// There are none.
    None,
    /// Every replicate starts from the same states.
    Held,
    /// Each replicate starts where the one before it ended.
    Moving,
}

impl Chains {
    /// Name in a row and a file; nothing for none.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Held => "held",
            Self::Moving => "moving",
        }
    }
}

/// One measured method.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Its name.
    pub method: String,
    /// Its chains.
    pub chains: Chains,
    /// Quantity that its estimate is unbiased for.
    pub target: String,
    /// Values of f that one estimate takes for an image.
    pub evaluations: usize,
    /// Measured variance.
    #[serde(flatten)]
    pub measured: GradientVariance,
}

impl Row {
    /// `jsa, held`.
    pub fn label(&self) -> String {
        label(&self.method, self.chains)
    }

    /// V × evaluations of f.
    pub fn by_evaluations(&self) -> f64 {
        self.measured.merit(self.evaluations as f64)
    }

    /// V × seconds.
    pub fn by_seconds(&self) -> f64 {
        self.measured.merit(self.measured.seconds)
    }
}

/// `jsa`, or `jsa, held`.
pub fn label(method: &str, chains: Chains) -> String {
    match chains {
        Chains::None => method.to_string(),
        chains => format!("{method}, {}", chains.as_str()),
    }
}

/// Request for a measurement: methods, on a mini-batch, at the same parameters.
#[derive(Debug, Clone)]
pub struct Request {
    /// The net's name.
    pub net: String,
    /// The estimators.
    pub methods: Vec<Entry>,
    /// Particles K for each image.
    pub particles: usize,
    /// Images of the mini-batch: the first of the training set.
    pub images: usize,
    /// Whether the methods that keep a chain an image use it: their stage II.
    pub chains: bool,
    /// Whether the methods that [take it](Method::takes_analytic_kl) are given KL(q ‖ p(h)) in closed form.
    pub analytic_kl: bool,
    /// Number of replicates, and what names the draws. Fresh parameters come from the same seed.
    pub replication: Replication,
    /// Run that the parameters come from; fresh ones without.
    pub run: Option<Run>,
}

impl Request {
    /// Whether `method` is measured with a chain an image.
    pub fn retains(&self, method: &Method) -> bool {
        self.chains && method.keeps_chains()
    }
}

/// Event of a measurement that goes on.
#[derive(Debug)]
pub enum Event<'a> {
    /// A row begins.
    Begins(&'a str),
    /// So many replicates of it are done.
    Replicates(usize),
    /// The row is done, now or in an earlier attempt.
    Measured {
        /// The row.
        row: &'a Row,
        /// Whether it was made now.
        is_new: bool,
    },
    /// The row cannot be measured; others may be.
    Refused(HarnessError),
}

/// A request with its data and its listener, who answers whether to go on.
pub(crate) struct Measurement<'a> {
    /// Request that is measured.
    pub request: &'a Request,
    /// The training images.
    pub train: &'a Images,
    /// Keeps the rows that are done.
    pub pieces: &'a Pieces,
    /// Hears of every event; once it answers false, the rows so far are all, the last with fewer replicates.
    pub watch: &'a mut dyn FnMut(Event<'_>) -> bool,
}

impl OnModel for Measurement<'_> {
    type Output = Vec<Row>;

    fn on_any<B: Backend>(self, model: Box<dyn AnyModel<B>>) -> Result<Vec<Row>, HarnessError> {
        model.variance(self)
    }
}

impl Measurement<'_> {
    pub(super) fn on<B: Backend, M: Artifacts<B>>(
        mut self,
        model: M,
    ) -> Result<Vec<Row>, HarnessError> {
        let device = Default::default();
        let model = match &self.request.run {
            Some(run) => load_model(model, &run.checkpoint, run.parameters, &device),
            None => Ok(model.starting(self.train)),
        };
        let model = model.map_err(failed)?;
        let reading = Reading {
            seed: self.request.replication.seed,
            purpose: READ,
            position: 0,
        };
        let read = Read::new(self.train, reading);
        let x = batch_of(&read, 0..self.request.images, &device);
        let store = match self.request.chains {
            true => Some(self.chains(&model, x.clone())?),
            false => None,
        };
        let mut rows = Vec::new();
        for entry in &self.request.methods {
            let learned = self.learned(entry, &model, &device)?;
            let kept = match self.request.retains(&entry.method) {
                true => &[Chains::Held, Chains::Moving][..],
                false => &[Chains::None],
            };
            for &chains in kept {
                let label = label(entry.name, chains);
                (self.watch)(Event::Begins(&label));
                // A row that was stopped is one of fewer replicates, or none; only whole ones are kept.
                let (mut is_new, mut cut, mut refused) = (false, None, None);
                let found = self.pieces.get(&label, || {
                    is_new = true;
                    let row = self.row(entry, chains, &model, &learned, &x, store.as_ref());
                    let row = row.unwrap_or_else(|error| {
                        refused = Some(error);
                        None
                    });
                    let all = self.request.replication.replicates;
                    match row {
                        Some(row) if row.measured.replicates == all => Ok(row),
                        row => {
                            cut = row;
                            Err(HarnessError::Interrupted { epoch: 0 })
                        }
                    }
                });
                if let Some(error) = refused {
                    match (self.watch)(Event::Refused(error)) {
                        true => continue,
                        false => return Ok(rows),
                    }
                }
                let row = match (found, cut) {
                    (Err(HarnessError::Interrupted { .. }), Some(row)) => row,
                    (Err(HarnessError::Interrupted { .. }), None) => return Ok(rows),
                    (found, _) => found?,
                };
                let go_on = (self.watch)(Event::Measured { row: &row, is_new });
                rows.push(row);
                if !go_on {
                    return Ok(rows);
                }
            }
        }
        Ok(rows)
    }

    /// Returns what the method learns beside the model: the run's, if the run's method is this one.
    fn learned<B: Backend, M: Artifacts<B>>(
        &self,
        entry: &Entry,
        model: &M,
        device: &<B as BackendTypes>::Device,
    ) -> Result<Learned<Autodiff<B>>, HarnessError> {
        let learned = Learned::init(
            &entry.method.controls(),
            || self.train.pixel_means(),
            &model.layers(),
            self.request.replication.seed,
            DType::F32,
            device,
        );
        match &self.request.run {
            Some(run) if run.cell.method == entry.name => {
                load_learned(learned, &run.checkpoint, device).map_err(failed)
            }
            _ => Ok(learned),
        }
    }

    /// The chains: the run's, of all training images, or those of the mini-batch started at draws from q.
    fn chains<B: Backend, M: Artifacts<B>>(
        &self,
        model: &M,
        x: Values<Autodiff<B>>,
    ) -> Result<MemoryStore, HarnessError> {
        let latents = model.latents();
        if let Some(run) = self.request.run.as_ref().filter(|run| run.has_chains()) {
            return load_chains(&run.checkpoint, &latents, self.train.len()).map_err(failed);
        }
        let mut store = MemoryStore::new(&latents, self.request.images).map_err(failed)?;
        let mut chains = ChainsOf {
            store: &mut store,
            rows: &self.rows(),
        };
        let mut noise = Stream::new(self.request.replication.seed, START, [0, 0]);
        refresh(model, x, &mut chains, &mut noise).map_err(failed)?;
        Ok(store)
    }

    /// The rows of the mini-batch in the store.
    fn rows(&self) -> Vec<u32> {
        (0..self.request.images as u32).collect()
    }

    /// `None` if it was stopped before there was anything to see.
    fn row<B: Backend, M: Artifacts<B>>(
        &mut self,
        entry: &Entry,
        chains: Chains,
        model: &M,
        learned: &Learned<Autodiff<B>>,
        x: &Values<Autodiff<B>>,
        store: Option<&MemoryStore>,
    ) -> Result<Option<Row>, HarnessError> {
        let request = self.request;
        let Entry { name, method, .. } = entry;
        let rows = self.rows();
        let (mut held, mut moving) = (store.map(Held), store.cloned());
        let store: Option<&mut dyn ChainStore> = match chains {
            Chains::None => None,
            Chains::Held => held.as_mut().map(|store| store as _),
            Chains::Moving => moving.as_mut().map(|store| store as _),
        };
        let batch = Batch {
            x: x.clone(),
            chains: store.map(|store| ChainsOf { store, rows: &rows }),
            particles: request.particles,
            epoch: request
                .run
                .as_ref()
                .and_then(|run| run.epoch())
                .unwrap_or(0),
            analytic_kl: request.analytic_kl && method.takes_analytic_kl(),
        };
        let progress = &mut |done| (self.watch)(Event::Replicates(done));
        let measured = method_variance(
            method,
            model,
            learned,
            batch,
            &request.replication,
            progress,
        );
        Ok(measured.map_err(failed)?.map(|measured| Row {
            method: name.to_string(),
            chains,
            target: entry.target.to_string(),
            evaluations: method.evaluations(
                request.particles,
                model.layers().len(),
                request.retains(method),
            ),
            measured,
        }))
    }
}
