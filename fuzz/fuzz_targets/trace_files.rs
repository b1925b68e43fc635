//! The file of a chain as anybody may have left it.
#![no_main]

#[path = "../../crates/samplers/tests/sampling/check.rs"]
mod check;

libfuzzer_sys::fuzz_target!(|input: (u16, &[u8])| check::check(usize::from(input.0), input.1));
