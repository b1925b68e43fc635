//! A test of a binary, and what is known of it.

use std::collections::BTreeSet;
use std::path::PathBuf;

/// A test of a binary.
pub struct Test {
    /// The binary.
    pub binary: PathBuf,
    /// The folder that it runs in.
    pub folder: PathBuf,
    /// Its name.
    pub name: String,
    /// How long it takes, in seconds.
    pub seconds: f64,
    /// The sites that it reaches, by the number of their first mutant.
    pub reached: BTreeSet<u32>,
}
