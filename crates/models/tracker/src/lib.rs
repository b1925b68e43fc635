//! Bouncing digits (Wu et al. 2020, section 6.3): what the tracker's model and its simulator share, in plain Rust.
//!
//! ```
//! use helmholtz_tracker::{Bounce, cross_correlation};
//!
//! let bounce = Bounce::default(); // T = 10 frames of D = 3 digits on a canvas of 96 x 96
//! let collection = vec![vec![0.5f32; 28 * 28]; 10]; // digits, grey values in [0, 1]
//! let identities = bounce.identities(1, collection.len())?;
//! let sequence = bounce.sequence(1, 0, &identities, |image| &collection[image as usize]);
//!
//! // Where in the first frame does the first digit's image fit?
//! let template = &collection[sequence.images[0] as usize];
//! let response = cross_correlation(&sequence.frames[0], 96, template, 28);
//! assert_eq!(response.len(), 69 * 69);
//! # Ok::<(), helmholtz_tracker::BounceError>(())
//! ```
//!
//! | item | what it is |
//! |---|---|
//! | [`Canvas`], [`Alignment`] | placing a digit on a canvas, and cropping it from one |
//! | [`Bounce`], [`Identities`], [`Sequence`] | sequences of frames from keyed streams |
//! | [`cross_correlation`] | where a template fits |

mod bounce;
mod canvas;
mod correlation;

pub use bounce::{Bounce, BounceError, Identities, Sequence};
pub use canvas::{Alignment, Canvas};
pub use correlation::cross_correlation;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
