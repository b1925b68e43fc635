//! Data sets of images: found, checked, unpacked; and one that is generated and needs no file.
//!
//! [`load`] gives the training, validation and test images of a [`DatasetName`]. Files are looked for in one order
//! everywhere ([`Locator`]): the folder the user named, the folder in `HELMHOLTZ_DATA`, the user's cache folder. Else
//! they are downloaded into the cache from a list of mirrors (feature `download`, on by default), with progress, resumed
//! and retried. A file may be plain or `.gz`. Its sha256 is checked in every pass that reads it.
//! Binary images are one bit a pixel in memory ([`Images`]): 50,000 of 28x28 take 4.9 MB. Nothing is printed: what happens
//! is told to a callback ([`Event`]); what fails says which file, where, and what to do ([`Error`]).
//!
//! ```
//! use helmholtz_datasets::{DatasetName, Locator, load};
//!
//! let name: DatasetName = "glyphs".parse()?;
//! let splits = load(name, &Locator::new(None), &mut |event| eprintln!("{event:?}"))?;
//! assert_eq!((splits.train.len(), splits.train.pixels()), (5_000, 784));
//!
//! let mut x = vec![0.0; 784];
//! splits.train.write_row_f32(17, &mut x);
//! # Ok::<(), helmholtz_datasets::Error>(())
//! ```
//!
//! Contents:
//! * [`load`], [`load_grey_mnist`]: a data set by name; [`Splits`], [`GreyMnist`], [`Origin`]
//! * [`Data`]: what a model is trained on; [`Rows`], [`Subset`]: any numbers in memory, some of them
//! * [`Images`], [`GreyImages`]: images in memory
//! * [`Reading`], [`Read`]: images that are binarised afresh whenever they are read
//! * [`read_amat`], [`read_idx_images`], [`read_idx_labels`], [`read_mat`]: the file formats
//! * [`DataFile`], [`Locator`], `Downloader`: the published files, and how they come here
//! * [`OwnData`]: files of one's own, divided into parts
//! * [`random_subset`]: a seeded random subset of rows

#![cfg_attr(docsrs, feature(doc_cfg))]

mod amat;
mod content;
mod data;
mod data_file;
mod declared;
#[cfg(feature = "download")]
mod download;
mod dynamic;
mod error;
mod event;
mod fashion;
mod folder;
mod glyphs;
mod grey_images;
mod idx;
mod images;
mod load;
mod locate;
mod mat;
mod mersenne;
mod mnist;
mod name;
mod omniglot;
mod own;
mod reading;
mod subset;
#[cfg(test)]
mod testing;

pub use amat::read_amat;
pub use data::{Data, Read, Rows, Subset};
pub use data_file::DataFile;
pub use declared::Origin;
#[cfg(feature = "download")]
pub use download::Downloader;
pub use error::{Error, Missing};
pub use event::{Event, Progress};
pub use grey_images::GreyImages;
pub use idx::{read_idx_images, read_idx_labels};
pub use images::{Images, Kind};
pub use load::{GreyMnist, Splits, caution, is_own, load, load_grey_mnist};
pub use locate::Locator;
pub use mat::{Matrix, read_mat};
pub use mnist::{binarized_mnist_files, mnist_files};
pub use name::DatasetName;
pub use own::{ENDINGS, FRACTIONS, OwnData};
pub use reading::Reading;
pub use subset::random_subset;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
