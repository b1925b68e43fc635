//! Claims of the specifications, shown through the public kit: M1-M5, R6 and R7 of gradient-estimators §9.3, and tests
//! 5, 6, 12, 14 and 19 of apg-experiments §6.

mod effective_sample_size;
mod gmm;
mod hmc;
mod independence;
mod resampling;

/// One false-alarm rate of 1e-6 for all of them.
static SUITE: helmholtz_invariance::Suite = helmholtz_invariance::Suite::new(411, 20);
