//! What the fast path, the gradients and the sampling of our operations are held to.

mod data;

mod adam;
mod elementwise;
mod first_derivatives;
mod linear;
mod rows;
mod sampling;
mod second_derivatives;
mod zero_coefficients;

mod counted;
mod differences;
