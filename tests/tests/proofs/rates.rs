//! Learning rates of the parts, and training on data that are drawn anew in each epoch.

use std::ops::Range;

use burn::tensor::DType;
use helmholtz_datasets::{Data, Images, Reading};
use helmholtz_estimators::{Method, Parts};
use helmholtz_tests::vectors::max_difference;
use helmholtz_tests::{Enumerable, Reference, Tape, build, flat_parameters};
use helmholtz_training::{TrainConfig, Trainer};

fn config() -> TrainConfig {
    let rloo: Method = "rloo".parse().unwrap();
    TrainConfig {
        batch: 3,
        learning_rate: 1e-3,
        ..TrainConfig::new(rloo)
    }
}

/// How far a step moves each parameter of T1.
fn moved(config: TrainConfig) -> Vec<f64> {
    let model = build::<Tape, _>(&Reference::t1(), DType::F32);
    let before = flat_parameters(&model);
    let images = Images::from_fn(3, 4, |i, j| (i + j) % 2 == 0);
    let mut trainer = Trainer::new(model, config, &images, Default::default()).unwrap();
    trainer.step(&images, &[0, 1, 2], 0, 0).unwrap();
    let after = flat_parameters(trainer.model());
    after.iter().zip(before).map(|(a, b)| a - b).collect()
}

/// Where φ stands among the parameters, and the prior's logits, which are the last.
fn places() -> (Range<usize>, Range<usize>) {
    let reference = Reference::t1();
    let model = build::<Tape, _>(&reference, DType::F32);
    assert_eq!(model.learned_prior().len(), 1, "T1 learns its prior");
    let all = reference.parameters().len();
    (reference.phi(), all - 3..all)
}

fn close(a: &[f64], b: &[f64]) -> bool {
    // Differences of f32 parameters of a few units.
    max_difference(a, b) < 2e-6
}

#[test]
fn the_prior_follows_plain_gradient_descent_at_a_rate_of_its_own() {
    let (_, prior) = places();
    let at = |rate| {
        moved(TrainConfig {
            prior_rate: Some(rate),
            ..config()
        })
    };
    let (plain, slow, fast) = (moved(config()), at(0.01), at(0.03));
    for by in [&slow, &fast] {
        assert_eq!(
            by[..prior.start],
            plain[..prior.start],
            "the rest is Adam's"
        );
    }
    let tripled: Vec<f64> = slow[prior.clone()].iter().map(|d| 3.0 * d).collect();
    assert!(tripled.iter().any(|d| d.abs() > 1e-4), "{tripled:?}");
    assert!(close(&fast[prior.clone()], &tripled));
    // Adam's first step has one length for all; descent's has not.
    assert!(!close(&slow[prior.clone()], &plain[prior]));
}

#[test]
fn the_inference_net_has_a_rate_of_its_own() {
    let (phi, _) = places();
    let plain = moved(config());
    let faster = moved(TrainConfig {
        inference_rate: Some(4e-3),
        ..config()
    });
    let expected: Vec<f64> = plain
        .iter()
        .enumerate()
        .map(|(i, d)| if phi.contains(&i) { 4.0 * d } else { *d })
        .collect();
    assert!(close(&faster, &expected));
    assert!(!close(&faster, &plain));
}

/// Grey levels that every reading draws.
struct Levels(Vec<u8>);

impl Data for Levels {
    fn len(&self) -> usize {
        self.0.len() / 4
    }

    fn width(&self) -> usize {
        4
    }

    fn write_row(&self, i: usize, out: &mut [f32]) {
        let levels = self.0[4 * i..][..4].iter();
        out.iter_mut()
            .zip(levels)
            .for_each(|(x, &level)| *x = f32::from(level) / 255.0);
    }

    fn drawn_bits(&self, i: usize, reading: Reading) -> Option<Vec<u8>> {
        Some(reading.draw(i, &self.0[4 * i..][..4]))
    }
}

#[test]
fn each_epoch_reads_other_bits_and_a_step_made_again_reads_the_same() {
    let images = Levels([60, 128, 200, 90].repeat(20));
    let rows: Vec<u32> = (0..20).collect();
    let elbo = |epoch, step| {
        let model = build::<Tape, _>(&Reference::t1(), DType::F32);
        let mut trainer = Trainer::new(model, config(), &images, Default::default()).unwrap();
        trainer.step(&images, &rows, epoch, step).unwrap().elbo
    };
    assert_eq!(elbo(3, 1), elbo(3, 1));
    assert_ne!(elbo(3, 1), elbo(4, 1));
}
