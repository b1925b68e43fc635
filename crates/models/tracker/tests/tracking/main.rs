//! What the tracker's tensors are held to: plain loops over pixels.

mod blocks;
mod by_hand;
mod gradients;
mod placement;
mod rows;
mod sampling;
