//! A crate outside the workspace: an estimator, a net with a Poisson likelihood and data of its own are certified against
//! enumeration, trained, interrupted and resumed. `cargo run --manifest-path examples/outside/Cargo.toml`

mod median;
mod spikes;

use std::error::Error;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use helmholtz::Flex;
use helmholtz::burn::{backend::Autodiff, tensor::DType};
use helmholtz::datasets::{Rows, Splits};
use helmholtz::invariance::gradients::{Subject, certify};
use helmholtz::random::{Purpose, Stream};
use helmholtz::runs::{OpenMode, RunFolder};
use helmholtz::training::{Event, Outcome, TrainConfig, TrainError, train};

use median::Median;
use spikes::{CELLS, Spikes};

type Ad = Autodiff<Flex>;

/// Counts of two kinds of moments: some cells are busy in one, the others in the other.
fn counts(split: u64, rows: u64) -> Rows {
    let row = |row| {
        let mut stream = Stream::new(7, Purpose::new("spikes"), [split, row]);
        let busy = stream.below(2) as usize;
        let most = |cell: usize| if cell % 2 == busy { 8 } else { 2 };
        (0..CELLS)
            .map(move |cell| stream.below(most(cell)) as f32)
            .collect::<Vec<_>>()
    };
    Rows::new(CELLS, (0..rows).flat_map(row).collect())
}

/// Trains in this folder, from its last checkpoint if it has one, until done or told to stop in this epoch.
fn run(folder: &Path, data: &Splits<Rows>, stop_in: u64) -> Result<Outcome, TrainError> {
    let config = TrainConfig {
        epochs: 4,
        particles: 3,
        learning_rate: 0.01,
        ..TrainConfig::new(Median { with_own: false })
    };
    let mut folder = RunFolder::open(folder, &serde_json::json!("spikes"), OpenMode::Resume)?;
    let stop = AtomicBool::new(false);
    let observe = |event: &Event| match event {
        Event::Step { epoch, step: 2, .. } if *epoch == stop_in => {
            stop.store(true, Ordering::Relaxed)
        }
        Event::Check {
            epoch, valid_nll, ..
        } => println!("epoch {epoch}: NLL {valid_nll:.4}"),
        _ => {}
    };
    let (model, device) = (Spikes::<Ad>::new(DType::F32), Default::default());
    train(model, &config, data, &device, &mut folder, &observe, &stop)
}

fn main() -> Result<(), Box<dyn Error>> {
    let subject = Subject::enumerated(Spikes::new(DType::F64), &[1.0, 0.0, 5.0, 2.0]);
    let right = certify(&Median { with_own: false }, &subject);
    let wrong = certify(&Median { with_own: true }, &subject);
    println!("certificate: {right:.2?}\nits twin: {wrong:.2?}");
    assert!(right.holds() && !wrong.holds());

    let data = Splits::in_memory("spikes", counts(0, 400), counts(1, 100), counts(2, 100));
    let home = std::env::temp_dir().join(format!("helmholtz-outside-{}", std::process::id()));
    let whole = run(&home.join("whole"), &data, u64::MAX)?;
    let stopped = run(&home.join("stopped"), &data, 3);
    assert!(matches!(stopped, Err(TrainError::Interrupted { .. })));
    let resumed = run(&home.join("stopped"), &data, u64::MAX)?;
    assert_eq!(
        (&resumed.selected, &resumed.last),
        (&whole.selected, &whole.last)
    );
    println!(
        "resumed in the same bits; test NLL {:.4}",
        whole.last[0].mean
    );
    std::fs::remove_dir_all(home)?;
    Ok(())
}
