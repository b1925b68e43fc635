//! A data file of any bytes.
#![no_main]

#[path = "../../crates/datasets/tests/mutated/check.rs"]
mod check;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    check::check(bytes);
});
