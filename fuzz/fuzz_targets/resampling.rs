//! Resampling schemes on any log-weights.
#![no_main]

#[path = "../../crates/samplers/tests/resampling/check.rs"]
mod check;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| check::check_bytes(bytes));
