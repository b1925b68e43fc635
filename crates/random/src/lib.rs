//! Where all randomness of helmholtz is born.
//!
//! A [`Stream`] is a counter-based generator named by (seed, [`Purpose`], position): nothing is hashed, nothing is
//! stored, and a run resumed at any step continues with the same bits. [`Chance`] is the discrete randomness a kernel
//! asks for. A generator *samples* it; an [`Enumerator`] walks *every* branch with its probability, so that an exact
//! proof runs the very code that runs in production. Continuous [`Draws`] are a trait of their own that the
//! enumerator does not implement: an "exact" proof of a continuous kernel does not compile.
//!
//! ```
//! use helmholtz_random::{Chance, Purpose, Stream, enumerate};
//!
//! const NOISE: Purpose = Purpose::new("noise");
//!
//! // A fair coin followed, after heads, by a three-way choice with weights 1 : 1 : 2.
//! fn play(chance: &mut impl Chance) -> Option<usize> {
//!     if chance.accept(0.5f64.ln()) { chance.choose(&[0.0, 0.0, 2f64.ln()]) } else { None }
//! }
//!
//! // Sampled: epoch 3, step 14 of the run with seed 7.
//! let outcome = play(&mut Stream::new(7, NOISE, [3, 14]));
//! assert_eq!(outcome, play(&mut Stream::new(7, NOISE, [3, 14])));
//!
//! // Enumerated: the same function, all four branches.
//! let branches = enumerate(|chance| play(chance));
//! assert_eq!(branches.len(), 4);
//! let of_two: f64 = branches.iter().filter(|(_, o)| *o == Some(2)).map(|(p, _)| p).sum();
//! assert!((of_two - 0.25).abs() < 1e-12);
//! ```
//!
//! Contents: [`Purpose`] and [`Stream`] (keyed generators), [`Chance`] (accept, choose, toss), [`Coins`] (many at once), [`Enumerator`] and
//! [`enumerate`] (all branches), [`Draws`] (uniform, normal, gamma, beta).
//!
//! # Features
//!
//! | feature | default | what it adds |
//! |---|---|---|
//! | `std` | yes | logarithms and exponentials of the standard library; without it the crate needs `core` and `alloc` only, and takes those of `libm`, which may differ in the last bit |

#![cfg_attr(not(any(feature = "std", test)), no_std)]
#![cfg_attr(docsrs, feature(doc_cfg))]

extern crate alloc;

mod chance;
mod coins;
mod draws;
mod enumerator;
mod math;
mod purpose;
mod stream;

pub use chance::Chance;
pub use coins::Coins;
pub use draws::Draws;
pub use enumerator::{Enumerator, enumerate};
pub use purpose::Purpose;
pub use stream::Stream;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
