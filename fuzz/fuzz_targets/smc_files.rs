//! The files of an SMC run as anybody may have left them.
#![no_main]

#[path = "../../crates/samplers/tests/smc_folder/check.rs"]
mod check;

libfuzzer_sys::fuzz_target!(|input: (u16, u16, &[u8])| {
    check::check(usize::from(input.0), usize::from(input.1), input.2);
});
