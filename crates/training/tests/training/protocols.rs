//! What a protocol adds to plain training: sleep phases of their own, damped momentum, patience, and a last evaluation that is
//! gone on with.

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use burn::module::{Module, ModuleMapper, ModuleVisitor, Param, ParamId};
use burn::tensor::backend::Backend;
use burn::tensor::{DType, Tensor};
use helmholtz_datasets::Splits;
use helmholtz_estimators::Parts;
use helmholtz_runs::{OpenMode, Position, RunError, RunFolder, Stint, read_metrics};
use helmholtz_sbn::Sbn;
use helmholtz_training::{
    Betas, ChainStart, Event, Optimizer, Outcome, TrainConfig, TrainError, Trainer, train,
};
use serde_json::json;

use super::Ad;

fn config(method: &str) -> TrainConfig {
    TrainConfig {
        optimizer: Optimizer::Momentum,
        sleep_every: Some(2),
        ..super::config(method)
    }
}

fn data() -> Splits {
    super::data(130)
}

fn model() -> Sbn<Ad> {
    super::model(&[4, 3])
}

/// The values of these parameters, one after the other.
fn values(model: &Sbn<Ad>, which: &[ParamId]) -> Vec<f32> {
    struct Collect<'a>(&'a [ParamId], Vec<f32>);
    impl<B: Backend> ModuleVisitor<B> for Collect<'_> {
        fn visit_float<const D: usize>(&mut self, parameter: &Param<Tensor<B, D>>) {
            if self.0.contains(&parameter.id) {
                self.1.extend(parameter.val().into_data().iter::<f32>());
            }
        }
    }
    let mut collect = Collect(which, vec![]);
    Module::<Ad>::visit(model, &mut collect);
    collect.1
}

/// Which of (θ, φ) each of some steps moves.
fn moved(method: &str, sleep_every: Option<u64>, steps: u64) -> Vec<(bool, bool)> {
    let data = data();
    let config = TrainConfig {
        sleep_every,
        ..config(method)
    };
    let mut trainer = Trainer::new(model(), config, &data.train, Default::default()).unwrap();
    let now = |trainer: &Trainer<Ad, Sbn<Ad>>| {
        let model = trainer.model();
        let parts = [
            Parts::<Ad>::generative(model),
            Parts::<Ad>::inference(model),
        ];
        parts.map(|part| values(model, &part))
    };
    let rows: Vec<u32> = (0..10).collect();
    (0..steps)
        .map(|step| {
            let before = now(&trainer);
            trainer.step(&data.train, &rows, 0, step).unwrap();
            let after = now(&trainer);
            (before[0] != after[0], before[1] != after[1])
        })
        .collect()
}

#[test]
fn wake_sleeps_inference_net_moves_in_its_sleep_alone() {
    let every_second = [(true, false), (true, true), (true, false), (true, true)];
    assert_eq!(moved("ws", Some(2), 4), every_second);
    assert_eq!(moved("ws", None, 3), [(true, true); 3]);
    // A method that has no sleep phase is awake in every step.
    assert_eq!(moved("rws", Some(2), 3), [(true, true); 3]);
}

#[test]
fn a_sleep_phase_is_one_more_step_of_the_inference_net() {
    // The same awake, with and without dreams.
    let after = |method: &str, steps: u64| {
        let data = data();
        let config = config(method);
        let mut trainer = Trainer::new(model(), config, &data.train, Default::default()).unwrap();
        let rows: Vec<u32> = (0..10).collect();
        for step in 0..steps {
            trainer.step(&data.train, &rows, 0, step).unwrap();
        }
        let model = trainer.model();
        let parts = [
            Parts::<Ad>::generative(model),
            Parts::<Ad>::inference(model),
        ];
        parts.map(|part| values(model, &part))
    };
    assert_eq!(after("rws-wake-sleep", 1), after("rws", 1));
    let ([theta, phi], [awake_theta, awake_phi]) = (after("rws-wake-sleep", 2), after("rws", 2));
    assert_eq!(theta, awake_theta, "dreams are of φ");
    assert_ne!(phi, awake_phi);
}

