//! A small Ising model against exact enumeration.

use helmholtz_random::{Purpose, Stream};
use helmholtz_samplers::Kernel;
use helmholtz_samplers::resampling::{Policy, Systematic};
use helmholtz_samplers::smc::{Population, Smc};

#[allow(dead_code)] // its main
#[path = "../../examples/ising_evidence.rs"]
mod example;

use example::{HeatBath, Ising, estimate};

const RUNS: u64 = 400;
const PARTICLES: usize = 50;

/// Two-sided normal quantile for a false alarm in a million, over the three tests here that could give one.
const QUANTILE: f64 = 5.1;

fn ladder() -> Vec<f64> {
    (1..=6).map(|i| f64::from(i) / 6.0).collect()
}

/// (mean - 1) / standard error and mean, of Ẑ / Z over independent runs. There are finitely many states, so the variance
/// is finite; Ẑ / Z spreads by a few per cent, so that the mean of 400 is normal.
fn z_score(estimates: impl Iterator<Item = f64>, log_z: f64) -> (f64, f64) {
    let ratios: Vec<f64> = estimates.map(|log| (log - log_z).exp()).collect();
    let n = ratios.len() as f64;
    let mean = ratios.iter().sum::<f64>() / n;
    let variance = ratios.iter().map(|r| (r - mean).powi(2)).sum::<f64>() / (n - 1.0);
    ((mean - 1.0) / (variance / n).sqrt(), mean)
}

fn stream(run: u64) -> Stream {
    Stream::new(51, Purpose::new("test"), [run, 0])
}

#[test]
fn the_known_sums_of_small_grids() {
    // One spin: 2. A ring of four, in which all pairs meet once: the 2 x 2 grid.
    let coupling = 0.3;
    assert!((Ising { side: 1, coupling }.log_z() - 2f64.ln()).abs() < 1e-14);
    let ring = (2.0 * coupling.cosh()).powi(4) + (2.0 * coupling.sinh()).powi(4);
    assert!((Ising { side: 2, coupling }.log_z() - f64::ln(ring)).abs() < 1e-13);
}

#[test]
fn evidence_of_ising_grids_by_a_fixed_ladder_is_exact_on_average() {
    for side in [3, 4] {
        let ising = Ising {
            side,
            coupling: 0.44,
        };
        let runs = (0..RUNS).map(|run| {
            estimate(ising, PARTICLES, Some(&ladder()), &mut stream(run))
                .expect("weights")
                .0
        });
        let (score, mean) = z_score(runs, ising.log_z());
        assert!(
            score.abs() < QUANTILE,
            "{side}: mean {mean}, {score} standard errors"
        );
    }
}

/// The same with the weights of the states after the move.
fn weighed_after(ising: Ising, stream: &mut Stream) -> f64 {
    let states = 1u32 << ising.spins();
    let smc = Smc::new(Systematic, Policy::EssBelow(0.5)).expect("a policy");
    let mut population = Population::draw(PARTICLES, stream, |s| {
        (s.below(states), f64::from(states).ln())
    })
    .expect("weights");
    let mut before = 0.0;
    for beta in ladder() {
        let kernel = HeatBath { ising, beta };
        smc.step(&mut population, stream, |state, stream| {
            kernel.step(state, stream);
            (beta - before) * ising.log_weight(*state)
        })
        .expect("weights");
        before = beta;
    }
    population.log_evidence()
}

#[test]
fn weighing_the_ising_model_after_the_move_is_noticed() {
    let ising = Ising {
        side: 3,
        coupling: 0.44,
    };
    let (score, mean) = z_score(
        (0..RUNS).map(|run| weighed_after(ising, &mut stream(run))),
        ising.log_z(),
    );
    assert!(score > QUANTILE, "mean {mean}, {score} standard errors");
}

#[test]
fn a_ladder_found_on_the_way_is_close() {
    let ising = Ising {
        side: 4,
        coupling: 0.44,
    };
    let (estimated, steps) = estimate(ising, 1000, None, &mut stream(0)).expect("weights");
    assert!((2..50).contains(&steps));
    assert!(
        (estimated - ising.log_z()).abs() < 0.2,
        "ten times its standard deviation"
    );
}

#[test]
fn a_run_is_a_function_of_its_stream() {
    let ising = Ising {
        side: 3,
        coupling: 0.44,
    };
    let run = |i| estimate(ising, 20, None, &mut stream(i)).expect("weights");
    assert_eq!(run(3), run(3));
    assert_ne!(run(3).0, run(4).0);
}
