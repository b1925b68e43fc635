//! One training step of the published mixture: K = 10 sweeps, L = 10 particles, B = 20 instances of N = 60 data, Adam. The same
//! run without gradients, and the step's matrix products alone. One thread, but where parts of a batch are shared between two.
//!
//! Beside criterion's times, the step's processor time and the ratio products ÷ step are printed: medians over pairs measured in
//! turn, which other work on the machine disturbs less.

use std::hint::black_box;
use std::time::Instant;

use burn::backend::Autodiff;
use burn::optim::{Optimizer, adaptor::OptimizerAdaptor};
use burn::tensor::{DType, Tensor};
use burn_flex::Flex;
use criterion::{Criterion, criterion_main};
use helmholtz_apg::{ApgError, Sampler, Streams, gradients_in_parts};
use helmholtz_gmm::{Gmm, GmmConfig, Scheme};
use helmholtz_samplers::resampling::{Policy, Systematic};
use helmholtz_training::Adam;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const SWEEPS: usize = 10;
const PARTICLES: usize = 10;
const BATCH: usize = 20;
const POINTS: usize = 60;
const PARTS: usize = 2;
const PAIRS: usize = 31;
/// Steps between two looks at the processor's time, which the system counts in ticks of milliseconds.
const STEPS: usize = 8;

fn batch<B: helmholtz_ops::Backend>(device: &B::Device) -> Tensor<B, 3> {
    let instances: Vec<u64> = (0..BATCH as u64).collect();
    let config = GmmConfig::default();
    config.simulate(1, &instances, POINTS, DType::F32, device).x
}

/// Two matrices, and how often they are multiplied.
type Product = (usize, Tensor<Flex, 2>, Tensor<Flex, 2>);

/// The products of a step: how often, and pairs of matrices. A product of a forward pass has two of the same size in the
/// backward pass.
fn products() -> Vec<Product> {
    let device = Default::default();
    let pair = |times: usize, [m, k, n]: [usize; 3]| {
        let (a, b) = (Tensor::ones([m, k], &device), Tensor::ones([k, n], &device));
        (3 * times, a, b)
    };
    let GmmConfig {
        clusters: m,
        dimensions: d,
        hidden: h,
        ..
    } = GmmConfig::default();
    let (data, etas) = (BATCH * POINTS, PARTICLES * BATCH * m);
    let (features, moves) = (d + m, SWEEPS - 1);
    vec![
        // The net for c.
        pair(SWEEPS, [data, d, h]),
        pair(SWEEPS, [etas, 2 * d, h]),
        // The statistics of each datum in each cluster.
        pair(moves, [data * m, features, d]),
        pair(moves, [data * m, features, m]),
    ]
}

fn multiply(products: &[Product]) {
    for (times, a, b) in products {
        for _ in 0..*times {
            black_box(a.clone().matmul(b.clone()));
        }
    }
}

/// Nanoseconds that this thread has had of a processor, which other work on the machine does not add to.
fn processor_time() -> Option<f64> {
    let all = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    all.split(' ').next()?.parse().ok()
}

fn seconds(work: impl FnOnce()) -> f64 {
    let start = processor_time().expect("Linux tells a thread's time");
    work();
    (processor_time().expect("as before") - start) * 1e-9
}

/// A step in two parts on so many threads, as experiments make it.
fn in_parts(threads: usize) -> impl FnMut() {
    let device = Default::default();
    let sampler = Sampler::new(PARTICLES, SWEEPS, Policy::Always, Systematic).expect("a sampler");
    let start = GmmConfig::default().init::<Autodiff<Flex>>(1, DType::F32, &device);
    let mut model = Some(start.expect("a model"));
    let mut adam = OptimizerAdaptor::from(Adam::default().with_betas([0.9, 0.99]));
    let (x, each) = (batch::<Autodiff<Flex>>(&device), BATCH / PARTS);
    let mut number = 0;
    move || {
        let present = model.take().expect("a model");
        let of = |model: &Gmm<Autodiff<Flex>>, part: usize| -> Result<_, ApgError> {
            let own = x.clone().narrow(0, part * each, each);
            let (mut streams, blocks) = (Streams::new(1, number).part(part), Scheme::Apg.blocks());
            let (gradients, _) = sampler.gradients(model, &own, &blocks, &mut streams)?;
            Ok((gradients, ()))
        };
        let shares = [1.0 / PARTS as f64; PARTS];
        let (gradients, _) = gradients_in_parts(&present, &shares, threads, of).expect("weights");
        model = Some(adam.step(2.5e-4, present, gradients));
        number += 1;
    }
}