/// A model of zeros: every bit, of p and of q, is a fair coin whatever is below and above it.
fn coins() -> Sbn<Ad> {
    struct Zero;
    impl<B: Backend> ModuleMapper<B> for Zero {
        fn map_float<const D: usize>(&mut self, param: Param<Tensor<B, D>>) -> Param<Tensor<B, D>> {
            let (id, value, mapper) = param.consume();
            let value = value.zeros_like().require_grad();
            Param::from_mapped_value(id, value, mapper)
        }
    }
    Module::<Ad>::map(model(), &mut Zero)
}

/// The biases of these parameters, each a list.
fn biases(model: &Sbn<Ad>, which: &[ParamId]) -> Vec<Vec<f32>> {
    struct Collect<'a>(&'a [ParamId], Vec<Vec<f32>>);
    impl<B: Backend> ModuleVisitor<B> for Collect<'_> {
        fn visit_float<const D: usize>(&mut self, parameter: &Param<Tensor<B, D>>) {
            if D == 1 && self.0.contains(&parameter.id) {
                let values = parameter.val().into_data();
                self.1.push(values.iter::<f32>().collect());
            }
        }
    }
    let mut collect = Collect(which, vec![]);
    Module::<Ad>::visit(model, &mut collect);
    collect.1
}

#[test]
fn damped_momentum_follows_the_sum_over_the_batch_and_over_the_dreams() {
    let data = data();
    let config = config("ws");
    let unit = 0.05 * config.learning_rate; // (1 − β) α, the first step along a gradient of one
    let mut trainer = Trainer::new(coins(), config, &data.train, Default::default()).unwrap();
    let rows: Vec<u32> = (0..10).collect();
    trainer.step(&data.train, &rows, 0, 0).unwrap();

    // A pixel's bias has the gradient x − 1/2, whatever h: the sum over ten images, not their mean.
    let mut x = [0.0; 8];
    let mut sums = [0.0; 8];
    for row in 0..10 {
        data.train.write_row_f32(row, &mut x);
        for (sum, x) in sums.iter_mut().zip(x) {
            *sum += f64::from(x) - 0.5;
        }
    }
    let of_p = biases(trainer.model(), &Parts::<Ad>::generative(trainer.model()));
    let pixels = of_p.iter().find(|bias| bias.len() == 8).unwrap();
    for (sum, bias) in sums.iter().zip(pixels) {
        let moved = f64::from(*bias) / unit;
        assert!((moved - sum).abs() < 1e-3, "{moved} {sum}");
    }

    // The second step sleeps, on 2 × 10 dreams: each gives a bias of q the gradient h − 1/2, so that an even number of them
    // makes a whole number; halves of it (ten dreams) or twentieths (their mean) are told from that by all seven biases.
    trainer.step(&data.train, &rows, 0, 1).unwrap();
    let of_q = biases(trainer.model(), &Parts::<Ad>::inference(trainer.model()));
    let moved: Vec<f64> = of_q.concat().iter().map(|&b| f64::from(b) / unit).collect();
    assert_eq!(moved.len(), 4 + 3);
    let whole = |scale: f64| {
        let off = |moved: &f64| (moved * scale - (moved * scale).round()).abs();
        moved.iter().all(|moved| off(moved) < 1e-3)
    };
    assert!(whole(1.0), "{moved:?}");
    assert!(!whole(0.5) && !whole(0.05), "{moved:?}");
}

/// What a run did.
struct Ran {
    outcome: Result<Outcome, TrainError>,
    /// Training steps.
    steps: usize,
    /// Reports of the last evaluation, one for 10 images.
    evaluated: usize,
    /// Images of the last evaluation that it began with.
    kept: u64,
    /// What the user was told.
    warnings: Vec<String>,
    /// Who trained what, in the end.
    history: Vec<Stint>,
}

/// Trains in `folder`, stopping once so many images of the last evaluation are done.
fn run(folder: &Path, config: &TrainConfig, stop_after: Option<u64>) -> Ran {
    run_on(&data(), folder, config, stop_after)
}

