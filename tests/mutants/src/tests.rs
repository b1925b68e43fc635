//! The tests, and the sites that each reaches.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::build::Binary;
use crate::case::Test;
use crate::checkout::Checkout;
use crate::process::{self, End};
use crate::trial::in_parallel;

/// Lists all tests and runs each alone, the sound program in it, quickest first.
///
/// # Errors
/// If one fails.
pub fn traced(checkout: &Checkout, program: &[Binary], jobs: usize) -> Result<Vec<Test>, String> {
    let mut tests = Vec::new();
    for binary in program {
        let output = Command::new(&binary.path)
            .args(["--list", "--format=terse"])
            .current_dir(&binary.folder)
            .output()
            .map_err(|error| format!("cannot start {}: {error}", binary.path.display()))?;
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            if let Some(name) = line.strip_suffix(": test") {
                tests.push(Test {
                    binary: binary.path.clone(),
                    folder: binary.folder.clone(),
                    name: name.to_owned(),
                    seconds: 0.0,
                    reached: BTreeSet::new(),
                });
            }
        }
    }
    eprintln!("{} tests, each alone with nothing changed", tests.len());
    let failed = Mutex::new(Vec::new());
    let folder = checkout.scratch.join("traces");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let tests: Vec<Mutex<Test>> = tests.into_iter().map(Mutex::new).collect();
    in_parallel(jobs, tests.len(), |index| {
        let mut test = tests[index].lock().map_err(|error| error.to_string())?;
        let file = folder.join(index.to_string());
        let start = Instant::now();
        let trace = [("HELMHOLTZ_TRACE", &*file.to_string_lossy())];
        let end = process::run(&test, &trace, Duration::from_secs(1800))?;
        test.seconds = start.elapsed().as_secs_f64();
        let reached = fs::read_to_string(&file).unwrap_or_default();
        test.reached = reached.lines().filter_map(|n| n.parse().ok()).collect();
        if end != End::Passed {
            failed
                .lock()
                .map_err(|error| error.to_string())?
                .push(test.name.clone());
        }
        Ok(())
    })?;
    let failed = failed.into_inner().map_err(|error| error.to_string())?;
    if !failed.is_empty() {
        let names = failed.join(", ");
        return Err(format!("with nothing changed these tests fail: {names}"));
    }
    let mut tests: Vec<Test> = tests
        .into_iter()
        .map(|test| test.into_inner().map_err(|error| error.to_string()))
        .collect::<Result<_, _>>()?;
    tests.retain(|test| !test.reached.is_empty());
    tests.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
    let seconds: f64 = tests.iter().map(|test| test.seconds).sum();
    eprintln!("{} of them reach a mutant, {seconds:.0} s", tests.len());
    Ok(tests)
}
