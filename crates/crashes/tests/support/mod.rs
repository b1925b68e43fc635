//! How much is tried, and what a sound program must show.

#![allow(dead_code, reason = "each test uses some of it")]

use std::path::Path;
use std::time::Instant;

use helmholtz_crashes::{Ended, Limits, check};

pub mod programs;

/// In seconds.
pub const SMALL: Limits = Limits {
    combinations: 256,
    crash_again: 40,
    failures: 3,
};

/// In minutes.
pub const FULL: Limits = Limits {
    combinations: 1 << 14,
    crash_again: 50,
    failures: 3,
};

/// Every state of `program`, of which there are at least so many, is gone on from as it must be.
pub fn sound(
    name: &str,
    program: &dyn Fn(&Path) -> Result<Ended, String>,
    limits: Limits,
    least: u64,
) {
    let begun = Instant::now();
    let report = check(program, limits);
    println!("{name}: {report}, {:.0} s", begun.elapsed().as_secs_f64());
    for failure in &report.failures {
        println!("{failure}");
    }
    assert!(report.failures.is_empty(), "{report}");
    assert!(report.states >= least, "{report}");
}
