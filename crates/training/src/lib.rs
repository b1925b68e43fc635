//! The training loop of every discrete latent-variable model here: batches by random scan, an optimiser, the two stages of joint
//! stochastic approximation, validation and retrospective selection, and checkpoints.
//!
//! A run is a pure function of its configuration: every draw is named by (seed, purpose, epoch, step). A run that was
//! killed and resumed ends in the same bits on the CPU as one that was not.
//!
//! ```no_run
//! use burn::{backend::Autodiff, tensor::DType};
//! use burn_flex::Flex;
//! use helmholtz_runs::{OpenMode, RunFolder};
//! use helmholtz_training::{TrainConfig, train};
//! # fn example(config: TrainConfig, data: helmholtz_datasets::Splits) -> Result<(), Box<dyn std::error::Error>> {
//! let net = helmholtz_sbn::SbnConfig::named("linear")?;
//! let device = Default::default();
//! let model = net.init::<Autodiff<Flex>>(config.seed, DType::F32, &device)?;
//! let mut folder = RunFolder::open("runs/linear", &serde_json::json!({"seed": 1}), OpenMode::Resume)?;
//! let stop = std::sync::atomic::AtomicBool::new(false);
//! let outcome = train(model, &config, &data, &device, &mut folder, &|event| println!("{event:?}"), &stop)?;
//! println!("{:.2} nats at epoch {}", outcome.selected.test.expect("computed in the end").mean, outcome.selected.epoch);
//! # Ok(())
//! # }
//! ```
//!
//! | file | holds |
//! |---|---|
//! | [`TrainConfig`] | every number that decides a run |
//! | [`Optimizer`], [`Betas`] | which optimiser |
//! | [`Adam`] | one pass over a parameter and its moments |
//! | [`Momentum`] | damped momentum |
//! | [`Trainer`] | parameters, optimiser and chains, and one step of them |
//! | [`train`] | the loop, with checks and checkpoints |
//! | [`train_steps`], [`Objective`] | a loop over steps on data that never end: amortized samplers, loops of one's own |
//! | [`Learner`] | what an estimator learns beside the model, with its optimiser |
//! | [`load_model`], [`load_learned`], [`load_chains`], [`save_chains`] | what a checkpoint holds |
//! | `save_parameters`, `load_parameters` (feature `safetensors`) | the parameters of a model in a file that other frameworks read |
//! | [`GradientVariance`] | the variance of the gradient of φ, followed during training |
//! | [`Event`] | what a run tells while it goes on |

#![cfg_attr(docsrs, feature(doc_cfg))]

mod adam;
mod config;
mod error;
mod event;
mod gradient_variance;
mod learner;
mod momentum;
mod optimizer;
mod ordered;
mod progress;
mod rule;
#[cfg(feature = "safetensors")]
mod safetensors;
mod snapshot;
mod steps;
mod train;
mod trainer;
mod wire;

pub use burn;
#[cfg(feature = "flex")]
pub use helmholtz_ops::Flex;

pub use adam::{Adam, AdamState};
pub use config::{ChainStart, TrainConfig};
pub use error::TrainError;
pub use event::Event;
pub use gradient_variance::GradientVariance;
pub use learner::Learner;
pub use momentum::{Momentum, MomentumState};
pub use progress::{Check, Selected};
pub use rule::{Betas, Optimizer};
#[cfg(feature = "safetensors")]
pub use safetensors::{load_parameters, save_parameters};
pub use snapshot::{Parameters, load_chains, load_learned, load_model, save_chains};
pub use steps::{Objective, StepConfig, train_steps};
pub use train::{Outcome, train};
pub use trainer::{StepReport, Trainer};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
