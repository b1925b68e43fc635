//! An importance-sampled likelihood with S = 1000 beside its own matrix products alone, for the three nets of table 1, on
//! one thread, and its speed on two. The ratio products ÷ evaluation is measured in turn and printed with the products'
//! speed, so that a slow product cannot flatter it.

use std::hint::black_box;
use std::time::Instant;

use burn::tensor::DType;
use burn_flex::Flex;
use criterion::{Criterion, criterion_main};
use helmholtz_datasets::{DatasetName, Images, Locator, load};
use helmholtz_evaluation::{Evaluation, nll};
use helmholtz_random::{Purpose, Stream};
use helmholtz_sbn::{Sbn, SbnConfig};

const IMAGES: usize = 20;
const SAMPLES: usize = 1000;
/// Rows that are evaluated together.
const ROWS: usize = 250;

fn evaluate(model: &Sbn<Flex>, images: &Images, threads: usize) {
    let evaluation = Evaluation {
        samples: SAMPLES,
        seed: 1,
        purpose: Purpose::new("bench"),
        threads,
    };
    black_box(nll::<Flex, _>(
        model,
        images,
        &evaluation,
        &Default::default(),
        &|_| true,
    ));
}

/// One product `[m, k] · [k, n]` into memory that is there already, and how often an evaluation makes it.
struct Product {
    shape: [usize; 3],
    times: usize,
    a: Vec<f32>,
    b: Vec<f32>,
    output: Vec<f32>,
}

impl Product {
    fn new(shape @ [m, k, n]: [usize; 3], times: usize) -> Self {
        let mut stream = Stream::new(1, Purpose::new("bench"), [m as u64, k as u64]);
        let mut matrix = |size: usize| {
            let mut values = vec![0.0; size];
            stream.fill_uniform_f32(&mut values);
            values
        };
        Self {
            shape,
            times,
            a: matrix(m * k),
            b: matrix(k * n),
            output: matrix(m * n),
        }
    }

    fn run(&mut self) {
        let [m, k, n] = self.shape;
        for _ in 0..self.times {
            // SAFETY: each matrix has as many elements as its shape says, in row-major order.
            unsafe {
                gemm::gemm(
                    m,
                    n,
                    k,
                    self.output.as_mut_ptr(),
                    1,
                    n as isize,
                    false,
                    self.a.as_ptr(),
                    1,
                    k as isize,
                    self.b.as_ptr(),
                    1,
                    n as isize,
                    0.0f32,
                    1.0f32,
                    false,
                    false,
                    false,
                    gemm::Parallelism::None,
                );
            }
            black_box(&mut self.output);
        }
    }

    fn flop(&self) -> f64 {
        2.0 * self.times as f64 * self.shape.iter().product::<usize>() as f64
    }
}

/// The products of an evaluation: the decoder's, and above the first stochastic layer the encoder's, for each block of rows.
fn products(net: &str) -> Vec<Product> {
    let blocks = IMAGES * SAMPLES / ROWS;
    let shapes: &[[usize; 3]] = match net {
        "linear" => &[[ROWS, 200, 784]],
        "nonlinear" => &[[ROWS, 200, 200], [ROWS, 200, 200], [ROWS, 200, 784]],
        _ => &[[ROWS, 200, 200], [ROWS, 200, 200], [ROWS, 200, 784]],
    };
    shapes
        .iter()
        .map(|&shape| Product::new(shape, blocks))
        .collect()
}

fn seconds(mut work: impl FnMut()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn benchmark(criterion: &mut Criterion) {
    let images =
        load(DatasetName::Glyphs, &Locator::new(None), &mut |_| {}).expect("glyphs need no file");
    let rows: Vec<u32> = (0..IMAGES as u32).collect();
    let images = images.test.select(&rows);
    let mut group = criterion.benchmark_group("nll");
    group.sample_size(10);
    for net in SbnConfig::NAMES {
        let model: Sbn<Flex> = SbnConfig::named(net)
            .and_then(|config| config.init(1, DType::F32, &Default::default()))
            .expect("a named net");
        group.bench_function(net, |b| b.iter(|| evaluate(&model, &images, 1)));
        let mut products = products(net);
        let flop: f64 = products.iter().map(Product::flop).sum();
        let (mut one, mut two, mut alone) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..25 {
            one.push(seconds(|| evaluate(&model, &images, 1)));
            alone.push(seconds(|| products.iter_mut().for_each(Product::run)));
            two.push(seconds(|| evaluate(&model, &images, 2)));
        }
        let (one, two, alone) = (median(one), median(two), median(alone));
        println!(
            "{net}: products/evaluation {:.3}, {:.2} us a sample, products at {:.0} GF/s; two threads {:.2} times as fast",
            alone / one,
            one / (IMAGES * SAMPLES) as f64 * 1e6,
            flop / alone / 1e9,
            one / two,
        );
    }
    group.finish();
}

mod group {
    #![allow(missing_docs)] // what the macro makes
    use super::benchmark;
    criterion::criterion_group!(benches, benchmark);
}

criterion_main!(group::benches);
