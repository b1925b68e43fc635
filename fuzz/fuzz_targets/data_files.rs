//! A data file of any bytes.
#![no_main]

use std::sync::Once;

#[path = "../../crates/datasets/tests/mutated/check.rs"]
mod check;

/// The parser of MATLAB files panics at sizes that no matrix has, and the reader catches that: the hook of the fuzzer would end the process
/// before. A panic that nobody catches is found all the same.
static QUIET: Once = Once::new();

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    QUIET.call_once(|| std::panic::set_hook(Box::new(|_| ())));
    check::check(bytes);
});