fn run_on(data: &Splits, folder: &Path, config: &TrainConfig, stop_after: Option<u64>) -> Ran {
    run_model(model(), data, folder, config, stop_after)
}

fn run_model(
    model: Sbn<Ad>,
    data: &Splits,
    folder: &Path,
    config: &TrainConfig,
    stop_after: Option<u64>,
) -> Ran {
    let content = json!({"test": "protocols"});
    let mut folder = RunFolder::open(folder, &content, OpenMode::Resume).unwrap();
    let (steps, evaluated) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let kept = AtomicU64::new(0);
    let warnings = Mutex::new(Vec::new());
    let stop = AtomicBool::new(false);
    let last = data.test.len() as u64;
    let observe = |event: &Event| match event {
        Event::Step { .. } => {
            steps.fetch_add(1, Ordering::Relaxed);
        }
        Event::Evaluating { done, total } if *total == last => {
            evaluated.fetch_add(1, Ordering::Relaxed);
            stop.fetch_or(stop_after == Some(*done), Ordering::Relaxed);
        }
        Event::Trained { evaluated, .. } => kept.store(*evaluated, Ordering::Relaxed),
        Event::Warning(text) => warnings.lock().unwrap().push(text.clone()),
        _ => {}
    };
    let device = Default::default();
    let outcome = train(model, config, data, &device, &mut folder, &observe, &stop);
    Ran {
        outcome,
        steps: steps.into_inner(),
        evaluated: evaluated.into_inner(),
        kept: kept.into_inner(),
        warnings: warnings.into_inner().unwrap(),
        history: folder.provenance(3, "cpu").history,
    }
}

#[test]
fn a_last_evaluation_is_gone_on_with_and_ends_in_the_same_bits() {
    for method in ["rws-wake-sleep", "nvil"] {
        let config = TrainConfig {
            final_samples: vec![60, 10],
            ..config(method)
        };
        let (whole, parts) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let uninterrupted = run(whole.path(), &config, None).outcome.unwrap();
        // In the third piece of 50 images: two are kept.
        let stopped = run(parts.path(), &config, Some(110));
        assert!(matches!(
            stopped.outcome,
            Err(TrainError::Interrupted { .. })
        ));
        assert_eq!((stopped.steps, stopped.evaluated), (3 * 4, 11));
        let resumed = run(parts.path(), &config, None);
        assert_eq!((resumed.steps, resumed.evaluated), (0, 3));
        assert_eq!((stopped.kept, resumed.kept), (0, 100));
        let resumed = resumed.outcome.unwrap();
        assert_eq!(resumed, uninterrupted, "{method}");
        let last: Vec<_> = resumed
            .last
            .iter()
            .map(|nll| (nll.samples, nll.images))
            .collect();
        assert_eq!(last, [(60, 130), (10, 130)]);
        // Each number is that of a run that is evaluated with it alone, and the mean over images.
        let each = resumed.log_likelihoods.unwrap();
        for (nll, samples) in resumed.last.iter().zip([60, 10]) {
            let config = TrainConfig {
                final_samples: vec![samples],
                ..config.clone()
            };
            let alone = tempfile::tempdir().unwrap();
            let alone = run(alone.path(), &config, None).outcome.unwrap();
            assert_eq!(alone.last, [*nll]);
            let own = each.with(samples as u64).unwrap();
            assert_eq!(own.iter().map(|l| -l).sum::<f64>() / 130.0, nll.mean);
        }
    }
}

#[test]
fn a_run_that_is_gone_on_with_elsewhere_warns_and_names_who_trained_which_epochs() {
    let dir = tempfile::tempdir().unwrap();
    let of = |epochs, device_name: &str| TrainConfig {
        epochs,
        device_name: device_name.into(),
        ..config("rws-wake-sleep")
    };
    let first = run(dir.path(), &of(1, "cpu"), None);
    assert!(first.warnings.is_empty(), "{:?}", first.warnings);
    let second = run(dir.path(), &of(3, "other"), None);
    assert!(second.warnings[0].contains("device other instead of cpu"));
    let parts: Vec<_> = second
        .history
        .iter()
        .map(|part| (part.device.as_str(), part.from, part.to))
        .collect();
    let at = |epochs| Position { epochs, steps: 0 };
    let expected = [("cpu", at(0), at(1)), ("other", at(1), at(3))];
    assert_eq!(parts, expected);
}

