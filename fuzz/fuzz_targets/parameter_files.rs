//! A file of parameters as anybody may have left it: a sound one with edits, or any bytes.
#![no_main]

#[path = "../../crates/training/tests/safetensors/check.rs"]
mod check;

use burn::tensor::DType;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    match bytes.split_first() {
        Some((255, file)) => check::check_file(DType::F32, file),
        _ => check::check(bytes),
    };
});
