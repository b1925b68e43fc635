//! Variational autoencoders with categorical latents.
//!
//! q(h | x) is V independent variables of C classes, whose logits a network computes from the data. The likelihood p(x | h) is
//! independent bits whose logits another computes from the one-hot variables side by side, and the prior p(h) is uniform. The net
//! of Ou & Song (2020), table 2, has 20 variables of 10 classes:
//!
//! ```
//! use burn_flex::Flex;
//! use burn::tensor::DType;
//! use helmholtz_categorical_vae::CategoricalVaeConfig;
//! # use helmholtz_estimators::Propose;
//!
//! let config = CategoricalVaeConfig::table_2();
//! let model = config.init::<Flex>(1, DType::F32, &Default::default()).unwrap();
//! assert_eq!(model.latents().to_string(), "20 of 10 classes");
//! ```
//!
//! | item | what it is |
//! |---|---|
//! | [`CategoricalVaeConfig`] | sizes, and whether the encoder's logits are free |
//! | [`CategoricalVae`] | the model, and what it can do for estimators |

#![cfg_attr(docsrs, feature(doc_cfg))]

mod config;
mod model;

pub use burn;
#[cfg(feature = "flex")]
pub use helmholtz_ops::Flex;

pub use config::{CategoricalVaeConfig, ConfigError};
pub use model::CategoricalVae;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
