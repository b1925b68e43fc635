//! A file of own data of any bytes.
#![no_main]

#[path = "../../crates/datasets/tests/mutated/own.rs"]
mod own;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    own::check(bytes);
});
