//! An objective with chains and control variates of its own, in a loop over steps: a run that was stopped ends in the same bits.

use std::error::Error;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use burn::backend::Autodiff;
use burn::module::{AutodiffModule, Module};
use burn::optim::GradientsParams;
use burn::record::{BinBytesRecorder, FullPrecisionSettings, Recorder};
use burn::tensor::DType;
use burn_flex::Flex;
use helmholtz_datasets::{Data, Rows};
use helmholtz_estimators::{
    Batch, Chains, Estimator, Jsa, Layered, Learned, Nvil, Propose, Rebar, refresh,
};
use helmholtz_evaluation::batch_of;
use helmholtz_random::{Purpose, Stream};
use helmholtz_runs::{Checkpoint, OpenMode, RunFolder};
use helmholtz_samplers::{ChainStore, MemoryStore};
use helmholtz_sbn::{Sbn, SbnConfig};
use helmholtz_training::{
    Event, Learner, Objective, StepConfig, TrainError, load_chains, save_chains, train_steps,
};
use serde_json::{Map, Value, json};

type B = Autodiff<Flex>;

const ROWS: u32 = 6;

fn model() -> Sbn<B> {
    let mut config = SbnConfig::named("linear").unwrap();
    (config.visible, config.latent) = (4, vec![3]);
    config.init(1, DType::F32, &Default::default()).unwrap()
}

fn data() -> Rows {
    let on = |at: usize| f32::from(u8::from(at * at % 7 < 3));
    Rows::new(4, (0..4 * ROWS as usize).map(on).collect())
}

/// An estimator on all data at each step, by itself: its chains, and what it learns.
struct Own<E> {
    estimator: E,
    data: Rows,
    learner: Learner<B>,
    chains: Option<MemoryStore>,
}

impl<E: Estimator<B, Sbn<B>>> Own<E> {
    fn new(estimator: E) -> Self {
        let (model, data, device) = (model(), data(), Default::default());
        let controls = estimator.controls();
        let means = || data.means();
        let learned = Learned::init(&controls, means, &model.layers(), 1, DType::F32, &device);
        let chains = estimator.keeps_chains().then(|| {
            let mut store = MemoryStore::new(&model.latents(), data.len()).unwrap();
            let rows: Vec<u32> = (0..ROWS).collect();
            let mut chains = Chains {
                store: &mut store,
                rows: &rows,
            };
            let x = batch_of(&data, 0..data.len(), &device);
            let mut noise = Stream::new(1, Purpose::new("refresh"), [0, 0]);
            refresh(&model, x, &mut chains, &mut noise).unwrap();
            store
        });
        Self {
            learner: Learner::new(learned, &controls),
            estimator,
            data,
            chains,
        }
    }
}

impl<E: Estimator<B, Sbn<B>>> Objective<B, Sbn<B>> for Own<E> {
    fn gradients(
        &mut self,
        model: &Sbn<B>,
        step: u64,
    ) -> Result<(GradientsParams, f64), Box<dyn Error + Send + Sync>> {
        let rows: Vec<u32> = (0..ROWS).collect();
        let batch = Batch {
            x: batch_of(&self.data, 0..self.data.len(), &Default::default()),
            chains: self
                .chains
                .as_mut()
                .map(|store| Chains { store, rows: &rows }),
            particles: 2,
            epoch: 0,
            analytic_kl: false,
        };
        let [mut noise, mut chance] =
            ["noise", "chance"].map(|name| Stream::new(1, Purpose::new(name), [step, 0]));
        let learned = &mut self.learner.learned;
        let estimate = self
            .estimator
            .estimate(model, learned, batch, &mut noise, &mut chance)?;
        let mut gradients = estimate.loss.backward();
        let of_model = GradientsParams::from_module(&mut gradients, model);
        self.learner.step(0.01, estimate.controls, gradients);
        Ok((of_model, -estimate.elbo))
    }

    fn check(
        &self,
        _model: &<Sbn<B> as AutodiffModule<B>>::InnerModule,
        _steps: u64,
    ) -> Result<Map<String, Value>, Box<dyn Error + Send + Sync>> {
        Ok(Map::new())
    }

    fn save(&self) -> Vec<(&'static str, Vec<u8>)> {
        let mut parts = self.learner.save();
        parts.extend(self.chains.as_ref().map(save_chains));
        parts
    }

    fn load(&mut self, checkpoint: &Checkpoint) -> Result<(), TrainError> {
        self.learner.load(checkpoint, &Default::default())?;
        if let Some(chains) = &self.chains {
            let (latents, rows) = (chains.latents().clone(), chains.len());
            self.chains = Some(load_chains(checkpoint, &latents, rows)?);
        }
        Ok(())
    }
}

