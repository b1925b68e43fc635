//! A run killed at any moment and resumed ends in the same bits as one that was not: parameters, chain store, and
//! metrics but for their times. The child is this test binary itself, started again.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use burn::backend::Autodiff;
use burn::tensor::DType;
use burn_flex::Flex;
use helmholtz::datasets::{DatasetName, Images, Locator, Splits, load};
use helmholtz::estimators::Method;
use helmholtz::random::{Purpose, Stream};
use helmholtz::runs::{OpenMode, RunFolder, read_metrics};
use helmholtz::samplers::ScanOrder;
use helmholtz::sbn::{Initialisation, SbnConfig};
use helmholtz::training::{Betas, ChainStart, Event, Optimizer, TrainConfig, train};
use serde_json::{Value, json};

/// Set in the child: the run folder.
const FOLDER: &str = "HELMHOLTZ_TEST_RUN_FOLDER";
/// Set in the child: the method that it trains by.
const METHOD: &str = "HELMHOLTZ_TEST_METHOD";
/// Set in a child that is to wait after this many steps, right after the step's store write.
const HOLD_AFTER: &str = "HELMHOLTZ_TEST_HOLD_AFTER";

/// What most of these runs train by: it keeps chains.
const JSA: &str = "jsa";

const STEPS_PER_EPOCH: u64 = 8;
const EPOCHS: u64 = 6;

fn config() -> TrainConfig {
    let method = std::env::var(METHOD).unwrap();
    TrainConfig {
        seed: 3,
        method: method.parse::<Method>().unwrap(),
        epochs: EPOCHS,
        switch_epoch: 2,
        chain_start: ChainStart::Proposal,
        batch: 10,
        particles: 2,
        analytic_kl: false,
        optimizer: Optimizer::Adam,
        betas: Betas::default(),
        learning_rate: 1e-2,
        inference_rate: None,
        prior_rate: None,
        sleep_every: None,
        gradient_beta: Some(0.9),
        patience: None,
        scan: ScanOrder::Shuffled,
        check_every: 2,
        valid_samples: 10,
        valid_images: Some(12),
        test_samples: 10,
        test_images: None,
        train_images: None,
        final_samples: vec![20],
        test_at_checks: true,
        checkpoint_seconds: 0.0, // after every step
        threads: 1,
        device_name: "cpu".into(),
    }
}

/// Small images of random bits, some pixels rarer than others.
fn data() -> Splits {
    let images = |part: u64, len: usize| {
        let mut stream = Stream::new(part, Purpose::new("images"), [0, 0]);
        Images::from_fn(len, 20, |_, pixel| {
            stream.uniform_f64() < 0.05 * pixel as f64
        })
    };
    let named = load(
        DatasetName::Glyphs,
        &Locator::new(None).offline(),
        &mut |_| {},
    )
    .unwrap();
    Splits {
        train: images(1, 10 * STEPS_PER_EPOCH as usize),
        valid: images(2, 20),
        test: images(3, 15),
        ..named
    }
}

/// The run, in this process: prints a line an event.
fn run(folder: &Path, hold_after: Option<u64>) {
    let net = SbnConfig {
        visible: 20,
        latent: vec![6, 5],
        hidden: vec![],
        slope: 0.01,
        learned_prior: true,
        signed: false,
        tanh: false,
        centred: false,
        initialisation: Initialisation::Xavier { bias: -1.0 },
    };
    let (config, device) = (config(), Default::default());
    let model = net
        .init::<Autodiff<Flex>>(config.seed, DType::F32, &device)
        .unwrap();
    let mut folder = RunFolder::open(folder, &json!({"test": "resume"}), OpenMode::Resume).unwrap();
    let observe = |event: &Event| {
        let mut out = std::io::stdout();
        if let Event::Step { epoch, step, .. } = event {
            let steps = (epoch - 1) * STEPS_PER_EPOCH + step;
            let _ = writeln!(out, "child-step {steps}");
            let _ = out.flush();
            if hold_after == Some(steps) {
                loop {
                    std::thread::sleep(Duration::from_secs(1));
                }
            }
        }
    };
    let stop = AtomicBool::new(false);
    let outcome = train(
        model,
        &config,
        &data(),
        &device,
        &mut folder,
        &observe,
        &stop,
    )
    .unwrap();
    let last = outcome.last[0];
    folder
        .finish(&json!({"selected": outcome.selected.epoch, "nll": last.mean}))
        .unwrap();
}

