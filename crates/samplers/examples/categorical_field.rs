//! Metropolis-within-Gibbs on a field of three colours, against the exact answer:
//! `cargo run --release -p helmholtz-samplers --example categorical_field`.

use helmholtz_random::{Purpose, Stream};
use helmholtz_samplers::diagnostics::summary;
use helmholtz_samplers::{Cycle, FiniteGibbs, Kernel, Mixture, Repeat, SamplerError};

const SIDE: usize = 3;
const SITES: usize = SIDE * SIDE;
const COLOURS: usize = 3;

/// The Potts model on a square lattice: ln p = coupling · number of equal neighbours + constant.
const COUPLING: f64 = 0.7;

fn neighbours(i: usize) -> impl Iterator<Item = usize> {
    let (row, column) = (i / SIDE, i % SIDE);
    [
        (row > 0).then(|| i - SIDE),
        (row + 1 < SIDE).then_some(i + SIDE),
        (column > 0).then(|| i - 1),
        (column + 1 < SIDE).then_some(i + 1),
    ]
    .into_iter()
    .flatten()
}

fn equal_neighbours(field: &[usize], i: usize) -> f64 {
    neighbours(i).filter(|&j| field[j] == field[i]).count() as f64
}

fn equal_pairs(field: &[usize]) -> f64 {
    (0..SITES).map(|i| equal_neighbours(field, i)).sum::<f64>() / 2.0
}

/// E equal pairs, by enumeration of all 3⁹ fields.
fn exact() -> f64 {
    let (mut sum, mut total) = (0.0, 0.0);
    for code in 0..COLOURS.pow(SITES as u32) {
        let field: Vec<usize> = (0..SITES)
            .map(|i| code / COLOURS.pow(i as u32) % COLOURS)
            .collect();
        let pairs = equal_pairs(&field);
        let weight = (COUPLING * pairs).exp();
        sum += weight * pairs;
        total += weight;
    }
    sum / total
}

fn run(kernel: &impl Kernel<Vec<usize>, Stream>, which: u64) -> Vec<f64> {
    let mut stream = Stream::new(7, Purpose::new("chain"), [which, 0]);
    let mut field = vec![0; SITES];
    let mut draw = |_| {
        kernel.step(&mut field, &mut stream);
        equal_pairs(&field)
    };
    (0..100).for_each(|step| _ = draw(step)); // burn-in
    (0..10_000).map(&mut draw).collect()
}

fn main() -> Result<(), SamplerError> {
    // One kernel a site. Its target needs only the terms in which the site occurs.
    let site = |i| {
        let local = move |field: &Vec<usize>| COUPLING * equal_neighbours(field, i);
        FiniteGibbs::new(local, i, (0..COLOURS).collect())
    };
    let sites = || (0..SITES).map(site).collect::<Vec<_>>();
    let random_scan = Repeat::new(Mixture::uniform(sites())?, SITES);
    let systematic_scan = Cycle::new(sites());

    println!("exact           {:.4}", exact());
    let random = summary(&[run(&random_scan, 0), run(&random_scan, 1)])?;
    let systematic = summary(&[run(&systematic_scan, 2), run(&systematic_scan, 3)])?;
    for (name, found) in [("random scan", random), ("systematic scan", systematic)] {
        println!(
            "{name:15} {:.4} ± {:.4}, R̂ {:.4}, ESS {:.0} of 20000 sweeps",
            found.mean, found.monte_carlo_error, found.r_hat, found.bulk_ess
        );
    }
    Ok(())
}
