//! How well a model fits data that it wasn't trained on: importance-sampled likelihoods with their standard error. And how
//! noisy a gradient estimate is, for what it costs.
//!
//! [`nll`] never builds a gradient tape: give it a model on a plain backend (`model.valid()` of a training model).
//!
//! ```
//! use burn::tensor::DType;
//! use burn_flex::Flex;
//! use helmholtz_datasets::{DatasetName, Locator, load};
//! use helmholtz_evaluation::{Evaluation, nll};
//! use helmholtz_random::Purpose;
//! use helmholtz_sbn::SbnConfig;
//!
//! let mut config = SbnConfig::named("linear")?;
//! (config.visible, config.latent) = (784, vec![5]);
//! let model = config.init::<Flex>(1, DType::F32, &Default::default())?;
//! let images = load(DatasetName::Glyphs, &Locator::new(None), &mut |_| {})?.test.select(&[0, 1, 2]);
//! let evaluation = Evaluation { samples: 50, seed: 1, purpose: Purpose::new("test"), threads: 1 };
//! let nll = nll::<Flex, _>(&model, &images, &evaluation, &Default::default(), &|_| true).unwrap();
//! assert!(nll.mean <= -nll.elbo);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`method_variance`] makes the same estimate again and again at frozen parameters, each time with fresh noise:
//!
//! ```
//! use burn::{backend::Autodiff, tensor::DType};
//! use burn_flex::Flex;
//! use helmholtz_datasets::{DatasetName, Locator, load};
//! use helmholtz_estimators::{Batch, Layered, Learned, Method};
//! use helmholtz_evaluation::{Replication, batch_of, method_variance};
//! use helmholtz_samplers::MemoryStore;
//! use helmholtz_sbn::SbnConfig;
//!
//! let mut config = SbnConfig::named("linear")?;
//! config.latent = vec![5];
//! let device = Default::default();
//! let model = config.init::<Autodiff<Flex>>(1, DType::F32, &device)?;
//! let images = load(DatasetName::Glyphs, &Locator::new(None), &mut |_| {})?.train;
//! let method: Method = "rloo".parse()?;
//! let learned = Learned::init(&method.controls(), || images.pixel_means(), &model.layers(), 1, DType::F32, &device);
//! let batch = Batch::<_, MemoryStore> { x: batch_of(&images, 0..10, &device), chains: None, particles: 2, epoch: 0,
//!     analytic_kl: false };
//! let replication = Replication { replicates: 20, seed: 1 };
//! let measured = method_variance(&method, &model, &learned, batch, &replication, &mut |_| true)?.unwrap();
//! let (ln, error) = measured.phi.ln();
//! println!("ln V = {ln:.2} ± {error:.2}; V × evaluations = {:.3}", measured.merit(2.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | file | holds |
//! |---|---|
//! | [`nll`](fn@nll), [`log_weights`], [`log_weights_at`] | the importance-sampled likelihood; a part of it; for several S in one pass |
//! | [`tempered_log_evidence`], [`bounds`] | the likelihood by tempered SMC from q; a bracket around it on data of the model's own |
//! | [`LogLikelihoods`] | the estimate of each datum, in a file, for comparisons in pairs |
//! | [`gradient_variance`](fn@gradient_variance), [`method_variance`] | the variance of a gradient estimate and its price, for any loss, for a method |
//! | [`AnalyticKl`] | a model evaluated by a formula of released code, which estimates no likelihood |
//! | [`Held`] | a chain store that forgets what is written |
//! | [`batch_of`] | data as values |

#![cfg_attr(docsrs, feature(doc_cfg))]

mod accumulate;
mod analytic_kl;
mod batch;
mod flat;
mod gradient_variance;
mod groups;
mod held;
mod interleaved;
mod log_likelihoods;
mod nll;
mod spread;
mod tempered;

pub use burn;
#[cfg(feature = "flex")]
pub use helmholtz_ops::Flex;

pub use analytic_kl::AnalyticKl;
pub use batch::batch_of;
pub use gradient_variance::{
    GradientVariance, Replication, Variance, gradient_variance, method_variance,
};
pub use held::Held;
pub use log_likelihoods::{LogLikelihoods, NoLogLikelihoods};
pub use nll::{Evaluation, LogWeights, Nll, log_weights, log_weights_at, nll};
pub use tempered::{Bounds, Tempering, bounds, tempered_log_evidence};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