#[test]
fn child() {
    let Some(folder) = std::env::var_os(FOLDER) else {
        return; // not a child: the tests below start it
    };
    let hold_after = std::env::var(HOLD_AFTER)
        .ok()
        .map(|steps| steps.parse().unwrap());
    run(Path::new(&folder), hold_after);
}

fn start(method: &str, folder: &Path, hold_after: Option<u64>) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["child", "--exact", "--nocapture", "--test-threads=1"]);
    command
        .env(FOLDER, folder)
        .env(METHOD, method)
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    if let Some(steps) = hold_after {
        command.env(HOLD_AFTER, steps.to_string());
    }
    command.spawn().unwrap()
}

/// Reads the child's lines until it reports `steps` steps, or ends.
fn wait_for_step(child: &mut Child, steps: u64) {
    let wanted = format!("child-step {steps}");
    let out = BufReader::new(child.stdout.as_mut().unwrap());
    for line in out.lines().map_while(Result::ok) {
        if line.ends_with(&wanted) {
            return;
        }
    }
    panic!("the child ended before step {steps}");
}

/// The last checkpoint's state and parts, the metrics, and the result.
type Outcome = (Value, Vec<(String, Vec<u8>)>, Vec<Value>, Value);

/// Everything that must be the same.
fn outcome(folder: &Path) -> Outcome {
    let metrics = read_metrics(folder)
        .unwrap()
        .into_iter()
        .map(without_seconds);
    let run = RunFolder::open(folder, &json!({"test": "resume"}), OpenMode::Resume).unwrap();
    let checkpoint = run
        .latest_checkpoint()
        .unwrap()
        .expect("a finished run has a checkpoint");
    let mut state = checkpoint.state;
    state.as_object_mut().unwrap().remove("provenance");
    // An optimiser's record is a hash map, in an order of its own; that its moments are the same shows in the parameters
    // of every step after a resume.
    let parts = checkpoint
        .parts
        .into_iter()
        .filter(|(name, _)| !name.contains("optimizer"));
    (
        state,
        parts.collect(),
        metrics.collect(),
        run.result().unwrap().expect("a result"),
    )
}

fn without_seconds(mut row: Value) -> Value {
    row.as_object_mut().unwrap().remove("seconds");
    row
}

fn finished(method: &str, folder: &Path) {
    assert!(
        start(method, folder, None).wait().unwrap().success(),
        "the child finishes"
    );
}

fn kill(mut child: Child) {
    child.kill().unwrap(); // SIGKILL
    child.wait().unwrap();
}

