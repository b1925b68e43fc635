//! Every kernel on discrete sites on the classical targets of DISCS, and on Ising models without a field at 0.8, 1 and 1.1
//! of the critical coupling:
//!
//! ```console
//! $ cargo run --release -p helmholtz-samplers --example discs -- --steps 1000 --picture discs.svg
//! ```
//!
//! Effective draws per 1000 steps, per 1000 evaluations of all differences, and per second of all chains on the threads there
//! are; of the distance from a random state, as DISCS has it, Σ |x_i - x⁰_i|. The chains start from 200 sweeps of Gibbs
//! sampling; half as many steps tune and are left out. An error is a standard error over the chains.
//! (Goshvadi, Sun, Liu, Nova, Zhang, Grathwohl, Schuurmans and Dai, 2023, "DISCS: a benchmark for discrete sampling".)
//!
//! | argument | default | what it sets |
//! |---|---|---|
//! | `--share` | 1 | the share of the published sizes |
//! | `--steps` | 1000 | steps; kernels of a site or a block take 10 times as many |
//! | `--chains` | 8 | chains |
//! | `--threads` | all | threads that the chains are dealt out to |
//! | `--kernels` | | kernels whose names hold this, alone |
//! | `--picture` | | a file for the picture |
//! | `--targets` | | a folder for parameters and starts, which `beside.py` reads |
//! | `--beside` | | a folder with what `beside.py` wrote: the released code of DISCS on the same targets |

mod beside;
mod kernels;
mod models;
mod picture;

use std::path::PathBuf;
use std::thread;
use std::time::Instant;

use helmholtz_samplers::diagnostics::ess;
use helmholtz_samplers::random::{Purpose, Stream};
use helmholtz_samplers::{Kernel, SamplerError};
use kernels::{ENTRIES, Entry, Sweep};
use models::{Bernoulli, FactorialHmm, Grid, Model};

/// What was asked for.
struct Arguments {
    share: f64,
    steps: usize,
    chains: usize,
    threads: usize,
    kernels: String,
    picture: Option<PathBuf>,
    targets: Option<PathBuf>,
    beside: Option<PathBuf>,
}

fn arguments() -> Result<Arguments, Box<dyn std::error::Error>> {
    let mut arguments = Arguments {
        share: 1.0,
        steps: 1000,
        chains: 8,
        threads: thread::available_parallelism()?.get(),
        kernels: String::new(),
        picture: None,
        targets: None,
        beside: None,
    };
    let mut given = std::env::args().skip(1);
    while let Some(flag) = given.next() {
        let value = given.next().ok_or(format!("`{flag}` needs a value"))?;
        match flag.as_str() {
            "--share" => arguments.share = value.parse()?,
            "--steps" => arguments.steps = value.parse()?,
            "--chains" => arguments.chains = value.parse()?,
            "--threads" => arguments.threads = value.parse::<usize>()?.max(1),
            "--kernels" => arguments.kernels = value,
            "--picture" => arguments.picture = Some(value.into()),
            "--targets" => arguments.targets = Some(value.into()),
            "--beside" => arguments.beside = Some(value.into()),
            _ => return Err(format!("there is no argument `{flag}`").into()),
        }
    }
    Ok(arguments)
}

/// Effective draws of a kernel on a model.
pub struct Row {
    /// Its name.
    pub kernel: &'static str,
    /// What the chains gave.
    pub found: Effective,
    /// Of `found.per_step`, per evaluation of all differences.
    pub per_evaluation: f64,
    /// The sampler of DISCS that does the same.
    pub beside: Option<Effective>,
}

/// Effective draws, a step of a chain and a second of all.
#[derive(Clone, Copy)]
pub struct Effective {
    /// A step of one chain.
    pub per_step: f64,
    /// Standard error over the chains.
    pub error: f64,
    /// A second of all chains.
    pub per_second: f64,
}

impl Effective {
    /// Of the distances of each chain, and the microseconds that a step of one takes where all run.
    pub fn of(chains: &[Vec<f64>], microseconds: f64) -> Self {
        let (steps, count) = (chains[0].len() as f64, chains.len() as f64);
        let each = chains
            .iter()
            .map(|chain| ess(&[chain]).unwrap_or(f64::NAN) / steps);
        let each: Vec<f64> = each.collect();
        let mean = each.iter().sum::<f64>() / count;
        let squares: f64 = each.iter().map(|e| (e - mean).powi(2)).sum();
        Self {
            per_step: mean,
            error: (squares / (count - 1.0).max(1.0) / count).sqrt(),
            per_second: 1e6 * mean / microseconds,
        }
    }
}

/// A random state, from which distances are measured.
pub fn origin(model: &dyn Model) -> Vec<u8> {
    let mut stream = Stream::new(4, Purpose::new("origin"), [0, 0]);
    let values = model.values() as u32;
    (0..model.sites())
        .map(|_| stream.below(values) as u8)
        .collect()
}

/// The state that a chain starts from.
pub fn start(model: &dyn Model, chain: usize) -> Vec<u8> {
    let mut stream = Stream::new(1, Purpose::new("warm"), [chain as u64, 0]);
    let mut x = vec![0u8; model.sites()];
    for _ in 0..200 {
        Sweep(model).step(&mut x, &mut stream);
    }
    x
}

