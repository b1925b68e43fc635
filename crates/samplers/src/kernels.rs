//! Kernels in two wings: on the indices of weighted states, and on states themselves. One file each.

pub(crate) mod index;
pub(crate) mod state;
