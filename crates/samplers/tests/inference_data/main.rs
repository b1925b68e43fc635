//! InferenceData that ArviZ opens: sums of what was written come back, and the diagnostics are its own.
//!
//! Python with ArviZ, Zarr and xarray is that of the variable `HELMHOLTZ_PYTHON`, or `python3`; without them the test says
//! SKIPPED. `.ci/python` installs them and runs it.

use std::process::Command;

use helmholtz_samplers::random::{Chance, Draws, Stream};
use helmholtz_samplers::sampling::{Chains, Variable, sample};
use helmholtz_samplers::{Info, Kernel, SamplerError};

/// Autoregressive numbers, a third that never varies, and reports of every kind.
struct Walk;

impl Kernel<Vec<f64>, Stream> for Walk {
    type Info = Info;

    fn step(&self, x: &mut Vec<f64>, stream: &mut Stream) -> Info {
        for value in &mut x[..2] {
            *value = 0.5 * *value + stream.normal();
        }
        let accepted = stream.accept(0.7f64.ln());
        Info {
            moves: 1,
            accepted: u64::from(accepted),
            non_finite: u64::from(!accepted && x[0] > 1.0),
            ..Info::default()
        }
    }
}

fn chains() -> Chains<Vec<f64>> {
    let starts = (0..4).map(|c| vec![f64::from(c), 0.1, 3.0]).collect();
    sample(&Walk, starts, 50, 501, 11).expect("chains")
}

fn write(folder: &std::path::Path) -> Result<(), SamplerError> {
    let variables = [Variable::scalar("mu"), Variable::array("theta", &[1, 2])];
    chains().write_inference_data(folder, &variables, |x, values| values.clone_from(x))
}

#[test]
fn a_folder_that_exists_and_values_of_another_number_are_refused() {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    assert!(matches!(
        write(scratch.path()),
        Err(SamplerError::Io {
            action: "create",
            ..
        })
    ));
    let error = chains().write_inference_data(
        &scratch.path().join("new"),
        &[Variable::scalar("mu")],
        |x, values| values.clone_from(x),
    );
    assert!(matches!(
        error,
        Err(SamplerError::Length {
            found: 3,
            expected: 1,
            ..
        })
    ));
    assert!(!scratch.path().join("new").exists());
}

/// The sums that the other side must find: Σ x, and Σ (k + 1) x_k, which tells the order too.
fn sums(values: impl Iterator<Item = f64>) -> [f64; 2] {
    values.enumerate().fold([0.0; 2], |[sum, ordered], (k, x)| {
        [sum + x, ordered + (k + 1) as f64 * x]
    })
}

#[test]
fn arviz_opens_it() {
    let python = std::env::var("HELMHOLTZ_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let found = Command::new(&python)
        .args(["-c", "import arviz, zarr, xarray"])
        .output()
        .is_ok_and(|output| output.status.success());
    if !found {
        eprintln!("SKIPPED: {python} has no arviz, zarr and xarray; run `.ci/python`");
        return;
    }
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let folder = scratch.path().join("chains.zarr");
    write(&folder).expect("written");
    let chains = chains();
    let states = || chains.draws().iter().flatten();
    let reports = || chains.reports().iter().flatten();
    let expected = [
        sums(states().map(|x| x[0])),
        sums(states().flat_map(|x| [x[1], x[2]])),
        sums(reports().map(|info| info.accepted as f64)),
        sums(reports().map(|info| f64::from(info.non_finite > 0))),
    ];
    assert!(expected[3][0] > 10.0, "some diverge");
    let opened = |expected: &[[f64; 2]]| {
        let numbers = expected.iter().flatten().map(f64::to_string);
        let command = Command::new(&python)
            .args(["-c", include_str!("open.py")])
            .arg(&folder)
            .args(numbers)
            .output();
        command.expect("python starts")
    };
    let output = opened(&expected);
    let [said, complaint] =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    println!("{said}");
    assert!(output.status.success(), "{said}\n{complaint}");
    // Twin: the same numbers in another order have another ordered sum.
    let mut turned = expected;
    turned[0][1] = sums(states().map(|x| x[0]).collect::<Vec<_>>().into_iter().rev())[1];
    let twin = opened(&turned);
    assert!(String::from_utf8_lossy(&twin.stderr).contains("AssertionError"));
}
