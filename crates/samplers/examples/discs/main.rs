//! Every kernel on discrete sites on the classical targets of DISCS, and on Ising and Potts models around the critical
//! temperature: `cargo run --release -p helmholtz-samplers --example discs -- 1 2000 discs.svg`, the share of the published
//! sizes, the steps, and where to put a picture.
//!
//! The effective sample size per 1000 steps, per 1000 evaluations of all differences (a sweep of single sites counts as one),
//! and per second; of the distance from a random state, as DISCS has it, Σ |x_i - x⁰_i|. Half as many steps come before.
//! (Goshvadi, Sun, Liu, Nova, Zhang, Grathwohl, Schuurmans and Dai, 2023, "DISCS: a benchmark for discrete sampling".)

mod models;
mod picture;

use std::time::Instant;

use helmholtz_samplers::diagnostics::ess;
use helmholtz_samplers::random::{Chance, Purpose, Stream};
use helmholtz_samplers::{
    AutomaticCycle, DifferenceTarget, DiscreteLangevin, Info, Kernel, LocallyBalanced,
    PathAuxiliary, SamplerError, balancing_functions,
};
use models::{Bernoulli, FactorialHmm, Grid, Model};

/// A model as a target of several kernels.
#[derive(Clone, Copy)]
struct Of<'a>(&'a dyn Model);

impl DifferenceTarget<u8> for Of<'_> {
    fn values(&self) -> usize {
        self.0.values()
    }

    fn log_density(&self, x: &[u8]) -> f64 {
        self.0.log_density(x)
    }

    fn log_density_and_differences(&self, x: &[u8], differences: &mut [f64]) -> f64 {
        self.0.log_density_and_differences(x, differences)
    }
}

/// Single-site Gibbs sampling: all sites in order, or so many random ones.
struct Gibbs<'a>(Of<'a>, Option<usize>);

impl Kernel<Vec<u8>, Stream> for Gibbs<'_> {
    type Info = Info;

    fn step(&self, x: &mut Vec<u8>, chance: &mut Stream) -> Info {
        let mut weights = vec![0.0; self.0.values()];
        for n in 0..self.1.unwrap_or(x.len()) {
            let i = match self.1 {
                Some(_) => chance.below(x.len() as u32) as usize,
                None => n,
            };
            self.0.0.conditional(x, i, &mut weights);
            x[i] = chance.choose(&weights).map_or(x[i], |v| v as u8);
        }
        Info::default()
    }
}

type Boxed<'a> = Box<dyn Kernel<Vec<u8>, Stream, Info = Info> + 'a>;

/// Moves of the automatic cycle.
const SCALES: usize = 8;

/// Name, kernel, and evaluations of all differences a step; what is tuned is tuned from `x`.
fn kernels<'a>(
    model: Of<'a>,
    x: &mut Vec<u8>,
) -> Result<Vec<(&'static str, Boxed<'a>, f64)>, SamplerError> {
    let mut stream = Stream::new(3, Purpose::new("tune"), [0, 0]);
    let langevin = DiscreteLangevin::new(model, 0.2)?.warm_up(0.574, 200, x, &mut stream)?;
    let cycle = AutomaticCycle::warm_up(model, SCALES, 480, x, &mut stream)?;
    let root: fn(f64) -> f64 = balancing_functions::square_root;
    let sites = model.0.sites();
    let one_site = 1.0 / sites as f64;
    Ok(vec![
        ("Gibbs, one site", Box::new(Gibbs(model, Some(1))), one_site),
        ("Gibbs, a sweep", Box::new(Gibbs(model, None)), 1.0),
        (
            "Gibbs with gradients",
            Box::new(LocallyBalanced::gibbs_with_gradients(model)),
            2.0,
        ),
        (
            "locally balanced, Barker",
            Box::new(LocallyBalanced::new(model, balancing_functions::barker)),
            2.0,
        ),
        (
            "path auxiliary",
            Box::new(PathAuxiliary::new(model, root, (sites / 40).max(1))?),
            2.0,
        ),
        ("DMALA", Box::new(langevin), 2.0),
        ("automatic cycle", Box::new(cycle), 2.0 * SCALES as f64),
    ])
}

/// Effective draws of a kernel on a model.
struct Row {
    kernel: &'static str,
    per_step: f64,
    per_evaluation: f64,
    per_second: f64,
}

/// Σ |x_i - x⁰_i| from a random state.
fn distance(x: &[u8], values: usize) -> f64 {
    let mut stream = Stream::new(4, Purpose::new("origin"), [0, 0]);
    let away = |x: &u8| f64::from(*x) - f64::from(stream.below(values as u32));
    x.iter().map(away).map(f64::abs).sum()
}

fn rows(model: Of<'_>, steps: usize) -> Result<Vec<Row>, SamplerError> {
    let mut start = vec![0u8; model.0.sites()];
    let mut warm = Stream::new(1, Purpose::new("warm"), [0, 0]);
    for _ in 0..200 {
        Gibbs(model, None).step(&mut start, &mut warm);
    }
    let kernels = kernels(model, &mut start.clone())?.into_iter();
    let row = kernels.map(|(kernel, of, evaluations)| {
        let (mut x, mut distances) = (start.clone(), Vec::with_capacity(steps));
        let mut seconds = 0.0;
        for t in 0..steps + steps / 2 {
            let mut stream = Stream::new(2, Purpose::new("chain"), [0, t as u64]);
            let before = Instant::now();
            of.step(&mut x, &mut stream);
            if t >= steps / 2 {
                seconds += before.elapsed().as_secs_f64();
                distances.push(distance(&x, model.values()));
            }
        }
        let draws = ess(&[distances]).unwrap_or(f64::NAN);
        Row {
            kernel,
            per_step: draws / steps as f64,
            per_evaluation: draws / (steps as f64 * evaluations),
            per_second: draws / seconds,
        }
    });
    Ok(row.collect())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let share: f64 = arguments.next().map_or(Ok(0.3), |a| a.parse())?;
    let steps: usize = arguments.next().map_or(Ok(1000), |a| a.parse())?;
    let of = |size: usize| ((share * size as f64).round() as usize).max(2);
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
    for model in &models {
        let rows = rows(Of(model.as_ref()), steps)?;
        println!("\n{}", model.name());
        println!(
            "{:26} {:>12} {:>12} {:>12}",
            "kernel", "1000 steps", "1000 evals", "second"
        );
        for row in &rows {
            println!(
                "{:26} {:>12.2} {:>12.2} {:>12.2}",
                row.kernel,
                1000.0 * row.per_step,
                1000.0 * row.per_evaluation,
                row.per_second
            );
        }
        tables.push((model.name(), rows));
    }
    if let Some(path) = arguments.next() {
        std::fs::write(path, picture::svg(&tables))?;
    }
    Ok(())
}
