//! The training loop of every discrete latent-variable model here: batches by random scan, an optimiser, the two stages of joint
//! stochastic approximation, validation and retrospective selection, and checkpoints.
//!
//! A run is a pure function of its configuration: every draw is named by (seed, purpose, epoch, step), so a run that was
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
//! | [`train_steps`], [`Objective`] | a loop over steps on data that never end, for what is not an estimator: amortized samplers |
//! | [`load_model`], [`load_learned`], [`load_chains`] | what a checkpoint holds, to look at |
//! | [`Event`] | what a run tells while it goes on |

mod adam;
mod config;
mod error;
mod event;
mod momentum;
mod optimizer;
mod ordered;
mod progress;
mod snapshot;
mod steps;
mod train;
mod trainer;
mod wire;

pub use adam::{Adam, AdamState};
pub use config::{ChainStart, TrainConfig};
pub use error::TrainError;
pub use event::Event;
pub use momentum::{Momentum, MomentumState};
pub use optimizer::{Betas, Optimizer};
pub use progress::{Check, Selected};
pub use snapshot::{Parameters, load_chains, load_learned, load_model};
pub use steps::{Objective, StepConfig, train_steps};
pub use train::{Outcome, train};
pub use trainer::{StepReport, Trainer};
