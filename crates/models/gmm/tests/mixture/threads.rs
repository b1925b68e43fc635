//! A step in parts at the published size: threads change no bit of its gradient.

use burn::backend::Autodiff;
use burn::module::{ModuleVisitor, Param};
use burn::optim::GradientsParams;
use helmholtz_apg::{ApgError, Sampler, Streams, gradients_in_parts};
use helmholtz_gmm::{GmmConfig, Scheme};
use helmholtz_samplers::resampling::{Policy, Systematic};

use crate::*;

type A = Autodiff<Flex>;

/// All gradients, in visiting order.
struct Gradients<'a>(&'a GradientsParams, Vec<f64>);

impl ModuleVisitor<A> for Gradients<'_> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<A, D>>) {
        let gradient = self.0.get::<Flex, D>(param.id).expect("a gradient");
        self.1.extend(numbers(gradient));
    }
}

fn gradient(threads: usize) -> Vec<f64> {
    let (config, device) = (GmmConfig::default(), Default::default());
    let model = config.init::<A>(1, DType::F32, &device).expect("a mixture");
    let sampler = Sampler::new(10, 3, Policy::Always, Systematic).expect("a sampler");
    let part = |model: &Gmm<A>, part: usize| -> Result<_, ApgError> {
        let instances: Vec<u64> = (0..3).map(|i| (part * 3 + i) as u64).collect();
        let x = config
            .simulate::<A>(5, &instances, 60, DType::F32, &device)
            .x;
        let mut streams = Streams::new(5, 0).part(part);
        let blocks = Scheme::Apg.blocks();
        let (gradients, _) = sampler.gradients(model, &x, &blocks, &mut streams)?;
        Ok((gradients, ()))
    };
    let found = gradients_in_parts(&model, &[0.25; 4], threads, part);
    let (gradients, _) = found.expect("finite weights");
    let mut all = Gradients(&gradients, vec![]);
    model.visit(&mut all);
    all.1
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let alone = gradient(1);
    assert_eq!(alone.len(), 302);
    assert!(alone.iter().any(|&g| g != 0.0));
    for threads in [2, 3, 8] {
        for _ in 0..5 {
            assert_eq!(gradient(threads), alone, "{threads} threads");
        }
    }
}
