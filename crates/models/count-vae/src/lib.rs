//! Variational autoencoders with counts for latents.
//!
//! q(h | x) is V independent counts, Poisson or binomial, whose logits a network computes from the data. The likelihood p(x | h)
//! is independent bits whose logits another computes from the counts. The prior p(h) is Poisson(1), or binomial with p = ½.
//!
//! ```
//! use burn::tensor::DType;
//! use burn_flex::Flex;
//! use helmholtz_count_vae::CountVaeConfig;
//! use helmholtz_distributions::Counts;
//! use helmholtz_estimators::Layered;
//!
//! let config = CountVaeConfig::binomial(16);
//! let model = config.init::<Flex>(1, DType::F32, &Default::default()).unwrap();
//! assert_eq!(model.layers(), [Counts::Binomial { variables: 16, trials: 8 }]);
//! ```
//!
//! | item | what it is |
//! |---|---|
//! | [`CountVaeConfig`] | sizes, and which counts |
//! | [`CountVae`] | the model, and what it can do for estimators |
//!
//! Estimators of the weighted family, NVIL and MuProp train it as any model. [`FiniteOrder`](helmholtz_estimators::FiniteOrder) is made for
//! counts, and [`StraightThrough`](helmholtz_estimators::StraightThrough) takes them. Those that relax latents, swap classes or keep chains do
//! not compile with it; a [`Method`](helmholtz_estimators::Method) chosen at run time refuses it.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod config;
mod model;

pub use burn;
#[cfg(feature = "flex")]
pub use helmholtz_ops::Flex;

pub use config::{ConfigError, CountVaeConfig};
pub use model::CountVae;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
