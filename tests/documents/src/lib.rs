//! The project's documents: what is checked of them, and what is made.
//!
//! | file | holds |
//! |---|---|
//! | [`tree`] | which files are documents |
//! | [`prose`] | sentences, and how many are long |
//! | [`links`] | links that lead nowhere, or out of where they may lead |
//! | [`parts`] | parts of documents that are made of records and of sources |
//! | [`records`] | tables that are made of recorded runs |
//! | [`imports`] | which file of a crate imports which, and the circles of them |
//! | [`layers`] | the layers of the architecture, and crates that know one above them |
//! | [`sources`] | the sources that are checked: circles, and functions that are too long |
//! | [`tutorial`] | a page's files and commands, carried out in an empty folder |

pub mod imports;
pub mod layers;
pub mod links;
pub mod parts;
pub mod prose;
pub mod records;
pub mod sources;
pub mod tree;
pub mod tutorial;

/// The pages of the book on single crates: their code blocks are tests.
#[cfg(doctest)]
mod book {
    #[doc = include_str!("../../../docs/src/use/sample.md")]
    struct Sample;
    #[doc = include_str!("../../../docs/src/use/resample.md")]
    struct Resample;
    #[doc = include_str!("../../../docs/src/use/prove.md")]
    struct Prove;
    #[doc = include_str!("../../../docs/src/inside/randomness.md")]
    struct Randomness;
    #[doc = include_str!("../../../docs/src/inside/chain-store.md")]
    struct ChainStore;
}
