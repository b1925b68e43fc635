//! How well a model fits data that it wasn't trained on: importance-sampled likelihoods with their standard error.
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

mod accumulate;
mod nll;

pub use nll::{Evaluation, Nll, nll};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
