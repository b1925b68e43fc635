//! One training step: K = 10 sweeps, L = 10 particles, B = 20 instances of N = 200 data, Adam. And the same run without
//! gradients. One thread.

use burn::backend::Autodiff;
use burn::optim::{AdamConfig, Optimizer};
use burn::tensor::{DType, Tensor};
use burn_flex::Flex;
use criterion::{Criterion, criterion_main};
use helmholtz_apg::{Sampler, Streams};
use helmholtz_dmm::{DmmConfig, Rings, Scheme};
use helmholtz_samplers::resampling::{Policy, Systematic};

fn batch<B: helmholtz_ops::Backend>(device: &B::Device) -> Tensor<B, 3> {
    let instances: Vec<u64> = (0..20).collect();
    let simulated = Rings::default().simulate(1, &instances, 200, DType::F32, device);
    simulated.expect("rings").x
}

fn benchmark(criterion: &mut Criterion) {
    let sampler = Sampler::new(10, 10, Policy::Always, Systematic).expect("a sampler");
    let device = Default::default();
    let start = DmmConfig::released().init::<Autodiff<Flex>>(1, DType::F32, &device);
    let mut model = Some(start.expect("a model"));
    let mut adam = AdamConfig::new().with_beta_2(0.99).init();
    let x = batch(&device);
    let mut step = 0;
    let mut group = criterion.benchmark_group("dmm");
    group.sample_size(10);
    group.bench_function("step", |b| {
        b.iter(|| {
            let present = model.take().expect("a model");
            let mut streams = Streams::new(1, step);
            let (gradients, _) = sampler
                .gradients(&present, &x, &Scheme::Apg.blocks(), &mut streams)
                .expect("weights");
            model = Some(adam.step(5e-4, present, gradients));
            step += 1;
        });
    });
    let model = DmmConfig::released()
        .init::<Flex>(1, DType::F32, &device)
        .expect("a model");
    let x = batch::<Flex>(&device);
    group.bench_function("run", |b| {
        b.iter(|| {
            let mut streams = Streams::new(1, step);
            step += 1;
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
    group.finish();
}

mod group {
    #![allow(missing_docs)] // what the macro makes
    use super::benchmark;
    criterion::criterion_group!(benches, benchmark);
}
criterion_main!(group::benches);