#[test]
fn a_run_is_not_gone_on_with_on_other_data() {
    let dir = tempfile::tempdir().unwrap();
    let of = |epochs| TrainConfig {
        epochs,
        ..config("rws-wake-sleep")
    };
    run(dir.path(), &of(1), None).outcome.unwrap();
    let other = Splits {
        fingerprint: "other".into(),
        ..data()
    };
    let refused = run_on(&other, dir.path(), &of(2), None);
    let error = refused.outcome.unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, TrainError::Run(RunError::OtherData { .. })));
    assert!(
        text.contains("other data") && text.contains("--fresh"),
        "{text}"
    );
    assert_eq!(refused.steps, 0);
    assert_eq!(run(dir.path(), &of(2), None).steps, 4);
}

#[test]
fn checks_without_test_images_select_and_end_the_same() {
    let whole = TrainConfig {
        final_samples: vec![10],
        ..config("rws-wake-sleep")
    };
    let cheap = TrainConfig {
        test_at_checks: false,
        ..whole.clone()
    };
    let dirs = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let outcomes = [(&whole, &dirs[0]), (&cheap, &dirs[1])]
        .map(|(config, dir)| run(dir.path(), config, None).outcome.unwrap());
    assert_eq!(outcomes[0], outcomes[1]);
    let tests = |dir: &Path| -> Vec<bool> {
        let rows = read_metrics(dir).unwrap();
        let checks = rows.iter().filter(|row| row["kind"] == "check");
        checks.map(|row| row.get("test").is_some()).collect()
    };
    assert_eq!(tests(dirs[0].path()), [true; 3]);
    assert_eq!(tests(dirs[1].path()), [false; 3]);
}

const APART: Betas = Betas {
    generative: [0.9, 0.999],
    inference: [0.5, 0.99999],
};

#[test]
fn every_optimiser_resumes_in_the_same_bits() {
    for optimizer in [Optimizer::Momentum, Optimizer::Adam] {
        let whole = TrainConfig {
            optimizer,
            betas: APART,
            ..config("jsa")
        };
        let dir = tempfile::tempdir().unwrap();
        let short = TrainConfig {
            epochs: 1,
            ..whole.clone()
        };
        run(dir.path(), &short, None).outcome.unwrap();
        // The same folder, more epochs: as if the first had been all that was done before a kill.
        let resumed = run(dir.path(), &whole, None);
        assert_eq!(resumed.steps, 2 * 4);
        let fresh = tempfile::tempdir().unwrap();
        let uninterrupted = run(fresh.path(), &whole, None);
        assert_eq!(resumed.outcome.unwrap(), uninterrupted.outcome.unwrap());
    }
}

/// Adam's first step is the same whatever its β, so that the second gradients are, and the second steps tell the β apart.
#[test]
fn each_part_of_the_model_follows_its_own_betas() {
    let images = data().train;
    let after_two_steps = |betas: Betas| {
        let config = TrainConfig {
            optimizer: Optimizer::Adam,
            betas,
            learning_rate: 0.01,
            ..config("rws")
        };
        let mut trainer = Trainer::new(model(), config, &images, Default::default()).unwrap();
        for step in 0..2 {
            trainer.step(&images, &[0, 1, 2, 3], 0, step).unwrap();
        }
        let model = trainer.model();
        [
            values(model, &Parts::<Ad>::generative(model)),
            values(model, &Parts::<Ad>::inference(model)),
        ]
    };
    let both = |betas| Betas {
        generative: betas,
        inference: betas,
    };
    let [theta, _] = after_two_steps(both(APART.generative));
    let [other_theta, phi] = after_two_steps(both(APART.inference));
    let [own_theta, own_phi] = after_two_steps(APART);
    let apart = |a: &[f32], b: &[f32]| {
        let pairs = a.iter().zip(b);
        pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
    };
    assert!(apart(&own_theta, &theta) < 1e-6 && apart(&own_phi, &phi) < 1e-6);
    assert!(apart(&theta, &other_theta) > 1e-4);
}

