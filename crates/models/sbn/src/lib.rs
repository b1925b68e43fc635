//! Sigmoid belief networks with a bottom-up inference net.
//!
//! p(x, h) = p(h^L) ∏_l p(h^l | h^{l+1}) · p(x | h¹) and q(h | x) = q(h¹ | x) ∏_l q(h^l | h^{l−1}). Every factor is a
//! vector of independent bits, or on top one categorical variable. A small network computes its logits from the layer
//! it is conditioned on. The nets of Ou & Song (2020), table 1, and the Helmholtz machines of their 2016 poster have
//! names:
//!
//! ```
//! use burn_flex::Flex;
//! use burn::tensor::DType;
//! use helmholtz_sbn::SbnConfig;
//!
//! let config: SbnConfig = SbnConfig::named("two-layers").unwrap();
//! let model = config.init::<Flex>(1, DType::F32, &Default::default()).unwrap();
//! # use helmholtz_estimators::Propose;
//! assert_eq!(model.latents().layers(), [200, 200]);
//! ```
//!
//! | file | holds |
//! |---|---|
//! | [`SbnConfig`], [`MixedSbnConfig`] | sizes, prior, initialisation; the named nets |
//! | [`Sbn`], [`MixedSbn`] | the model, and what it can do for estimators |
//! | [`GaussianVae`], [`GaussianVaeConfig`] | one layer of bits under real numbers |

#![cfg_attr(docsrs, feature(doc_cfg))]

mod config;
mod gaussian;
mod sbn;

pub use burn;
#[cfg(feature = "flex")]
pub use helmholtz_ops::Flex;

pub use config::{ConfigError, MixedSbnConfig, SbnConfig};
pub use gaussian::{GaussianVae, GaussianVaeConfig};
pub use helmholtz_nets::Initialisation;
pub use sbn::{MixedSbn, Sbn};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