#[test]
fn a_run_killed_anywhere_ends_in_the_same_bits() {
    let dir = tempfile::tempdir().unwrap();
    let unbroken = dir.path().join("unbroken");
    finished(JSA, &unbroken);
    let expected = outcome(&unbroken);

    let broken = dir.path().join("broken");
    // Killed right after the store write of a step, before its checkpoint: in stage II from step 17 on.
    for steps in [1, 5, 16, 17, 18, 30, 47] {
        let mut child = start(JSA, &broken, Some(steps));
        wait_for_step(&mut child, steps);
        kill(child);
    }
    compare(JSA, &broken, &expected);

    // Killed at whatever it is doing some time after a step.
    let broken = dir.path().join("broken at any time");
    for (steps, microseconds) in [
        (2, 300),
        (9, 1000),
        (15, 2500),
        (20, 700),
        (33, 1700),
        (40, 4000),
    ] {
        let mut child = start(JSA, &broken, None);
        wait_for_step(&mut child, steps);
        std::thread::sleep(Duration::from_micros(microseconds));
        kill(child);
    }
    compare(JSA, &broken, &expected);

    // Killed while a checkpoint is being written: its scratch folder is there.
    let broken = dir.path().join("broken in a checkpoint");
    let mut caught = 0;
    for _ in 0..6 {
        let mut child = start(JSA, &broken, None);
        let deadline = Instant::now() + Duration::from_secs(20);
        loop {
            if child.try_wait().unwrap().is_some() || Instant::now() > deadline {
                break;
            }
            if has_scratch(&broken) {
                caught += 1;
                break;
            }
        }
        kill(child);
    }
    assert!(caught > 0, "no kill fell into a checkpoint");
    compare(JSA, &broken, &expected);
}

#[test]
fn what_an_estimator_learns_resumes_in_the_same_bits() {
    // On the loss itself, on a loss of its own with running averages, on a variance.
    for method in ["st-gumbel-softmax-learned", "nvil", "rodeo"] {
        let dir = tempfile::tempdir().unwrap();
        let unbroken = dir.path().join("unbroken");
        finished(method, &unbroken);
        let expected = outcome(&unbroken);
        let broken = dir.path().join("broken");
        let mut learned = vec![controls(&unbroken)];
        for steps in [3, 20] {
            let mut child = start(method, &broken, Some(steps));
            wait_for_step(&mut child, steps);
            kill(child);
            learned.push(controls(&broken));
        }
        compare(method, &broken, &expected);
        learned.dedup();
        assert_eq!(learned.len(), 3, "{method} goes on learning");
    }
}

/// The checkpoint's part with what the estimator has learned.
fn controls(folder: &Path) -> Vec<u8> {
    let run = RunFolder::open(folder, &json!({"test": "resume"}), OpenMode::Resume).unwrap();
    let checkpoint = run.latest_checkpoint().unwrap().expect("a checkpoint");
    checkpoint.parts["controls"].clone()
}

fn has_scratch(folder: &Path) -> bool {
    let Ok(entries) = std::fs::read_dir(folder.join("checkpoints")) else {
        return false;
    };
    entries
        .flatten()
        .any(|entry| entry.file_name().to_string_lossy().starts_with(".tmp"))
}

fn compare(method: &str, broken: &Path, expected: &Outcome) {
    finished(method, broken);
    let (state, parts, metrics, result) = outcome(broken);
    assert_eq!(state, expected.0);
    assert_eq!(metrics, expected.2);
    assert_eq!(result, expected.3);
    for ((name, bytes), (_, expected)) in parts.iter().zip(&expected.1) {
        assert!(
            bytes == expected,
            "`{name}` differs from the unbroken run's"
        );
        assert!(!bytes.is_empty());
    }
}

#[test]
fn the_comparison_sees_one_bit() {
    // The broken twin: runs that differ in nothing but the last bit of one parameter are not the same.
    let dir = tempfile::tempdir().unwrap();
    let (one, two) = (dir.path().join("one"), dir.path().join("two"));
    finished(JSA, &one);
    finished(JSA, &two);
    let ((_, one, ..), (_, mut two, ..)) = (outcome(&one), outcome(&two));
    assert!(one == two, "two unbroken runs agree");
    let names: Vec<&str> = one.iter().map(|(name, _)| name.as_str()).collect();
    let kept = [
        "chains",
        "evaluated",
        "gradient-variance",
        "model",
        "selected",
    ];
    assert_eq!(names, kept);
    let model = two.iter_mut().find(|(name, _)| name == "model").unwrap();
    *model.1.last_mut().unwrap() ^= 1;
    assert!(one != two);
}