#[test]
fn an_impatient_run_ends_when_nothing_got_better_for_so_long() {
    // Steps so large that the first check stays the best.
    let config = TrainConfig {
        epochs: 40,
        patience: Some(3),
        optimizer: Optimizer::Adam,
        learning_rate: 5.0,
        ..config("rws")
    };
    let dir = tempfile::tempdir().unwrap();
    let outcome = run(dir.path(), &config, None).outcome.unwrap();
    assert_eq!(outcome.epochs, outcome.selected.epoch + 3);
    assert!(outcome.epochs < 40);
    let patient = TrainConfig {
        patience: None,
        epochs: 8,
        ..config
    };
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(run(dir.path(), &patient, None).outcome.unwrap().epochs, 8);
}

#[test]
fn what_makes_no_sense_is_refused() {
    type Change = fn(&mut TrainConfig);
    let cases: [(Change, &str); 22] = [
        (|c| c.patience = Some(0), "at least 1"),
        (|c| c.sleep_every = Some(0), "at least 1"),
        (|c| c.epochs = 0, "`epochs` and `check_every`"),
        (|c| c.check_every = 0, "`epochs` and `check_every`"),
        (|c| c.valid_samples = 0, "numbers of samples"),
        (|c| c.test_samples = 0, "numbers of samples"),
        (|c| c.final_samples = vec![5, 0], "numbers of samples"),
        (|c| c.valid_images = Some(0), "numbers of images"),
        (|c| c.test_images = Some(0), "numbers of images"),
        (|c| c.train_images = Some(0), "numbers of images"),
        (|c| c.learning_rate = 0.0, "`learning_rate` is 0,"),
        (|c| c.learning_rate = f64::NAN, "`learning_rate` is NaN"),
        (|c| c.learning_rate = -1.0, "`learning_rate` is -1,"),
        (
            |c| c.learning_rate = f64::INFINITY,
            "`learning_rate` is inf",
        ),
        (|c| c.inference_rate = Some(0.0), "`inference_rate` is 0,"),
        (|c| c.prior_rate = Some(-2.0), "`prior_rate` is -2,"),
        (|c| c.betas.generative = [0.9, 1.0], "β of Adam"),
        (|c| c.betas.inference = [-0.1, 0.9], "β of Adam"),
        (|c| c.gradient_beta = Some(1.0), "`gradient_beta` is 1,"),
        (|c| c.gradient_beta = Some(-0.5), "`gradient_beta` is -0.5,"),
        (|c| c.particles = 0, "needs at least 1"),
        (|c| c.analytic_kl = true, "no form with an analytic KL"),
    ];
    for (change, part) in cases {
        let mut config = config("rws");
        change(&mut config);
        let dir = tempfile::tempdir().unwrap();
        let error = run(dir.path(), &config, None).outcome.unwrap_err();
        assert!(error.to_string().contains(part), "{part}: {error}");
    }
    // One that has such a form, of one layer.
    let with_kl = TrainConfig {
        analytic_kl: true,
        ..config("straight-through")
    };
    let dir = tempfile::tempdir().unwrap();
    let ran = run_model(super::model(&[4]), &data(), dir.path(), &with_kl, None);
    assert!(ran.outcome.is_ok());
}

