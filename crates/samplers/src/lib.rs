//! MCMC kernels over log-weights and a bit-packed chain store; plain Rust.