/// The parameters and the objective's state after 8 steps, or when told to stop after `last`.
fn run(folder: &Path, mut objective: impl Objective<B, Sbn<B>>, last: u64) -> Option<Vec<Vec<u8>>> {
    let mut folder = RunFolder::open(folder, &json!(1), OpenMode::Resume).unwrap();
    let stop = AtomicBool::new(false);
    let observe = |event: &Event| {
        if let Event::Step { step, .. } = event {
            stop.fetch_or(*step == last, Ordering::Relaxed);
        }
    };
    let config = StepConfig {
        seed: 1,
        steps: 8,
        learning_rate: 0.05,
        decay: 0.0,
        beta_2: 0.999,
        check_every: 100,
        checkpoint_seconds: 1e9,
        device_name: "cpu".into(),
    };
    let device = Default::default();
    let trained = train_steps(
        model(),
        &mut objective,
        &config,
        &device,
        &mut folder,
        &observe,
        &stop,
    );
    let record = match trained {
        Ok(model) => model.into_record(),
        Err(TrainError::Interrupted { .. }) => return None,
        Err(error) => panic!("{error}"),
    };
    let recorder = BinBytesRecorder::<FullPrecisionSettings, Vec<u8>>::new();
    let model = Recorder::<B>::record(&recorder, record, ()).unwrap();
    // An optimiser's record is a map in no order; what it did is in the parameters.
    let own = objective.save().into_iter();
    let own = own.filter(|(name, _)| !name.ends_with("optimizer"));
    let own = own.map(|(_, bytes)| bytes);
    Some(own.chain([model]).collect())
}

/// The same objective whose state is not in the checkpoint.
struct Forgetful<O>(O);

impl<O: Objective<B, Sbn<B>>> Objective<B, Sbn<B>> for Forgetful<O> {
    fn gradients(
        &mut self,
        model: &Sbn<B>,
        step: u64,
    ) -> Result<(GradientsParams, f64), Box<dyn Error + Send + Sync>> {
        self.0.gradients(model, step)
    }

    fn check(
        &self,
        model: &<Sbn<B> as AutodiffModule<B>>::InnerModule,
        steps: u64,
    ) -> Result<Map<String, Value>, Box<dyn Error + Send + Sync>> {
        self.0.check(model, steps)
    }
}

fn resumes<E: Estimator<B, Sbn<B>> + Copy>(estimator: E, parts: usize) {
    let home = tempfile::tempdir().unwrap();
    let whole = run(&home.path().join("whole"), Own::new(estimator), 100).unwrap();
    assert_eq!(whole.len(), parts + 1);
    let stopped = home.path().join("stopped");
    for last in [2, 5] {
        assert_eq!(run(&stopped, Own::new(estimator), last), None);
    }
    assert_eq!(run(&stopped, Own::new(estimator), 100), Some(whole.clone()));
    let forgetful = home.path().join("forgetful");
    assert_eq!(run(&forgetful, Forgetful(Own::new(estimator)), 5), None);
    let found = run(&forgetful, Forgetful(Own::new(estimator)), 100).unwrap();
    assert_ne!(found.last(), whole.last());
}

#[test]
fn chains_of_ones_own_resume_in_the_same_bits() {
    resumes(Jsa::MIS, 1);
}

#[test]
fn a_control_variate_of_ones_own_resumes_in_the_same_bits() {
    resumes(Rebar::FORMS[0], 2);
}

#[test]
fn controls_and_averages_of_ones_own_resume_in_the_same_bits() {
    resumes(Nvil { normalise: true }, 2);
}

/// The learning rate of what is learned is in units of the model's: at rate 0 nothing moves.
#[test]
fn what_is_learned_follows_the_models_learning_rate() {
    let moved = |rate: f64| {
        let mut own = Own::new(Rebar::FORMS[0]);
        let before = own.save();
        let data = data();
        let batch = Batch {
            x: batch_of(&data, 0..data.len(), &Default::default()),
            chains: None::<Chains<'_, MemoryStore>>,
            particles: 2,
            epoch: 0,
            analytic_kl: false,
        };
        let [mut noise, mut chance] =
            ["noise", "chance"].map(|name| Stream::new(1, Purpose::new(name), [0, 0]));
        let learned = &mut own.learner.learned;
        let estimator = &own.estimator;
        let estimate =
            Estimator::estimate(estimator, &model(), learned, batch, &mut noise, &mut chance);
        let estimate = estimate.unwrap();
        let gradients = estimate.loss.backward();
        own.learner.step(rate, estimate.controls, gradients);
        before[0] != own.save()[0]
    };
    assert!(moved(0.01) && !moved(0.0));
}
