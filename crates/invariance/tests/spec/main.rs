//! What the kernels of joint stochastic approximation, resampling and Gibbs blocks of a mixture claim, shown through the public kit.

mod effective_sample_size;
mod gmm;
mod hmc;
mod independence;
mod resampling;

/// One false-alarm rate of 1e-6 for all of them.
static SUITE: helmholtz_invariance::Suite = helmholtz_invariance::Suite::new(411, 20);
