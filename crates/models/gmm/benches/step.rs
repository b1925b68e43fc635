//! One training step of the published mixture: K = 10 sweeps, L = 10 particles, B = 20 instances of N = 60 data, Adam. And the
//! same run without gradients. One thread.

use burn::backend::Autodiff;
use burn::optim::{AdamConfig, Optimizer};
use burn::tensor::{DType, Tensor};
use burn_flex::Flex;
use criterion::{Criterion, criterion_main};
use helmholtz_apg::{Sampler, Streams};
use helmholtz_gmm::{GmmConfig, Scheme};
use helmholtz_samplers::resampling::{Policy, Systematic};

fn batch<B: helmholtz_ops::Backend>(device: &B::Device) -> Tensor<B, 3> {
    let instances: Vec<u64> = (0..20).collect();
    let config = GmmConfig::default();
    config.simulate(1, &instances, 60, DType::F32, device).x
}

fn benchmark(criterion: &mut Criterion) {
    let sampler = Sampler::new(10, 10, Policy::Always, Systematic).expect("a sampler");
    let device = Default::default();
    let start = |seed| GmmConfig::default().init::<Autodiff<Flex>>(seed, DType::F32, &device);
    let mut model = Some(start(1).expect("a mixture"));
    let mut adam = AdamConfig::new().with_beta_2(0.99).init();
    let x = batch(&device);
    let mut step = 0;
    criterion.bench_function("step/gmm", |b| {
        b.iter(|| {
            let present = model.take().expect("a model");
            let mut streams = Streams::new(1, step);
            let (gradients, _) = sampler
                .gradients(&present, &x, &Scheme::Apg.blocks(), &mut streams)
                .expect("weights");
            model = Some(adam.step(2.5e-4, present, gradients));
            step += 1;
        });
    });
    let model = GmmConfig::default()
        .init::<Flex>(1, DType::F32, &device)
        .expect("a mixture");
    let x = batch::<Flex>(&device);
    criterion.bench_function("run/gmm", |b| {
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
}

mod group {
    #![allow(missing_docs)] // what the macro makes
    use super::benchmark;
    criterion::criterion_group!(benches, benchmark);
}
criterion_main!(group::benches);
