//! SMC samplers in a folder: the same bits in parts, after a cut at any byte, and after kills by the system.

mod check;
mod watch;

use std::fs;
use std::path::Path;

use check::filter;
use helmholtz_samplers::random::{Draws, Stream};
use helmholtz_samplers::resampling::{Policy, Systematic};
use helmholtz_samplers::smc::{Smc, Tempered, TemperedInfo, TemperedPath, run_in};
use helmholtz_samplers::{Info, MetropolisHastings, RandomWalk, SamplerError};

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a scratch folder")
}

#[test]
fn a_run_that_is_asked_for_more_goes_on_to_the_same_bits() {
    let whole = filter(folder().path(), 20, |_| Ok(())).expect("a run");
    assert_eq!(whole.1.len(), 20);
    let own = folder();
    for steps in [0, 1, 7, 20, 20] {
        let part = filter(own.path(), steps, |_| Ok(())).expect("a run");
        assert_eq!(part.1, whole.1[..steps as usize]);
        if steps == 20 {
            assert_eq!(part, whole);
        }
    }
}

/// Twin: a step that remembers something outside its state does not go on as if it had not stopped.
#[test]
fn a_memory_outside_the_state_is_seen() {
    let run = |folder: &Path, steps: u64| {
        let mut memory = 0.0;
        let step = |t: u64, x: &mut f64, stream: &mut Stream| {
            memory += stream.normal();
            *x += memory;
            Ok((t <= steps).then(Info::default))
        };
        run_in(folder, "walk", 3, |_| Ok(0.0), step)
            .expect("a run")
            .0
    };
    let own = folder();
    run(own.path(), 3);
    assert_ne!(run(own.path(), 6), run(folder().path(), 6));
}

/// A step that fails leaves what was before it.
#[test]
fn a_run_whose_step_fails_goes_on_from_there() {
    let own = folder();
    let cancelled = filter(own.path(), 20, |t| match t {
        9 => Err(SamplerError::NoWeights),
        _ => Ok(()),
    });
    assert!(matches!(cancelled, Err(SamplerError::NoWeights)));
    let made = std::cell::Cell::new(0);
    let resumed = filter(own.path(), 20, |_| {
        made.set(made.get() + 1);
        Ok(())
    });
    assert_eq!(made.get(), 12, "eight steps were kept");
    let whole = filter(folder().path(), 20, |_| Ok(()));
    assert_eq!(resumed.expect("a run"), whole.expect("a run"));
}

/// What a kill can leave: a log that is longer than the state says, whole or torn, and a torn new state beside.
#[test]
fn a_log_that_is_ahead_is_cut_off_and_one_that_is_behind_or_changed_is_refused() {
    let (five, six) = (folder(), folder());
    filter(five.path(), 5, |_| Ok(())).expect("a run");
    filter(six.path(), 6, |_| Ok(())).expect("a run");
    let whole = filter(folder().path(), 8, |_| Ok(())).expect("a run");
    let [short, long] = [&five, &six].map(|own| fs::read(own.path().join("steps.log")).unwrap());
    let state = fs::read(five.path().join("state")).unwrap();
    let with = |log: &[u8], state: &[u8]| {
        let own = folder();
        fs::write(own.path().join("steps.log"), log).unwrap();
        fs::write(own.path().join("state"), state).unwrap();
        fs::write(own.path().join("state.new"), &state[..state.len() / 2]).unwrap();
        filter(own.path(), 8, |_| Ok(()))
    };
    for length in short.len()..=long.len() {
        assert_eq!(with(&long[..length], &state).expect("a run"), whole);
    }
    let refused = |result| matches!(result, Err(SamplerError::Damaged { .. }));
    for length in 0..short.len() {
        assert!(refused(with(&short[..length], &state)), "cut at {length}");
        let mut changed = short.clone();
        changed[length] ^= 0x41;
        assert!(refused(with(&changed, &state)), "changed at {length}");
    }
    for length in 0..state.len() {
        assert!(refused(with(&short, &state[..length])), "cut at {length}");
        let mut changed = state.clone();
        changed[length] ^= 0x41;
        assert!(refused(with(&short, &changed)), "changed at {length}");
    }
}

/// With the checksum that belongs to it.
#[test]
fn a_sealed_state_that_is_too_short_is_refused() {
    let own = folder();
    filter(own.path(), 2, |_| Ok(())).expect("a run");
    let path = own.path().join("state");
    let state = fs::read(&path).unwrap();
    // Magic, seed, label, and the length of the log.
    for length in 0..8 + 8 + 4 + 8 {
        let mut short = state[..length].to_vec();
        short.extend(crc32fast::hash(&short).to_le_bytes());
        fs::write(&path, short).unwrap();
        let refused = filter(own.path(), 3, |_| Ok(()));
        assert!(
            matches!(refused, Err(SamplerError::Damaged { .. })),
            "{length}"
        );
    }
}

