//! A run folder as anybody may have left it.
#![no_main]

#[path = "../../crates/runs/tests/mutated/check.rs"]
mod check;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    check::check(bytes);
});