/// Prints what parts cost and what threads gain: ratios of wall time, medians over steps made in turn.
fn print_parts(mut whole: impl FnMut()) {
    let [mut one, mut two] = [in_parts(1), in_parts(2)];
    let wall = |work: &mut dyn FnMut()| {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64()
    };
    let rounds = (0..PAIRS).map(|_| [wall(&mut whole), wall(&mut one), wall(&mut two)]);
    let rounds: Vec<[f64; 3]> = rounds.collect();
    let median = |of: fn(&[f64; 3]) -> f64| {
        let mut ratios: Vec<f64> = rounds.iter().map(of).collect();
        ratios.sort_by(f64::total_cmp);
        ratios[PAIRS / 2]
    };
    println!(
        "gmm: whole/parts {:.3}, one thread/two {:.3} (medians of {PAIRS})",
        median(|[whole, one, _]| whole / one),
        median(|[_, one, two]| one / two),
    );
}

fn benchmark(criterion: &mut Criterion) {
    let sampler = Sampler::new(PARTICLES, SWEEPS, Policy::Always, Systematic).expect("a sampler");
    let device = Default::default();
    let start = |seed| GmmConfig::default().init::<Autodiff<Flex>>(seed, DType::F32, &device);
    let mut model = Some(start(1).expect("a mixture"));
    let mut adam = OptimizerAdaptor::from(Adam::default().with_betas([0.9, 0.99]));
    let x = batch(&device);
    let mut number = 0;
    let mut step = || {
        let present = model.take().expect("a model");
        let mut streams = Streams::new(1, number);
        let (gradients, _) = sampler
            .gradients(&present, &x, &Scheme::Apg.blocks(), &mut streams)
            .expect("weights");
        model = Some(adam.step(2.5e-4, present, gradients));
        number += 1;
    };
    let products = products();
    if std::env::args().any(|argument| argument == "--bench") && processor_time().is_some() {
        let several = |work: &mut dyn FnMut()| seconds(|| (0..STEPS).for_each(|_| work()));
        let pairs = (0..PAIRS).map(|_| (several(&mut || multiply(&products)), several(&mut step)));
        let pairs: Vec<(f64, f64)> = pairs.collect();
        let median = |of: fn(&(f64, f64)) -> f64| {
            let mut values: Vec<f64> = pairs.iter().map(of).collect();
            values.sort_by(f64::total_cmp);
            values[PAIRS / 2]
        };
        println!(
            "gmm: {:.4} s of processor time a step, products {:.3} of it (medians of {PAIRS} pairs)",
            median(|(_, step)| *step) / STEPS as f64,
            median(|(products, step)| products / step),
        );
        print_parts(&mut step);
    }
    criterion.bench_function("step/gmm", |b| b.iter(&mut step));
    criterion.bench_function("products/gmm", |b| b.iter(|| multiply(&products)));
    let model = GmmConfig::default()
        .init::<Flex>(1, DType::F32, &device)
        .expect("a mixture");
    let x = batch::<Flex>(&device);
    let mut number = 0;
    criterion.bench_function("run/gmm", |b| {
        b.iter(|| {
            let mut streams = Streams::new(1, number);
            number += 1;
            sampler
                .run(
                    &model,
                    &x,
                    &Scheme::Apg.blocks(),
                    &mut streams,
                    |_, _, _| {},
                )
                .expect("weights")
        });
    });
}

mod group {
    #![allow(missing_docs)] // what the macro makes
    use super::benchmark;
    criterion::criterion_group!(benches, benchmark);
}
criterion_main!(group::benches);
