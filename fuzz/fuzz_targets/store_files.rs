//! A chain store's files as anybody may have left them.
#![no_main]

#[path = "../../crates/samplers/tests/store_files/check.rs"]
mod check;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    check::check_bytes(bytes);
});