fn distance(x: &[u8], origin: &[u8]) -> f64 {
    let pairs = x.iter().zip(origin);
    pairs.map(|(x, o)| f64::from(x.abs_diff(*o))).sum()
}

/// The distances of a chain after its burn-in, and the seconds that a step takes: the median, as other work on the machine
/// makes some steps long.
fn run(
    model: &dyn Model,
    entry: &Entry,
    chain: usize,
    steps: usize,
    start: &[u8],
) -> Result<(Vec<f64>, f64), SamplerError> {
    let (mut x, origin) = (start.to_vec(), origin(model));
    let mut stream = Stream::new(2, Purpose::new("chain"), [chain as u64, 0]);
    let kernel = (entry.build)(model, &mut x, steps / 2, &mut stream)?;
    let mut distances = Vec::with_capacity(steps * entry.steps);
    let mut seconds = Vec::with_capacity(distances.capacity());
    for _ in 0..steps * entry.steps {
        let before = Instant::now();
        kernel.step(&mut x, &mut stream);
        seconds.push(before.elapsed().as_secs_f64());
        distances.push(distance(&x, &origin));
    }
    seconds.sort_unstable_by(f64::total_cmp);
    let median = seconds.get(seconds.len() / 2).copied().unwrap_or(0.0);
    Ok((distances, median))
}

/// All chains of a kernel, dealt out to the threads.
fn row(
    model: &dyn Model,
    entry: &Entry,
    arguments: &Arguments,
    starts: &[Vec<u8>],
) -> Result<Row, Box<dyn std::error::Error>> {
    let threads = arguments.threads.min(starts.len());
    let steps = arguments.steps;
    let of_thread = |first: usize| {
        let chains = (first..starts.len()).step_by(threads);
        let runs = chains.map(|chain| run(model, entry, chain, steps, &starts[chain]));
        runs.collect::<Result<Vec<_>, _>>()
    };
    let runs = thread::scope(|scope| {
        let of_thread = &of_thread;
        let handles: Vec<_> = (0..threads)
            .map(|first| scope.spawn(move || of_thread(first)))
            .collect();
        handles
            .into_iter()
            .map(|h| h.join().expect("no panic"))
            .collect::<Vec<_>>()
    });
    let runs: Vec<_> = runs.into_iter().collect::<Result<Vec<_>, _>>()?;
    let (distances, seconds): (Vec<_>, Vec<_>) = runs.into_iter().flatten().unzip();
    let each = seconds.iter().sum::<f64>() / distances.len() as f64;
    let found = Effective::of(&distances, 1e6 * each / threads as f64);
    let beside = match (&arguments.beside, model.of_discs(), entry.of_discs) {
        (Some(folder), Some((task, _)), Some(sampler)) => {
            beside::read(folder, &model.name(), task, sampler)?
        }
        _ => None,
    };
    Ok(Row {
        kernel: entry.name,
        found,
        per_evaluation: found.per_step / (entry.evaluations)(model.sites()),
        beside,
    })
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments = arguments()?;
    let of = |size: usize| ((arguments.share * size as f64).round() as usize).max(2);
    let models: Vec<Box<dyn Model>> = vec![
        Box::new(Grid::near_critical(of(50), 2, 0.8)),
        Box::new(Grid::near_critical(of(50), 2, 1.0)),
        Box::new(Grid::near_critical(of(50), 2, 1.1)),
        Box::new(Grid::ising(of(50), 0.5)),
        Box::new(Grid::ising(of(50), 1.0)),
        Box::new(Grid::potts(of(30), 4, 1.0)),
        Box::new(Bernoulli::new(of(10_000), 0.5)),
        Box::new(Bernoulli::new(of(10_000), 1.5)),
        Box::new(FactorialHmm::new(of(200), of(50))),
    ];
    let mut tables = Vec::new();
    for model in models.iter().map(Box::as_ref) {
        let starts: Vec<_> = (0..arguments.chains)
            .map(|chain| start(model, chain))
            .collect();
        if let Some(folder) = &arguments.targets {
            beside::write(folder, model, &starts)?;
            continue;
        }
        println!("\n{}", model.name());
        println!(
            "{:26} {:>18} {:>11} {:>11}   {:>18} {:>11} {:>7}",
            "kernel", "1000 steps", "1000 evals", "second", "DISCS 1000 steps", "second", "ratio"
        );
        let mut rows = Vec::new();
        let asked = |entry: &&Entry| entry.name.contains(&arguments.kernels);
        for entry in ENTRIES.iter().filter(asked) {
            let row = row(model, entry, &arguments, &starts)?;
            let (found, beside) = (row.found, row.beside);
            let per_step =
                |of: Effective| format!("{:.3} ± {:.3}", 1e3 * of.per_step, 1e3 * of.error);
            print!(
                "{:26} {:>18} {:>11.2} {:>11.2}",
                row.kernel,
                per_step(found),
                1e3 * row.per_evaluation,
                found.per_second
            );
            match beside {
                Some(of) => println!(
                    "   {:>18} {:>11.3} {:>7.1}",
                    per_step(of),
                    of.per_second,
                    found.per_second / of.per_second
                ),
                None => println!(),
            }
            rows.push(row);
        }
        tables.push((model.name(), rows));
    }
    if let Some(path) = &arguments.picture {
        std::fs::write(path, picture::svg(&tables))?;
    }
    Ok(())
}
