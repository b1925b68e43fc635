//! Every state that a crash could leave of a program's files.
//!
//! A program that changes files through [`helmholtz_files`] is run once and recorded ([`record`]). From the [`Log`] this crate
//! makes **every** state of the disk that a crash of the machine could leave under stated rules ([`States`]). It writes each to a
//! real folder, and runs the program from there to its end ([`check`]). A state is a [`Failure`] unless
//!
//! 1. the program ends with the same bits as without a crash,
//! 2. it goes on from the last [`promise`] before the crash, or a later one, and
//! 3. it reports no damage: a crash is none.
//!
//! # Rules
//!
//! What POSIX promises, and no more. The crash falls between two operations or within a write.
//!
//! * **Content.** `fsync` of a file makes its content durable. Of the writes and cuts since then any may be lost. One that
//!   is not is there as a whole, by its first half, or as zeros of its length: a file that grew before its bytes came. Those
//!   that are there are applied in order.
//! * **Names.** `fsync` of a folder makes the names in it durable: those that were created, renamed and removed. `fsync` of
//!   a file does not make its name durable. Of the changes since then any subset may be lost. A rename within a folder is
//!   atomic.
//! * **Independence.** Files and folders lose what they lose independently of one another.
//!
//! This is weaker than the journals of ext4, XFS and Btrfs, which keep the order of names. Not modelled: content that was
//! durable and is damaged later (seals catch that, see the tests of damage in `helmholtz-runs`), and renames from folder to folder.
//!
//! Contents: [`record`], [`promise`], [`Log`], [`Twin`], [`States`], [`Image`], [`check`], [`Limits`], [`Report`], [`Failure`], [`Ended`].

mod check;
mod disk;
mod image;
mod log;
mod recorder;
mod states;
#[cfg(test)]
mod tests;
mod twins;

pub use check::{Ended, Failure, Limits, Report, check, check_twin};
pub use image::Image;
pub use log::{Change, Log};
pub use recorder::{promise, record};
pub use states::States;
pub use twins::Twin;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
