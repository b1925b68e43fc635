//! Poisson and binomial counts in the nonlinear net of RODEO's protocol, trained by four estimators on dynamically binarised MNIST.
//!
//! `cargo run --release -p helmholtz-count-vae --example counts -- [--data-dir FOLDER] [--out FOLDER] [--epochs N] [--seed N]`
//!
//! A command that was stopped goes on where it was.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use burn::backend::Autodiff;
use burn::tensor::DType;
use burn_flex::Flex;
use helmholtz_count_vae::{CountVae, CountVaeConfig};
use helmholtz_datasets::{DatasetName, Locator, Splits, load};
use helmholtz_estimators::{Estimator, FiniteOrder, Rloo, StraightThrough};
use helmholtz_runs::{OpenMode, RunFolder, read_metrics};
use helmholtz_training::{Event, TrainConfig, TrainError, train};
use serde_json::json;

type Ad = Autodiff<Flex>;

struct Arguments {
    data_dir: Option<PathBuf>,
    out: PathBuf,
    epochs: u64,
    seed: u64,
}

impl Arguments {
    fn parse(mut words: impl Iterator<Item = String>) -> Result<Self, Box<dyn Error>> {
        let mut found = Self {
            data_dir: None,
            out: "runs/counts".into(),
            epochs: 10,
            seed: 1,
        };
        while let Some(word) = words.next() {
            let value = words.next().ok_or(format!("`{word}` has no value"))?;
            match word.as_str() {
                "--data-dir" => found.data_dir = Some(value.into()),
                "--out" => found.out = value.into(),
                "--epochs" => found.epochs = value.parse()?,
                "--seed" => found.seed = value.parse()?,
                other => return Err(format!("`{other}`: not known; see the example's head").into()),
            }
        }
        Ok(found)
    }
}

/// Trains one model, and prints its row.
fn row<E: Estimator<Ad, CountVae<Ad>> + Clone>(
    estimator: E,
    particles: usize,
    net: (&str, &CountVaeConfig),
    data: &Splits,
    arguments: &Arguments,
) -> Result<(), Box<dyn Error>> {
    let description = estimator.description();
    let config = TrainConfig {
        seed: arguments.seed,
        epochs: arguments.epochs,
        batch: 100,
        particles,
        learning_rate: 1e-3,
        check_every: arguments.epochs,
        valid_images: Some(1000),
        test_at_checks: false,
        test_images: Some(1000),
        final_samples: vec![],
        ..TrainConfig::new(estimator)
    };
    let path = arguments.out.join(net.0).join(description.name);
    let identity = json!({
        "net": net.1, "method": description.name, "seed": config.seed, "epochs": config.epochs,
        "batch": config.batch, "particles": particles, "learning_rate": config.learning_rate,
    });
    let device = Default::default();
    let model = net.1.init(config.seed, DType::F32, &device)?;
    let mut folder = RunFolder::open(&path, &identity, OpenMode::Resume)?;
    let observe = |event: &Event| {
        if let Event::Warning(warning) = event {
            eprintln!("{warning}");
        }
    };
    let stop = AtomicBool::new(false);
    let outcome = match train(model, &config, data, &device, &mut folder, &observe, &stop) {
        Err(TrainError::Diverged { epoch, .. }) => {
            let label = description.label;
            println!(
                "| {} | {label} | {particles} | diverged in epoch {epoch} | | | |",
                net.0
            );
            return Ok(());
        }
        outcome => outcome?,
    };
    let (elbo, seconds) = last_epoch(&path)?;
    let test = outcome
        .selected
        .test
        .ok_or("the test images were not evaluated")?;
    println!(
        "| {} | {} | {particles} | {:.2} | {:.2} | {:.2} | {:.0} |",
        net.0, description.label, -elbo, -test.elbo, test.mean, seconds
    );
    Ok(())
}

/// The training ELBO of the last epoch, and the seconds until its end.
fn last_epoch(path: &Path) -> Result<(f64, f64), Box<dyn Error>> {
    let rows = read_metrics(path)?;
    let mut epochs = rows.iter().filter(|row| row["kind"] == "epoch");
    let last = epochs.next_back().ok_or("no epoch ended")?;
    let number = |key: &str| last[key].as_f64().ok_or(format!("no `{key}`"));
    Ok((number("elbo")?, number("seconds")?))
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse(std::env::args().skip(1))?;
    let locator = Locator::new(arguments.data_dir.clone());
    let data = load(DatasetName::DynamicMnist, &locator, &mut |_| {})?;
    println!("| latents | estimator | K | −training ELBO | −test ELBO | test NLL | seconds |");
    println!("|---|---|---|---|---|---|---|");
    for (name, net) in [
        ("poisson-200", CountVaeConfig::poisson()),
        ("binomial-16", CountVaeConfig::binomial(16)),
        ("binomial-128", CountVaeConfig::binomial(128)),
    ] {
        let net = (name, &net);
        row(StraightThrough, 1, net, &data, &arguments)?;
        row(FiniteOrder::Second, 1, net, &data, &arguments)?;
        row(FiniteOrder::Third, 1, net, &data, &arguments)?;
        row(Rloo, 2, net, &data, &arguments)?;
    }
    Ok(())
}
