//! One training step of the tracker, at the published setting (K = 5, L = 20, B = 5, T = 10, D = 3, 96 x 96 pixels) and at the preset
//! for a CPU (K = 3, L = 10, B = 5, T = 6, D = 2, 48 x 48), with the correlations and the matrix products of a step alone. One
//! thread, but where groups of particles are shared between two.
//!
//! Processor time and shares are measured in turn with the step and printed, medians over rounds, which other work on the
//! machine disturbs less.

use std::hint::black_box;
use std::time::Instant;

use burn::backend::Autodiff;
use burn::optim::{Optimizer, adaptor::OptimizerAdaptor};
use burn::tensor::{DType, Tensor, TensorData};
use burn_flex::Flex;
use criterion::{Criterion, criterion_main};
use helmholtz_apg::{Block, Sampler, Streams};
use helmholtz_ops::{Backend, cross_correlation};
use helmholtz_random::Stream;
use helmholtz_samplers::resampling::{Policy, Systematic};
use helmholtz_tracker::{Bounce, Canvas, Scheme, Tracker, TrackerConfig, Video};
use helmholtz_training::Adam;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const GROUPS: usize = 2;

struct Setting {
    name: &'static str,
    config: TrackerConfig,
    sweeps: usize,
    particles: usize,
    batch: usize,
    frames: usize,
    digits: usize,
    rounds: usize,
    /// Steps between two looks at the processor's time, which the system counts in ticks of milliseconds.
    steps: usize,
}

impl Setting {
    fn video<B: Backend>(&self) -> Video<B> {
        let canvas = self.config.canvas;
        // Rings, which are about as sparse as digits.
        let middle = canvas.digit as f64 / 2.0 - 0.5;
        let ring = (0..canvas.digit_area()).map(|at| {
            let [row, column] = [at / canvas.digit, at % canvas.digit].map(|i| i as f64 - middle);
            let off = row.hypot(column) - middle / 2.0;
            (-off * off).exp() as f32
        });
        let ring: Vec<f32> = ring.collect();
        let bounce = Bounce {
            canvas,
            frames: self.frames,
            digits: self.digits,
            ..Bounce::default()
        };
        let identities = bounce.identities(1, 1).expect("one image");
        let pixels = (0..self.batch as u64).flat_map(|number| {
            let sequence = bounce.sequence(1, number, &identities, |_| &ring);
            sequence.frames.into_iter().flatten()
        });
        let shape = [self.batch, self.frames, canvas.area()];
        let data = TensorData::new(pixels.collect::<Vec<f32>>(), shape);
        Video {
            frames: Tensor::from_data(data, &Default::default()),
            digits: self.digits,
        }
    }

    /// A step's correlations: of each digit in the one-shot proposal, which the particles share in the first; in each move of all
    /// digits along the new and but the first along the old positions.
    fn correlations(&self) -> Vec<(usize, [Tensor<Flex, 3>; 2])> {
        let Canvas { side, digit, .. } = self.config.canvas;
        let device = Default::default();
        let pair = |times: usize, images: usize, templates: usize| {
            let images = Tensor::ones([images, side, side], &device);
            (
                times,
                [images, Tensor::ones([templates, digit, digit], &device)],
            )
        };
        let (all, moves) = (self.particles * self.batch, self.sweeps - 1);
        vec![
            pair(self.frames, self.batch, 1),
            pair(self.frames * (self.digits - 1), all, 1),
            pair(self.frames * moves, self.batch, all),
            pair(2 * self.frames * moves * (self.digits - 1), all, all),
        ]
    }

