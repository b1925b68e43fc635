//! Whole runs of the sampler.

use burn::backend::Autodiff;
use burn::module::{Module, ModuleVisitor, Param};
use burn::optim::GradientsParams;
use burn::tensor::{DType, Tensor, TensorData};
use burn_flex::Flex;
use helmholtz_apg::{Block, Sampler, Streams};
use helmholtz_ops::Backend;
use helmholtz_random::Stream;
use helmholtz_samplers::resampling::{Policy, Systematic};
use helmholtz_tracker::{Bounce, Canvas, Scheme, Tracker, TrackerConfig, Video};

type A = Autodiff<Flex>;

fn bounce(frames: usize, digits: usize) -> Bounce {
    Bounce {
        canvas: Canvas {
            side: 16,
            digit: 6,
            ..Canvas::default()
        },
        frames,
        digits,
        ..Bounce::default()
    }
}

fn video<B: Backend>(bounce: Bounce, instances: u64) -> Video<B> {
    let collection: Vec<Vec<f32>> = (0..5)
        .map(|i| {
            (0..36)
                .map(|at| ((at * (i + 2)) % 7) as f32 / 7.0)
                .collect()
        })
        .collect();
    let identities = bounce.identities(1, collection.len()).expect("digits");
    let numbers = 0..instances;
    let pixels = numbers.flat_map(|number| {
        let sequence = bounce.sequence(1, number, &identities, |i| &collection[i as usize]);
        sequence.frames.into_iter().flatten()
    });
    let pixels: Vec<f32> = pixels.collect();
    let shape = [instances as usize, bounce.frames, bounce.canvas.area()];
    Video {
        frames: Tensor::from_data(TensorData::new(pixels, shape), &Default::default()),
        digits: bounce.digits,
    }
}

fn model<B: Backend>(canvas: Canvas) -> Tracker<B> {
    let config = TrackerConfig {
        canvas,
        appearance: 3,
        position_hidden: [12, 9],
        digit_hidden: [11, 8],
        ..TrackerConfig::default()
    };
    let device = Default::default();
    config
        .init(5, &[0.3; 36], DType::F32, &device)
        .expect("a tracker")
}

/// Test 18: the same nets on any number of frames and digits.
#[test]
fn test_18_any_number_of_frames_and_digits() {
    for (frames, digits) in [(1, 1), (2, 5), (30, 2), (100, 1), (100, 5)] {
        let bounce = bounce(frames, digits);
        let (model, x) = (model::<Flex>(bounce.canvas), video(bounce, 2));
        let sampler = Sampler::new(2, 2, Policy::Always, Systematic).expect("a sampler");
        for scheme in [Scheme::Apg, Scheme::Bpg] {
            let blocks = scheme.blocks::<Flex, Stream>(frames);
            let blocks: Vec<&dyn Block<_, _, _>> = blocks.iter().map(|b| &**b).collect();
            let mut streams = Streams::new(1, 0);
            let run = sampler.run(&model, &x, &blocks, &mut streams, |_, _, _| {});
            let run = run.expect("finite weights");
            assert_eq!(run.records.len(), 1 + frames + 1);
            let names: Vec<String> = blocks.iter().map(|block| block.name()).collect();
            let of_frames = (0..frames).map(|frame| format!("where {frame}"));
            let expected = of_frames.chain(["what".to_owned()]);
            assert_eq!(names, expected.collect::<Vec<_>>());
            let state = run.population.state();
            assert_eq!(state.position.dims(), [2, 2, frames, digits, 2]);
            assert!(
                run.population
                    .log_evidence()
                    .iter()
                    .all(|log| log.is_finite())
            );
        }
    }
}

/// Each net has a gradient that is finite and not nothing.
#[test]
fn every_net_learns() {
    let bounce = bounce(2, 2);
    let (model, x) = (model::<A>(bounce.canvas), video::<A>(bounce, 2));
    let sampler = Sampler::new(4, 3, Policy::Always, Systematic).expect("a sampler");
    let blocks = Scheme::Apg.blocks::<A, Stream>(2);
    let blocks: Vec<&dyn Block<_, _, _>> = blocks.iter().map(|b| &**b).collect();
    let (gradients, _) = sampler
        .gradients(&model, &x, &blocks, &mut Streams::new(1, 0))
        .expect("finite losses");
    struct Each<'a>(&'a GradientsParams, usize);
    impl ModuleVisitor<A> for Each<'_> {
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<A, D>>) {
            let gradient = self.0.get::<Flex, D>(param.id).expect("a gradient");
            let numbers: Vec<f64> = gradient.into_data().iter().collect();
            assert!(numbers.iter().all(|g| g.is_finite()) && numbers.iter().any(|&g| g != 0.0));
            self.1 += 1;
        }
    }
    let mut each = Each(&gradients, 0);
    model.visit(&mut each);
    // Weights and biases of 12 layers.
    assert_eq!(each.1, 24);
}
