//! What the fast path, the gradients and the sampling of our operations are held to.

mod data;

mod adam;
mod additive;
mod beta;
mod bits;
mod categorical;
mod categorical_edges;
mod categorical_moves;
mod categorical_sampling;
mod categorical_swaps;
mod constants;
mod correlation;
mod device;
mod elementwise;
mod exponentials;
mod first_derivatives;
mod layouts;
mod lengths;
mod linear;
mod means;
mod moments;
mod ndarray;
mod normal;
mod normal_gamma;
mod own;
mod perceptron;
mod pieces;
mod posterior;
mod rows;
mod sampling;
mod second_derivatives;
mod softmax;
mod special;
mod splines;
mod threads;
mod zero_coefficients;

mod counted;
mod counted_classes;
mod differences;
mod nets;
