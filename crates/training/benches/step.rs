//! One training step of stage II (batch 50, K = 2, so 150 forward rows) beside its own matrix products made densely, for the
//! three nets of table 1, on one thread. The products are those of the step, all operands as numbers: the same shapes and layouts,
//! backward over the rows that the step differentiates. The step makes those of bits by packed bits, so that the ratio may pass 1. Beside criterion's times, the ratio products ÷ step is measured in turn, and
//! printed with the products' speed, so that a slow product cannot flatter it.

use std::hint::black_box;
use std::time::Instant;

use burn::backend::Autodiff;
use burn::tensor::DType;
use burn_flex::Flex;
use criterion::{Criterion, criterion_main};
use helmholtz_datasets::{DatasetName, Images, Locator, load};
use helmholtz_estimators::Method;
use helmholtz_random::{Purpose, Stream};
use helmholtz_samplers::{Scan, ScanOrder};
use helmholtz_sbn::{Sbn, SbnConfig};
use helmholtz_training::{Betas, ChainStart, Optimizer, TrainConfig, Trainer};

type Model = Sbn<Autodiff<Flex>>;

fn config() -> TrainConfig {
    TrainConfig {
        seed: 1,
        method: "jsa".parse::<Method>().expect("a method"),
        epochs: 1,
        switch_epoch: 0,
        chain_start: ChainStart::Proposal,
        batch: 50,
        particles: 2,
        analytic_kl: false,
        optimizer: Optimizer::Adam,
        betas: Betas::default(),
        learning_rate: 3e-4,
        inference_rate: None,
        prior_rate: None,
        sleep_every: None,
        gradient_beta: None,
        patience: None,
        scan: ScanOrder::Shuffled,
        check_every: 1,
        valid_samples: 1,
        valid_images: None,
        test_samples: 1,
        test_images: None,
        train_images: None,
        final_samples: vec![],
        test_at_checks: true,
        checkpoint_seconds: 1e9,
        threads: 1,
        device_name: "cpu".into(),
    }
}

/// A trainer in stage II and its data, after enough steps for an ordinary acceptance rate.
struct Bench {
    trainer: Trainer<Autodiff<Flex>, Model>,
    images: Images,
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
        let trainer = Trainer::new(model, config(), &images, Default::default()).expect("a store");
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

/// A product of row-major matrices a `[m, k]` and b `[k, n]`, either of which may be read transposed, into memory that
/// is there already.
struct Product {
    shape: [usize; 3],
    transposed: [bool; 2],
    a: Vec<f32>,
    b: Vec<f32>,
    output: Vec<f32>,
}

/// The matrix products of a step and nothing else.
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
        let mut all = Self {
            products: Vec::new(),
            flop: 0.0,
        };
        for &(forward, backward, inputs, outputs, input_gradient) in layers {
            all.push([forward, inputs, outputs], [false, false]);
            all.push([inputs, backward, outputs], [true, false]);
            if input_gradient {
                all.push([backward, outputs, inputs], [false, true]);
            }
        }
        all
    }

    fn push(&mut self, shape @ [m, k, n]: [usize; 3], transposed: [bool; 2]) {
        let mut stream = Stream::new(1, Purpose::new("bench"), [m as u64, k as u64]);
        let mut matrix = |size: usize| {
            let mut values = vec![0.0; size];
            stream.fill_uniform_f32(&mut values);
            values
        };
        self.flop += 2.0 * (m * k * n) as f64;
        let (a, b, output) = (matrix(m * k), matrix(k * n), matrix(m * n));
        self.products.push(Product {
            shape,
            transposed,
            a,
            b,
            output,
        });
    }

    fn run(&mut self) {
        for Product {
            shape: [m, k, n],
            transposed,
            a,
            b,
            output,
        } in &mut self.products
        {
            let strides = |rows: usize, columns: usize, transposed: bool| match transposed {
                true => (rows as isize, 1),
                false => (1, columns as isize),
            };
            let (a_column, a_row) = strides(*m, *k, transposed[0]);
            let (b_column, b_row) = strides(*k, *n, transposed[1]);
            // SAFETY: each matrix has as many elements as its shape says, in row-major order or transposed.
            unsafe {
                gemm::gemm(
                    *m,
                    *n,
                    *k,
                    output.as_mut_ptr(),
                    1,
                    *n as isize,
                    false,
                    a.as_ptr(),
                    a_column,
                    a_row,
                    b.as_ptr(),
                    b_column,
                    b_row,
                    0.0f32,
                    1.0f32,
                    false,
                    false,
                    false,
                    gemm::Parallelism::None,
                );
            }
            black_box(output);
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
    for net in ["linear", "nonlinear", "two-layers"] {
        let mut bench = Bench::new(net);
        let mut products = Products::of(net, bench.live_rows);
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

mod group {
    #![allow(missing_docs)] // what the macro makes
    use super::benchmark;
    criterion::criterion_group!(benches, benchmark);
}
criterion_main!(group::benches);