    /// A step's large matrix products: how often, and pairs of matrices.
    fn products(&self) -> Vec<(usize, [Tensor<Flex, 2>; 2])> {
        let canvas = self.config.canvas;
        let (all, moves) = (self.particles * self.batch, self.sweeps - 1);
        let responses = (canvas.room() + 1).pow(2);
        let device = Default::default();
        let product = |times: usize, m: usize, k: usize, n: usize| {
            let [a, b] = [[m, k], [k, n]].map(|shape| Tensor::ones(shape, &device));
            (times, [a, b])
        };
        let [wide, narrow] = self.config.digit_hidden;
        let (own, crops) = (canvas.digit_area(), all * self.frames * self.digits);
        let searches = self.frames * self.digits;
        vec![
            // Forward, differentiated in the weights, scored in reverse.
            product(
                searches * (2 * self.sweeps + moves),
                all,
                responses,
                self.config.position_hidden[0],
            ),
            // What is seen: forward and in the weights, and the layer above in its inputs too.
            product(2 * self.sweeps, crops, own, wide),
            product(3 * self.sweeps, crops, wide, narrow),
            // Decoded for each move, the old appearances too in that of appearances, and differentiated.
            product(
                3 * (self.frames + 1) * moves + moves + 3,
                all * self.digits,
                wide,
                own,
            ),
        ]
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

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Training steps: the particles whole, or in groups on so many threads, as experiments make them.
fn steps(setting: &Setting, threads: Option<usize>) -> impl FnMut() {
    let template = vec![0.13; setting.config.canvas.digit_area()];
    let device = Default::default();
    let start = setting.config.init(1, &template, DType::F32, &device);
    let mut model: Option<Tracker<Autodiff<Flex>>> = Some(start.expect("a tracker"));
    let mut adam = OptimizerAdaptor::from(Adam::default().with_betas([0.9, 0.99]));
    let x = setting.video::<Autodiff<Flex>>();
    let (particles, sweeps) = (setting.particles, setting.sweeps);
    let sampler = Sampler::new(particles, sweeps, Policy::Always, Systematic).expect("a sampler");
    let blocks = Scheme::Apg.blocks::<Autodiff<Flex>, Stream>(setting.frames);
    let mut number = 0;
    move || {
        let blocks: Vec<&dyn Block<_, _, _>> = blocks.iter().map(|block| &**block).collect();
        let present = model.take().expect("a model");
        let streams = |group| Streams::new(1, number).part(group);
        let found = match threads {
            None => sampler.gradients(&present, &x, &blocks, &mut streams(0)),
            Some(threads) => {
                let streams = (0..GROUPS).map(streams).collect();
                sampler.gradients_in_groups(&present, &x, &blocks, streams, threads)
            }
        };
        let (gradients, _) = found.expect("weights");
        model = Some(adam.step(1e-4, present, gradients));
        number += 1;
    }
}

/// Prints what groups cost and what threads gain: ratios of wall time, medians over steps made in turn.
fn print_groups(setting: &Setting, mut whole: impl FnMut()) {
    let [mut one, mut two] = [1, 2].map(|threads| steps(setting, Some(threads)));
    let wall = |work: &mut dyn FnMut()| {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64()
    };
    let rounds = 2 * setting.rounds - 1;
    let rounds = (0..rounds).map(|_| [wall(&mut whole), wall(&mut one), wall(&mut two)]);
    let rounds: Vec<[f64; 3]> = rounds.collect();
    let ratio = |of: fn(&[f64; 3]) -> f64| median(rounds.iter().map(of).collect());
    println!(
        "{}: whole/groups {:.3}, one thread/two {:.3} (medians of {})",
        setting.name,
        ratio(|[whole, one, _]| whole / one),
        ratio(|[_, one, two]| one / two),
        rounds.len(),
    );
}

fn benchmark(criterion: &mut Criterion) {
    let settings = [
        Setting {
            name: "small",
            config: TrackerConfig::small(),
            sweeps: 3,
            particles: 10,
            batch: 5,
            frames: 6,
            digits: 2,
            rounds: 11,
            steps: 4,
        },
        Setting {
            name: "paper",
            config: TrackerConfig::default(),
            sweeps: 5,
            particles: 20,
            batch: 5,
            frames: 10,
            digits: 3,
            rounds: 3,
            steps: 1,
        },
    ];
    let measured = std::env::args().any(|argument| argument == "--bench");
    let measured = measured && processor_time().is_some();
    for setting in settings {
        let mut step = steps(&setting, None);
        let (correlations, products) = (setting.correlations(), setting.products());
        let correlate = || {
            for (times, [images, templates]) in &correlations {
                (0..*times).for_each(|_| {
                    black_box(cross_correlation(images.clone(), templates.clone()));
                });
            }
        };
        let multiply = || {
            for (times, [a, b]) in &products {
                (0..*times).for_each(|_| {
                    black_box(a.clone().matmul(b.clone()));
                });
            }
        };
        if measured {
            let steps = setting.steps;
            let several =
                |work: &mut dyn FnMut()| seconds(|| (0..steps).for_each(|_| work())) / steps as f64;
            let round = |_| {
                let [correlations, products] =
                    [several(&mut || correlate()), several(&mut || multiply())];
                [several(&mut step), correlations, products]
            };
            let rounds = (0..setting.rounds).map(round);
            let rounds: Vec<[f64; 3]> = rounds.collect();
            let share = |of: usize| median(rounds.iter().map(|r| r[of] / r[0]).collect());
            println!(
                "{}: {:.4} s of processor time a step, correlations {:.3} of it, products {:.3} (medians of {})",
                setting.name,
                median(rounds.iter().map(|r| r[0]).collect()),
                share(1),
                share(2),
                setting.rounds,
            );
            print_groups(&setting, &mut step);
        }
        if setting.name == "small" || !measured {
            criterion.bench_function(&format!("step/{}", setting.name), |b| b.iter(&mut step));
        }
    }
}

mod group {
    #![allow(missing_docs)] // what the macro makes
    use super::benchmark;
    criterion::criterion_group!(benches, benchmark);
}
criterion_main!(group::benches);
