//! What a data set states of itself.

use std::path::PathBuf;

use crate::event::Progress;
use crate::{Error, Images, Locator};

/// What a data set states of itself: its own file has it, and `name.rs` lists it.
pub(crate) struct Declared {
    /// As users name it.
    pub(crate) name: &'static str,
    /// Training images.
    pub(crate) train_images: usize,
    /// Whether the images are generated rather than real.
    pub(crate) synthetic: bool,
    /// What must be said wherever numbers of this data set are shown, if anything.
    pub(crate) caution: Option<&'static str>,
    /// Its training, validation and test images.
    pub(crate) parts: fn(&Locator, &mut Progress) -> Result<Parts, Error>,
}

/// Training, validation and test images, and where they came from.
pub(crate) type Parts = ([Images; 3], Origin);

/// Where data came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// These files.
    Files(Vec<PathBuf>),
    /// They were generated.
    Generated,
    /// They were given in memory.
    Memory,
}
