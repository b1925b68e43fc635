//! One training step of stage II (batch 50, K = 2, so 150 forward rows) beside its own matrix products alone, for the
//! three nets of table 1, on one thread. The products are those of the step: the same shapes and layouts, backward over
//! the rows that the step differentiates. Beside criterion's times, the ratio products ÷ step is measured in turn, and
//! printed with the products' speed, so that a slow product cannot flatter it.

use std::hint::black_box;
use std::time::Instant;

use burn::backend::Autodiff;
use burn::tensor::{DType, Tensor};
use burn_flex::Flex;
use criterion::{Criterion, criterion_group, criterion_main};
use helmholtz_datasets::{BinaryImages, DatasetName, Locator, load};
use helmholtz_estimators::Method;
use helmholtz_random::{Purpose, Stream};
use helmholtz_samplers::{Scan, ScanOrder};
use helmholtz_sbn::{Sbn, SbnConfig};
use helmholtz_training::{TrainConfig, Trainer};

type Model = Sbn<Autodiff<Flex>>;

fn config() -> TrainConfig {
    TrainConfig {
        seed: 1,
        method: "jsa".parse::<Method>().expect("a method"),
        epochs: 1,
        switch_epoch: 0,
        batch: 50,
        particles: 2,
        learning_rate: 3e-4,
        scan: ScanOrder::Shuffled,
        check_every: 1,
        valid_samples: 1,
        valid_images: None,
        test_samples: 1,
        test_images: None,
        final_samples: None,
        checkpoint_seconds: 1e9,
        threads: 1,
    }
}

/// A trainer in stage II and its data, after enough steps for an ordinary acceptance rate.
struct Bench {
    trainer: Trainer<Autodiff<Flex>, Model>,
    images: BinaryImages,
    scan: Scan,
    step: u64,
    live_rows: usize,
}

impl Bench {
    fn new(net: &str) -> Self {
        let images = load(DatasetName::Glyphs, &Locator::new(None), &mut |_| {})
            .expect("glyphs need no file")
            .train;
        let model = SbnConfig::named(net)
            .and_then(|config| config.init(1, DType::F32, &Default::default()))
            .expect("a named net");
        let scan = Scan::new(ScanOrder::Shuffled, 1, images.len() as u32, 50).expect("enough data");
        let trainer =
            Trainer::new(model, config(), images.len(), Default::default()).expect("a store");
        let mut bench = Self {
            trainer,
            images,
            scan,
            step: 0,
            live_rows: 0,
        };
        bench
            .trainer
            .start_chains(&bench.images)
            .expect("a store that fits");
        let rows: usize = (0..500).map(|_| bench.step()).sum();
        bench.live_rows = rows.div_ceil(500);
        bench
    }

    /// One step; the rows that it differentiated.
    fn step(&mut self) -> usize {
        let steps = self.scan.steps_per_epoch();
        let (epoch, step) = (self.step / steps, self.step % steps);
        let rows = self.scan.batch(epoch, step).expect("a step of the epoch");
        self.step += 1;
        self.trainer
            .step(&self.images, &rows, epoch, step)
            .expect("a step")
            .live_rows
    }
}

/// A product a·b or, `transposed`, aᵀ·b or a·bᵀ as the backward pass makes it.
struct Product {
    a: Tensor<Flex, 2>,
    b: Tensor<Flex, 2>,
}

/// The matrix products of a step.
struct Products {
    products: Vec<Product>,
    flop: f64,
}

impl Products {
    fn of(net: &str, live: usize) -> Self {
        const ALL: usize = 150;
        const BATCH: usize = 50;
        // (rows forward, rows backward, in, out, whether the input's gradient is needed)
        let layers: &[(usize, usize, usize, usize, bool)] = match net {
            "linear" => &[
                (BATCH, BATCH, 784, 200, false),
                (ALL, live, 200, 784, false),
            ],
            "nonlinear" => &[
                (BATCH, BATCH, 784, 200, false),
                (BATCH, BATCH, 200, 200, true),
                (BATCH, BATCH, 200, 200, true),
                (ALL, live, 200, 200, false),
                (ALL, live, 200, 200, true),
                (ALL, live, 200, 784, true),
            ],
            _ => &[
                (BATCH, BATCH, 784, 200, false),
                (ALL, live, 200, 200, false),
                (ALL, live, 200, 200, false),
                (ALL, live, 200, 784, false),
            ],
        };
        let mut stream = Stream::new(1, Purpose::new("bench"), [0, 0]);
        let mut matrix = |rows: usize, columns: usize| {
            helmholtz_distributions::uniforms::<Flex>(
                [rows, columns],
                DType::F32,
                &Default::default(),
                &mut stream,
            )
        };
        let mut all = Self {
            products: Vec::new(),
            flop: 0.0,
        };
        for &(forward, backward, inputs, outputs, input_gradient) in layers {
            let weight = matrix(inputs, outputs);
            all.push(matrix(forward, inputs), weight.clone());
            all.push(
                matrix(backward, inputs).transpose(),
                matrix(backward, outputs),
            );
            if input_gradient {
                all.push(matrix(backward, outputs), weight.transpose());
            }
        }
        all
    }

    fn push(&mut self, a: Tensor<Flex, 2>, b: Tensor<Flex, 2>) {
        let ([m, k], [_, n]) = (a.dims(), b.dims());
        self.flop += 2.0 * (m * k * n) as f64;
        self.products.push(Product { a, b });
    }

    fn run(&self) {
        for product in &self.products {
            black_box(product.a.clone().matmul(product.b.clone()));
        }
    }
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
    for net in SbnConfig::NAMES {
        let mut bench = Bench::new(net);
        let products = Products::of(net, bench.live_rows);
        criterion.bench_function(&format!("step/{net}"), |b| b.iter(|| bench.step()));
        criterion.bench_function(&format!("products/{net}"), |b| b.iter(|| products.run()));
        let (mut steps, mut alone) = (Vec::new(), Vec::new());
        for _ in 0..400 {
            steps.push(seconds(|| {
                bench.step();
            }));
            alone.push(seconds(|| products.run()));
        }
        let (step, alone) = (median(steps), median(alone));
        println!(
            "{net}: products/step {:.3}, {:.0} steps/s, products {:.0} steps/s at {:.0} GF/s, {} of 150 rows differentiated",
            alone / step,
            1.0 / step,
            1.0 / alone,
            products.flop / alone / 1e9,
            bench.live_rows,
        );
    }
}

criterion_group!(benches, benchmark);
criterion_main!(benches);
