//! The program `helmholtz`: reproduces published experiments, measures gradients, and reports. `cargo xtask` builds it for a device and starts it.

use helmholtz_experiments::Program;
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    Program::new().run()
}