#[test]
fn stages_and_checks_are_at_the_epochs_that_are_asked_for() {
    let stages = |method: &str, switch_epoch| {
        let config = TrainConfig {
            switch_epoch,
            ..config(method)
        };
        [0, 1, 2, 3].map(|epoch| config.keeps_chains(epoch))
    };
    assert_eq!(stages("jsa", 2), [false, false, true, true]);
    assert_eq!(stages("jsa", 0), [true; 4]);
    assert_eq!(stages("rws", 0), [false; 4]);
    let config = TrainConfig {
        epochs: 7,
        check_every: 3,
        ..config("rws")
    };
    let checked: Vec<u64> = (0..9).filter(|own| config.checks_after(*own)).collect();
    assert_eq!(checked, [3, 6, 7]);
}

#[test]
fn a_check_is_made_once_at_its_epochs_whether_the_run_is_resumed_or_not() {
    let dir = tempfile::tempdir().unwrap();
    let of = |epochs, check_every| TrainConfig {
        epochs,
        check_every,
        ..config("rws")
    };
    let checked = || -> Vec<Option<u64>> {
        let rows = read_metrics(dir.path()).unwrap();
        let checks = rows.iter().filter(|row| row["kind"] == "check");
        checks.map(|row| row["epoch"].as_u64()).collect()
    };
    run(dir.path(), &of(2, 2), None).outcome.unwrap();
    assert_eq!(checked(), [Some(2)]);
    run(dir.path(), &of(5, 2), None).outcome.unwrap();
    assert_eq!(checked(), [Some(2), Some(4), Some(5)]);
}

/// The rows of the metrics that tell of an epoch, by the name of a field.
fn told(folder: &Path, field: &str) -> Vec<Option<f64>> {
    let rows = read_metrics(folder).unwrap();
    let epochs = rows.iter().filter(|row| row["kind"] == "epoch");
    epochs.map(|row| row[field].as_f64()).collect()
}

#[test]
fn the_variance_of_the_gradient_is_followed_over_a_stop_and_of_the_net_that_it_is_of() {
    let followed = TrainConfig {
        gradient_beta: Some(0.9),
        optimizer: Optimizer::Adam,
        ..config("rws")
    };
    let [whole, parts, plain] = [(); 3].map(|()| tempfile::tempdir().unwrap());
    run(whole.path(), &followed, None).outcome.unwrap();
    let variance = told(whole.path(), "gradient_variance");
    assert_eq!(variance.len(), 3);
    assert!(
        variance.iter().all(|own| own.is_some_and(|own| own > 0.0)),
        "{variance:?}"
    );
    let short = TrainConfig {
        epochs: 1,
        ..followed.clone()
    };
    run(parts.path(), &short, None).outcome.unwrap();
    run(parts.path(), &followed, None).outcome.unwrap();
    assert_eq!(told(parts.path(), "gradient_variance"), variance);
    // One that began without it is followed from where it goes on.
    let unfollowed = TrainConfig {
        gradient_beta: None,
        ..short
    };
    run(plain.path(), &unfollowed, None).outcome.unwrap();
    run(plain.path(), &followed, None).outcome.unwrap();
    let later = told(plain.path(), "gradient_variance");
    assert_eq!((later[0], later[1].is_some()), (None, true));
    assert_ne!(later[1], variance[1]);
}

#[test]
fn the_sums_of_an_epoch_are_told_by_their_meaning() {
    let config = TrainConfig {
        optimizer: Optimizer::Adam,
        ..config("jsa")
    };
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), &config, None).outcome.unwrap();
    for acceptance in told(dir.path(), "acceptance") {
        assert!((0.0..=1.0).contains(&acceptance.unwrap()));
    }
    for ess in told(dir.path(), "ess") {
        assert!((1.0..=3.0).contains(&ess.unwrap()), "{ess:?}");
    }
    // Mean log-likelihoods of eight bits.
    for elbo in told(dir.path(), "elbo") {
        assert!((-20.0..0.0).contains(&elbo.unwrap()), "{elbo:?}");
    }
    assert_eq!(told(dir.path(), "non_finite"), [Some(0.0); 3]);
}

