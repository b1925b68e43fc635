//! Diagnostics of long chains that mix slowly.

use criterion::Criterion;
use helmholtz_random::{Draws, Purpose, Stream};
use helmholtz_samplers::diagnostics::{bulk_ess, monte_carlo_error, r_hat, summary, tail_ess};

/// x_t = 0.99 x_{t-1} + e_t, e_t standard normal, from its stationary law.
fn slow(chain: u64) -> Vec<f64> {
    let mut stream = Stream::new(7, Purpose::new("chain"), [chain, 0]);
    let mut x = stream.normal() / (1.0f64 - 0.99 * 0.99).sqrt();
    let draw = |_| {
        x = 0.99 * x + stream.normal();
        x
    };
    (0..100_000).map(draw).collect()
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    let chains: Vec<Vec<f64>> = (0..4).map(slow).collect();
    let mut group = criterion.benchmark_group("4 x 100,000 draws");
    group.sample_size(10);
    group.bench_function("summary", |b| b.iter(|| summary(&chains)));
    group.bench_function("bulk ESS", |b| b.iter(|| bulk_ess(&chains)));
    group.bench_function("tail ESS", |b| b.iter(|| tail_ess(&chains)));
    group.bench_function("R-hat", |b| b.iter(|| r_hat(&chains)));
    group.bench_function("Monte-Carlo error", |b| {
        b.iter(|| monte_carlo_error(&chains))
    });
    group.finish();
    criterion.final_summary();
}
