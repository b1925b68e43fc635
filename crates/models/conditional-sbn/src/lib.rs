//! Structured prediction: a part of a datum given the rest, with latent bits (Raiko, Berglund, Alain & Dinh 2015).
//!
//! A datum x is a context c and a target t, side by side. The laws p(h | c) and p(t | h, c) are independent bits with logits from
//! tanh networks, and so is q(h | c, t). To an estimator this is a model like any other: p(x, h) is p(t, h | c). The net of Ou &
//! Song (2020), table 3, completes the lower half of a digit:
//!
//! ```
//! use burn::tensor::{DType, Tensor};
//! use burn_flex::Flex;
//! use helmholtz_conditional_sbn::ConditionalSbnConfig;
//! use helmholtz_random::{Purpose, Stream};
//!
//! let config = ConditionalSbnConfig::table_3();
//! let model = config.init::<Flex>(1, DType::F32, &Default::default()).unwrap();
//! let digits = Tensor::ones([2, 784], &Default::default());
//! let mut noise = Stream::new(1, Purpose::new("complete"), [0, 0]);
//! let completed = model.complete(digits, 5, &mut noise); // five lower halves for each upper one
//! assert_eq!(completed.dims(), [10, 784]);
//! ```
//!
//! | item | what it is |
//! |---|---|
//! | [`ConditionalSbnConfig`] | sizes |
//! | [`ConditionalSbn`] | the model, and what it can do for estimators |
//! | [`FeedforwardConfig`], [`Feedforward`] | layers of bits from context to target, without an inference net |

#![cfg_attr(docsrs, feature(doc_cfg))]

mod config;
mod decoder;
mod feedforward;
mod model;

pub use burn;
#[cfg(feature = "flex")]
pub use helmholtz_ops::Flex;

pub use config::{ConditionalSbnConfig, ConfigError};
pub use feedforward::{Feedforward, FeedforwardConfig};
pub use model::ConditionalSbn;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