#[test]
fn a_state_that_cannot_be_read_is_an_error() {
    let own = folder();
    fs::create_dir(own.path().join("state")).unwrap();
    let refused = filter(own.path(), 2, |_| Ok(()));
    assert!(matches!(
        refused,
        Err(SamplerError::Io { action: "read", .. })
    ));
}

#[test]
fn a_folder_of_another_run_is_refused() {
    let own = folder();
    filter(own.path(), 2, |_| Ok(())).expect("a run");
    for (label, seed) in [("other", 3), ("filter", 4)] {
        let refused = run_in(
            own.path(),
            label,
            seed,
            |_| Ok(0.0),
            |_, _: &mut f64, _| Ok(None::<Info>),
        );
        assert!(matches!(refused, Err(SamplerError::Shape { .. })));
    }
    let of_another_kind = run_in(
        own.path(),
        "filter",
        3,
        |_| Ok(0.0),
        |_, _: &mut f64, _| Ok(None::<Info>),
    );
    assert!(matches!(of_another_kind, Err(SamplerError::Damaged { .. })));
}

/// States, reports, and the bits of log Ẑ.
type Run = (Vec<Vec<f64>>, Vec<TemperedInfo<Info>>, u64);

/// The tempered sampler of a bimodal density on the plane.
fn tempered(folder: &Path, pause: impl Fn(f64)) -> Result<Run, SamplerError> {
    let base = |x: &Vec<f64>| -0.5 * (x[0] * x[0] + x[1] * x[1]) / 9.0;
    let target = |x: &Vec<f64>| -8.0 * ((x[0] * x[0] - 4.0).powi(2) + x[1] * x[1]);
    let path = TemperedPath::new(base, target);
    let (sampler, steps) = Tempered::run_in(
        folder,
        "two modes",
        5,
        (64, |draws| vec![3.0 * draws.normal(), 3.0 * draws.normal()]),
        &path,
        Smc::new(Systematic, Policy::EssBelow(0.7))?,
        0.95,
        |beta| {
            pause(beta);
            let at = move |x: &Vec<f64>| path.log_density(beta, x);
            Ok(MetropolisHastings::new(at, RandomWalk::new(0.5)?))
        },
    )?;
    let log_evidence = sampler.population().log_evidence();
    Ok((
        sampler.population().states().to_vec(),
        steps,
        log_evidence.to_bits(),
    ))
}

#[test]
fn a_tempered_run_reports_its_steps_and_starts_again_at_none() {
    let own = folder();
    let run = tempered(own.path(), |_| ()).expect("a run");
    assert!(run.1.len() > 20, "{}", run.1.len());
    assert!(run.1.iter().any(|step| step.ancestors.is_some()));
    assert!(run.1.iter().all(|step| step.moves[0].moves == 64));
    let increments: f64 = run.1.iter().map(|step| step.log_increment).sum();
    assert!((increments - f64::from_bits(run.2)).abs() < 1e-9);
    let again = tempered(own.path(), |_| panic!("nothing is left to do"));
    assert_eq!(again.expect("a run"), run);
}

/// The process is killed by the system in the middle of a run, four times, each later than the one before.
#[cfg(unix)]
#[test]
fn a_process_that_is_killed_goes_on_to_the_same_bits() {
    use std::process::Command;
    use std::time::Duration;

    if let Some(folder) = std::env::var_os("SMC_FOLDER_OF_A_CHILD") {
        let slow = |_| std::thread::sleep(Duration::from_millis(5));
        tempered(Path::new(&folder), slow).expect("a run");
        return;
    }
    let own = folder();
    let log = own.path().join("steps.log");
    let length = || fs::metadata(&log).map_or(0, |data| data.len());
    let mut before = 0;
    for _ in 0..4 {
        let mut child = Command::new(std::env::current_exe().expect("this test"))
            .args([
                "--exact",
                "a_process_that_is_killed_goes_on_to_the_same_bits",
            ])
            .env("SMC_FOLDER_OF_A_CHILD", own.path())
            .stdout(std::process::Stdio::null())
            .spawn()
            .expect("a child");
        while length() <= before + 600 && child.try_wait().expect("a child").is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        child.kill().expect("killed");
        child.wait().expect("ended");
        before = length();
    }
    let whole = tempered(folder().path(), |_| ()).expect("a run");
    let resumed = tempered(own.path(), |_| ()).expect("a run");
    assert_eq!(resumed, whole);
}

proptest::proptest! {
    #[test]
    fn any_bytes_in_both_files_are_refused_or_go_on_to_the_same_bits(
        log in 0usize..1000,
        state in 0usize..1000,
        bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..40),
    ) {
        check::check(log, state, &bytes);
    }
}