/// What a run of two epochs is told of, JSA's chains from the second on.
fn heard(checkpoint_seconds: f64) -> (Vec<Event>, Vec<Option<u64>>) {
    let config = TrainConfig {
        epochs: 2,
        switch_epoch: 1,
        train_images: Some(15),
        final_samples: vec![4],
        checkpoint_seconds,
        threads: 2,
        ..config("jsa")
    };
    let dir = tempfile::tempdir().unwrap();
    let mut folder = RunFolder::open(dir.path(), &json!(1), OpenMode::Resume).unwrap();
    let events = Mutex::new(Vec::new());
    let observe = |event: &Event| events.lock().unwrap().push(event.clone());
    let (device, stop) = (Default::default(), AtomicBool::new(false));
    let data = data();
    train(
        model(),
        &config,
        &data,
        &device,
        &mut folder,
        &observe,
        &stop,
    )
    .unwrap();
    drop(folder);
    let rows = read_metrics(dir.path()).unwrap();
    let stages = rows.iter().map(|row| row["stage"].as_u64()).collect();
    (events.into_inner().unwrap(), stages)
}

#[test]
fn steps_stages_and_images_are_told_as_people_count_them() {
    let (events, stages) = heard(1000.0);
    let (mut steps, mut checks, mut images, mut trained) = (vec![], vec![], vec![], vec![]);
    for event in events {
        match event {
            Event::Step {
                epoch,
                step,
                steps_per_epoch,
                loss,
            } => {
                assert!(steps_per_epoch == 4 && loss > 0.0);
                steps.push((epoch, step));
            }
            Event::Check { epoch, stage, .. } => checks.push((epoch, stage)),
            Event::Evaluating { done, total } => images.push((done, total)),
            Event::Trained { .. } => trained.push((event, images.len())),
            _ => {}
        }
    }
    let expected = (1..=2).flat_map(|epoch| (1..=4).map(move |step| (epoch, step)));
    assert_eq!(steps, expected.collect::<Vec<_>>());
    assert_eq!(checks, [(1, 1), (2, 2)]);
    // Of each epoch, and of its check.
    assert_eq!(stages, [1, 1, 2, 2].map(Some));
    // 20 to select, 130 to test and 15 to train at each check, and 130 in the end.
    let totals: std::collections::BTreeSet<u64> = images.iter().map(|(_, total)| *total).collect();
    assert_eq!(totals, [130, 165].into());
    for (total, times) in [(165, 2), (130, 1)] {
        let whole = images.iter().filter(|own| **own == (total, total));
        assert_eq!(whole.count(), times);
    }
    for of in [20, 150] {
        assert!(images.contains(&(of, 165)), "{images:?}");
    }
    let (epoch, evaluated, total) = (2, 0, 130);
    let over = Event::Trained {
        epoch,
        evaluated,
        total,
    };
    let before = images.iter().position(|(_, of)| *of == total).unwrap();
    assert_eq!(trained, [(over, before)]);
}

#[test]
fn checkpoints_are_made_when_it_is_time() {
    let made = |seconds| {
        let (events, _) = heard(seconds);
        let own = |event: &&Event| matches!(event, Event::Checkpoint { .. });
        events.iter().filter(own).count()
    };
    // After three of the four steps of each epoch, and after both pieces of the last evaluation, of 50 images a thread.
    assert_eq!(made(0.0) - made(1000.0), 2 * 3 + 2);
}

#[test]
fn chains_start_at_draws_from_q_or_at_states_that_know_nothing_of_it() {
    let data = data().train;
    let start = |chain_start, seed| {
        let config = TrainConfig {
            chain_start,
            ..config("jsa")
        };
        let net = super::net(&[4, 3]);
        let model = net.init(seed, DType::F32, &Default::default()).unwrap();
        let mut trainer = Trainer::<Ad, _>::new(model, config, &data, Default::default()).unwrap();
        trainer.start_chains(&data).unwrap();
        trainer.chains().snapshot()
    };
    use ChainStart::{Proposal, Uniform};
    assert_eq!(start(Uniform, 3), start(Uniform, 4));
    assert_ne!(start(Proposal, 3), start(Proposal, 4));
    assert_eq!(start(Proposal, 3), start(Proposal, 3));
}
