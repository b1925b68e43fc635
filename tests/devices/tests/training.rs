//! That a GPU trains as the CPU does: the same twenty steps from the same uniforms.
//!
//! Needs a device: `cargo test -p helmholtz-devices --features wgpu`.

#![cfg(feature = "wgpu")]

use burn::backend::Autodiff;
use burn::module::AutodiffModule;
use burn::tensor::DType;
use helmholtz_datasets::{DatasetName, Locator, Splits, load};
use helmholtz_evaluation::{Evaluation, nll};
use helmholtz_ops::Backend;
use helmholtz_random::Purpose;
use helmholtz_samplers::{Scan, ScanOrder};
use helmholtz_sbn::{Sbn, SbnConfig};
use helmholtz_tests::flat_parameters;
use helmholtz_tests::vectors::distance;
use helmholtz_training::{Betas, ChainStart, Optimizer, TrainConfig, Trainer};

const STEPS: u64 = 20;

/// Products are summed in another order on another device; the largest difference seen is 2e-6.
const TOLERANCE: f64 = 1e-4;

const SETTINGS: &str = "JSA, stage II, batch 50, K = 2";

fn config() -> TrainConfig {
    TrainConfig {
        seed: 1,
        method: "jsa".parse().unwrap(),
        epochs: 1,
        switch_epoch: 0,
        chain_start: ChainStart::Proposal,
        batch: 50,
        particles: 2,
        analytic_kl: false,
        optimizer: Optimizer::Adam,
        betas: Betas::default(),
        learning_rate: 3e-4,
        inference_rate: None,
        prior_rate: None,
        sleep_every: None,
        gradient_beta: None,
        patience: None,
        scan: ScanOrder::Shuffled,
        check_every: 1,
        valid_samples: 20,
        valid_images: None,
        test_samples: 20,
        test_images: None,
        train_images: None,
        final_samples: vec![],
        test_at_checks: true,
        checkpoint_seconds: 60.0,
        threads: 1,
        device_name: "test".into(),
    }
}

/// What training leaves: the parameters before and after, the ELBO of each step, and an NLL.
struct Trained {
    start: Vec<f64>,
    end: Vec<f64>,
    elbos: Vec<f64>,
    nll: f64,
}

fn trained<B: Backend>(net: &str, steps: u64, data: &Splits) -> Trained {
    let config = config();
    let device = Default::default();
    let model: Sbn<Autodiff<B>> = SbnConfig::named(net)
        .unwrap()
        .init(config.seed, DType::F32, &device)
        .unwrap();
    let start = flat_parameters(&model);
    let images = data.train.select(&(0..1000).collect::<Vec<_>>());
    let mut scan = Scan::new(config.scan, config.seed, 1000, config.batch).unwrap();
    let mut trainer = Trainer::new(model, config, &images, device.clone()).unwrap();
    trainer.start_chains(&images).unwrap();
    let elbos = (0..steps)
        .map(|step| {
            let rows = scan.batch(0, step).unwrap();
            trainer.step(&images, &rows, 0, step).unwrap().elbo
        })
        .collect();
    let evaluation = Evaluation {
        samples: 20,
        seed: 1,
        purpose: Purpose::new("devices"),
        threads: 1,
    };
    let few = data.valid.select(&(0..100).collect::<Vec<_>>());
    let model = trainer.model().valid();
    let nll = nll::<B, _>(&model, &few, &evaluation, &device, &|_| true).expect("not stopped");
    Trained {
        start,
        end: flat_parameters(trainer.model()),
        elbos,
        nll: nll.mean,
    }
}

/// The largest relative difference in what was trained: of the change of the parameters as a whole, of each step's ELBO,
/// and of the NLL.
fn difference(a: &Trained, b: &Trained) -> f64 {
    assert_eq!(a.start, b.start, "the same initial parameters");
    let change = distance(&a.end, &a.start);
    let elbos = a.elbos.iter().zip(&b.elbos);
    elbos
        .chain([(&a.nll, &b.nll)])
        .map(|(a, b)| (a - b).abs() / a.abs())
        .fold(distance(&a.end, &b.end) / change, f64::max)
}

#[test]
fn wgpu_trains_as_the_cpu_does() {
    let glyphs: DatasetName = "glyphs".parse().unwrap();
    let data = load(glyphs, &Locator::new(None), &mut |_| ()).unwrap();
    for net in ["linear", "nonlinear", "two-layers"] {
        let cpu = trained::<burn_flex::Flex>(net, STEPS, &data);
        let wgpu = trained::<burn_wgpu::Wgpu>(net, STEPS, &data);
        let apart = difference(&cpu, &wgpu);
        println!("{net}, {SETTINGS}: {STEPS} steps on wgpu are {apart:.1e} from the CPU's");
        assert!(apart < TOLERANCE, "{net}: {apart:e} apart");

        let twin = trained::<burn_flex::Flex>(net, STEPS - 1, &data);
        let twin = difference(&cpu, &twin);
        assert!(twin > 100.0 * TOLERANCE, "one step fewer: {twin:e} apart");
    }
}
