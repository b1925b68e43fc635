//! Runs of small nets, in one program: what they are compiled for is the same.

use burn::backend::Autodiff;
use burn::tensor::DType;
use burn_flex::Flex;
use helmholtz_datasets::{DatasetName, Images, Locator, Splits, load};
use helmholtz_random::{Purpose, Stream};
use helmholtz_sbn::{Initialisation, Sbn, SbnConfig};
use helmholtz_training::{ChainStart, Optimizer, TrainConfig};

mod forged;
mod objective;
mod open;
mod protocols;
mod threads;

type Ad = Autodiff<Flex>;

/// Three epochs of four steps.
fn config(method: &str) -> TrainConfig {
    TrainConfig {
        seed: 3,
        epochs: 3,
        chain_start: ChainStart::Proposal,
        batch: 10,
        optimizer: Optimizer::Adam,
        learning_rate: 1e-3,
        valid_samples: 5,
        test_samples: 5,
        final_samples: vec![],
        checkpoint_seconds: 1000.0,
        ..TrainConfig::new(method.parse().unwrap())
    }
}

/// Small images of random bits, some pixels rarer than others; `test` of them are test images.
fn data(test: usize) -> Splits {
    let images = |part: u64, len: usize| {
        let mut stream = Stream::new(part, Purpose::new("images"), [0, 0]);
        Images::from_fn(len, 8, |_, pixel| stream.uniform_f64() < 0.1 * pixel as f64)
    };
    let offline = Locator::new(None).offline();
    let named = load(DatasetName::Glyphs, &offline, &mut |_| {}).unwrap();
    Splits {
        train: images(1, 40),
        valid: images(2, 20),
        test: images(3, test),
        ..named
    }
}

/// A net of these layers on them.
fn model(latent: &[usize]) -> Sbn<Ad> {
    let net = net(latent);
    net.init(3, DType::F32, &Default::default()).unwrap()
}

fn net(latent: &[usize]) -> SbnConfig {
    SbnConfig {
        visible: 8,
        latent: latent.to_vec(),
        hidden: vec![],
        slope: 0.01,
        learned_prior: true,
        signed: false,
        tanh: false,
        centred: false,
        initialisation: Initialisation::FanIn,
    }
}
