//! Steps whose operations share threads.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use burn::tensor::DType;
use helmholtz_datasets::{Images, Splits};
use helmholtz_random::{Purpose, Stream};
use helmholtz_runs::{OpenMode, RunFolder, read_checkpoint};
use helmholtz_sbn::SbnConfig;
use helmholtz_training::{TrainConfig, train};
use serde_json::json;

use super::Ad;

/// Images so wide that threads share what is done with them.
fn data() -> Splits {
    let images = |part: u64, len: usize| {
        let mut stream = Stream::new(part, Purpose::new("images"), [0, 0]);
        Images::from_fn(len, 400, |_, _| stream.uniform_f64() < 0.3)
    };
    Splits {
        train: images(1, 40),
        valid: images(2, 10),
        test: images(3, 10),
        ..super::data(1)
    }
}

/// Every part of the checkpoint after two epochs of two steps.
fn trained(method: &str, threads: usize, folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let config = TrainConfig {
        epochs: 2,
        batch: 20,
        particles: 60,
        threads,
        ..super::config(method)
    };
    let net = SbnConfig {
        visible: 400,
        hidden: vec![150],
        ..super::net(&[150])
    };
    let model = net.init::<Ad>(3, DType::F32, &Default::default()).unwrap();
    let mut run = RunFolder::open(folder, &json!(1), OpenMode::Resume).unwrap();
    let (device, stop) = (Default::default(), AtomicBool::new(false));
    train(model, &config, &data(), &device, &mut run, &|_| {}, &stop).unwrap();
    let parts = read_checkpoint(folder).unwrap().unwrap().parts;
    parts.into_iter().collect()
}

#[test]
fn threads_change_no_bit_of_what_is_trained() {
    let home = tempfile::tempdir().unwrap();
    for method in ["rloo", "jsa", "st-gumbel-softmax"] {
        let of = |threads: usize| {
            let folder = home.path().join(format!("{method}-{threads}"));
            trained(method, threads, &folder)
        };
        let alone = of(1);
        for threads in [2, 3] {
            assert!(of(threads) == alone, "{method}, {threads} threads");
        }
    }
}
