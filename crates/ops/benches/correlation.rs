//! Cross-correlation by direct sums beside the same by Fourier transforms, at the sizes of the tracker and around the size from which
//! transforms are used. One thread.
//!
//! Each case is measured by criterion, and as a ratio of times taken in turns, whose median is printed.

use std::hint::black_box;
use std::time::Instant;

use criterion::Criterion;
use helmholtz_ops::correlate_one_way;
use helmholtz_random::{Purpose, Stream};

/// Frames, each with a template of its own.
const PAIRS: usize = 50;
const ROUNDS: usize = 101;

fn uniforms(count: usize, at: u64) -> Vec<f32> {
    let mut values = vec![0.0; count];
    Stream::new(1, Purpose::new("bench"), [at, 0]).fill_uniform_f32(&mut values);
    values
}

fn correlation(criterion: &mut Criterion) {
    for (side, own) in [(96, 28), (64, 19), (48, 14)] {
        let (images, templates) = (
            uniforms(PAIRS * side * side, 0),
            uniforms(PAIRS * own * own, 1),
        );
        let mut output = vec![0.0; PAIRS * (side - own + 1) * (side - own + 1)];
        let mut correlate = |fourier: bool| {
            let start = Instant::now();
            let (image, template) = ((&images[..], [side; 2]), (&templates[..], [own; 2]));
            correlate_one_way(fourier, image, template, &mut output);
            black_box(&mut output);
            start.elapsed().as_secs_f64()
        };
        if std::env::args().any(|argument| argument == "--bench") {
            let ratio = |_| correlate(true) / correlate(false);
            let mut ratios: Vec<f64> = (0..ROUNDS).map(ratio).collect();
            ratios.sort_by(f64::total_cmp);
            println!(
                "{own} x {own} on {side} x {side}: time by Fourier transforms / direct = {:.2} (median of {ROUNDS} pairs)",
                ratios[ROUNDS / 2]
            );
        }
        let mut group = criterion.benchmark_group(format!("{own} on {side}"));
        group.sample_size(10);
        group.bench_function("direct", |b| b.iter(|| correlate(false)));
        group.bench_function("Fourier", |b| b.iter(|| correlate(true)));
    }
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    correlation(&mut criterion);
    criterion.final_summary();
}
