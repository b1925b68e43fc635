//! Every kernel on discrete sites on Ising models below, at and above the critical temperature, and on a Potts model:
//! `cargo run --release -p helmholtz-samplers --example discs -- 50 2000`, side and steps.
//!
//! For each, the effective sample size of the energy per 1000 steps, per 1000 evaluations of all differences (a sweep of
//! single-site Gibbs counts as one), and per second. Sides and temperatures as in DISCS (Goshvadi, Sun, Liu, Nova,
//! Zhang, Grathwohl, Schuurmans and Dai, 2023), on a torus.

use std::time::Instant;

use helmholtz_samplers::diagnostics::ess;
use helmholtz_samplers::random::{Purpose, Stream};
use helmholtz_samplers::{
    DifferenceTarget, DiscreteLangevin, Info, Kernel, LocallyBalanced, PathAuxiliary, SamplerError,
    balancing_functions,
};

/// ln p = β Σ [x_i = x_j] over the edges of a torus of `side`² sites with `values` values.
#[derive(Clone, Copy)]
struct Potts {
    side: usize,
    values: usize,
    beta: f64,
}

impl Potts {
    fn neighbours(&self, i: usize) -> [usize; 4] {
        let (n, row, column) = (self.side, i / self.side, i % self.side);
        [
            row * n + (column + 1) % n,
            row * n + (column + n - 1) % n,
            (row + 1) % n * n + column,
            (row + n - 1) % n * n + column,
        ]
    }

    fn equal(&self, x: &[u8]) -> f64 {
        let right_and_down = |i: usize| [self.neighbours(i)[0], self.neighbours(i)[2]];
        let at = |i: usize| right_and_down(i).iter().filter(|&&j| x[i] == x[j]).count();
        (0..x.len()).map(at).sum::<usize>() as f64
    }
}

impl DifferenceTarget<u8> for Potts {
    fn values(&self) -> usize {
        self.values
    }

    fn log_density(&self, x: &[u8]) -> f64 {
        self.beta * self.equal(x)
    }

    fn log_density_and_differences(&self, x: &[u8], differences: &mut [f64]) -> f64 {
        for (i, row) in differences.chunks_mut(self.values).enumerate() {
            for j in self.neighbours(i) {
                row[usize::from(x[j])] += self.beta;
            }
            let now = row[usize::from(x[i])];
            row.iter_mut().for_each(|d| *d -= now);
        }
        self.log_density(x)
    }
}

/// A sweep of single-site Gibbs sampling, in order.
struct Sweep(Potts);

impl Kernel<Vec<u8>, Stream> for Sweep {
    type Info = Info;

    fn step(&self, x: &mut Vec<u8>, chance: &mut Stream) -> Info {
        use helmholtz_samplers::random::Chance;
        let mut weights = vec![0.0; self.0.values];
        for i in 0..x.len() {
            weights.fill(0.0);
            for j in self.0.neighbours(i) {
                weights[usize::from(x[j])] += self.0.beta;
            }
            x[i] = chance.choose(&weights).map_or(x[i], |v| v as u8);
        }
        Info::default()
    }
}

type Boxed = Box<dyn Kernel<Vec<u8>, Stream, Info = Info>>;

/// Name, kernel, and evaluations of all differences a step.
fn kernels(model: Potts, x: &mut Vec<u8>) -> Result<Vec<(&'static str, Boxed, f64)>, SamplerError> {
    let mut stream = Stream::new(3, Purpose::new("tune"), [0, 0]);
    let langevin = DiscreteLangevin::new(model, 0.2)?.warm_up(0.574, 300, x, &mut stream)?;
    let root: fn(f64) -> f64 = balancing_functions::square_root;
    let length = model.side * model.side / 40;
    Ok(vec![
        ("Gibbs, a sweep", Box::new(Sweep(model)), 1.0),
        (
            "locally balanced, √",
            Box::new(LocallyBalanced::new(model, root)),
            2.0,
        ),
        (
            "locally balanced, Barker",
            Box::new(LocallyBalanced::new(model, balancing_functions::barker)),
            2.0,
        ),
        (
            "path auxiliary",
            Box::new(PathAuxiliary::new(model, root, length.max(1))?),
            2.0,
        ),
        ("DMALA", Box::new(langevin), 2.0),
    ])
}

fn main() -> Result<(), SamplerError> {
    let mut arguments = std::env::args().skip(1);
    let mut number = |default| {
        arguments
            .next()
            .and_then(|a| a.parse().ok())
            .unwrap_or(default)
    };
    let (side, steps) = (number(30), number(1000));
    // With energies of -1 and 1 for unequal and equal neighbours, the Ising coupling is half of β; its critical value is
    // ln(1 + √2) / 2. That of q values is β = ln(1 + √q).
    let critical = |values: usize| (values as f64).sqrt().ln_1p();
    println!("{side} x {side} sites, {steps} steps, effective draws of the energy");
    for (values, share) in [(2, 0.7), (2, 1.0), (2, 1.1), (4, 0.9)] {
        let model = Potts {
            side,
            values,
            beta: share * critical(values),
        };
        println!("\n{values} values at {share} of the critical coupling");
        println!(
            "{:26} {:>10} {:>12} {:>10}",
            "kernel", "1000 steps", "1000 evals", "second"
        );
        let mut start = vec![0u8; side * side];
        let mut warm = Stream::new(1, Purpose::new("warm"), [0, 0]);
        for _ in 0..200 {
            Sweep(model).step(&mut start, &mut warm);
        }
        for (name, kernel, evaluations) in kernels(model, &mut start.clone())? {
            let (mut x, mut energies) = (start.clone(), Vec::with_capacity(steps));
            let before = Instant::now();
            for t in 0..steps {
                let mut stream = Stream::new(2, Purpose::new("chain"), [0, t as u64]);
                kernel.step(&mut x, &mut stream);
                energies.push(model.equal(&x));
            }
            let seconds = before.elapsed().as_secs_f64();
            let draws = ess(&[energies]).unwrap_or(f64::NAN);
            println!(
                "{name:26} {:>10.2} {:>12.2} {:>10.2}",
                1000.0 * draws / steps as f64,
                1000.0 * draws / (steps as f64 * evaluations),
                draws / seconds
            );
        }
    }
    Ok(())
}
