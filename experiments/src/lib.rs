//! Experiments as data, published numbers, and the runner.
