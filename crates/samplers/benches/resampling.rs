//! Every resampling scheme at N = 10^3 … 10^6, beside multinomial resampling by a binary search for each draw: its time
//! a particle grows with log N and with cache misses, that of the schemes does not. (While all sums are in the nearest
//! cache, at N = 10^3, searching costs less than the logarithm and the exponential of a sorted uniform.)

use criterion::{BenchmarkId, Criterion, Throughput};
use helmholtz_random::{Draws, Purpose, Stream};
use helmholtz_samplers::resampling::*;

const BENCH: Purpose = Purpose::new("bench");

/// O(N log N), and two buffers of N.
struct BinarySearch;

impl<C: Draws> Resampler<C> for BinarySearch {
    fn resample(
        &self,
        log_weights: &[f64],
        draws: &mut C,
        ancestors: &mut [u32],
    ) -> Result<(), helmholtz_samplers::SamplerError> {
        let max = log_weights
            .iter()
            .copied()
            .fold(f64::NEG_INFINITY, f64::max);
        let sums: Vec<f64> = log_weights
            .iter()
            .scan(0.0, |sum, l| {
                *sum += (l - max).exp();
                Some(*sum)
            })
            .collect();
        let total = sums[sums.len() - 1];
        for ancestor in ancestors {
            let u = draws.uniform() * total;
            *ancestor = sums.partition_point(|&s| s <= u) as u32;
        }
        Ok(())
    }
}

fn main() {
    let mut criterion = Criterion::default()
        .sample_size(20)
        .warm_up_time(std::time::Duration::from_millis(300))
        .measurement_time(std::time::Duration::from_secs(1))
        .configure_from_args();
    let schemes: [(&str, Box<dyn Resampler<Stream>>); 6] = [
        ("systematic", Box::new(Systematic)),
        ("stratified", Box::new(Stratified)),
        ("residual", Box::new(Residual)),
        ("ssp", Box::new(Ssp)),
        ("multinomial", Box::new(Multinomial)),
        ("binary search", Box::new(BinarySearch)),
    ];
    let mut group = criterion.benchmark_group("resampling");
    for n in [1_000, 10_000, 100_000, 1_000_000] {
        let mut stream = Stream::new(1, BENCH, [n, 0]);
        let log_weights: Vec<f64> = (0..n).map(|_| stream.normal()).collect();
        let mut ancestors = vec![0; log_weights.len()];
        group.throughput(Throughput::Elements(n));
        for (name, scheme) in &schemes {
            group.bench_function(BenchmarkId::new(*name, n), |b| {
                b.iter(|| scheme.resample(&log_weights, &mut stream, &mut ancestors));
            });
        }
    }
    group.finish();
    criterion.final_summary();
}
