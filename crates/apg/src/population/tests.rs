//! Gathering and weighing.

use burn_flex::Flex;
use helmholtz_random::{Draws, Purpose, Stream};
use helmholtz_samplers::resampling::*;

use super::*;
use crate::LatentMapper;

const INSTANCES: usize = 3;
const PARTICLES: usize = 7;

fn tensor<const D: usize>(values: Vec<f64>, shape: [usize; D]) -> Tensor<Flex, D> {
    let data = TensorData::new(values, shape);
    Tensor::from_data(data, (&Default::default(), DType::F64))
}

crate::particle! {
    /// Latents of all ranks that say whose they are.
    struct Tagged<B> {
        id: 2,
        vector: 3,
        matrix: 4,
        cube: 5,
    }
}

crate::particle! {
    /// One latent.
    struct One<B> {
        own: 2,
    }
}

impl Tagged<Flex> {
    /// Row l of instance b is tagged l + 100 b.
    fn new() -> Self {
        let tag = |i: usize| (i / INSTANCES + 100 * (i % INSTANCES)) as f64;
        let id = tensor(
            (0..PARTICLES * INSTANCES).map(tag).collect(),
            [PARTICLES, INSTANCES],
        );
        let vector = id.clone().unsqueeze_dim::<3>(2);
        let matrix = vector.clone().unsqueeze_dim::<4>(2);
        Self {
            cube: matrix
                .clone()
                .unsqueeze_dim::<5>(2)
                .expand([PARTICLES, INSTANCES, 2, 2, 2]),
            matrix: matrix.expand([PARTICLES, INSTANCES, 2, 3]),
            vector: vector.expand([PARTICLES, INSTANCES, 4]),
            id,
        }
    }

    /// Whether all latents of each particle have one tag.
    fn agree(&self) -> bool {
        let id: Vec<f64> = self.id.to_data().iter().collect();
        let latents = [
            self.vector.to_data(),
            self.matrix.to_data(),
            self.cube.to_data(),
        ];
        latents.iter().all(|latent| {
            let values: Vec<f64> = latent.iter().collect();
            let own = values.chunks_exact(values.len() / id.len());
            own.zip(&id).all(|(own, tag)| own.iter().all(|v| v == tag))
        })
    }
}

/// A particle that forgets to gather its matrix.
#[derive(Clone)]
struct Forgetful(Tagged<Flex>);

impl Particle for Forgetful {
    type Backend = Flex;

    fn map(self, mapper: &mut impl LatentMapper<Flex>) -> Self {
        let matrix = self.0.matrix.clone();
        let mapped = self.0.map(mapper);
        Self(Tagged { matrix, ..mapped })
    }
}

/// A hundred rounds of random weights and resampling.
fn resampled<S: Particle<Backend = Flex>>(
    state: S,
    resampler: impl Resampler<Stream>,
) -> Population<S> {
    let mut stream = Stream::new(13, Purpose::new("test"), [0, 0]);
    let smc = Smc::new(resampler, Policy::EssBelow(0.9)).expect("a policy");
    let shape = [PARTICLES, INSTANCES];
    let mut population = Population::new(state, tensor(vec![0.0; 21], shape)).expect("weights");
    for _ in 0..100 {
        let log_v: Vec<f64> = (0..21).map(|_| 0.3 * stream.normal()).collect();
        let state = population.state().clone();
        population
            .extend(state, tensor(log_v, [PARTICLES, INSTANCES, 1]))
            .expect("weights");
        population.resample(&smc, &mut stream).expect("weights");
    }
    population
}

#[test]
fn test_13_all_latents_of_a_particle_stay_together() {
    let resamplers: [Box<dyn Resampler<Stream>>; 5] = [
        Box::new(Multinomial),
        Box::new(Residual),
        Box::new(Stratified),
        Box::new(Systematic),
        Box::new(Ssp),
    ];
    for resampler in resamplers {
        let population = resampled(Tagged::new(), resampler);
        let state = population.state();
        assert!(state.agree());
        let tags: Vec<f64> = state.id.to_data().iter().collect();
        for (i, tag) in tags.iter().enumerate() {
            assert_eq!(*tag as usize / 100, i % INSTANCES, "of its own instance");
        }
    }
}

#[test]
fn test_13_a_latent_left_behind_is_noticed() {
    assert!(
        !resampled(Forgetful(Tagged::new()), Systematic)
            .state
            .0
            .agree()
    );
}

#[test]
fn ancestors_are_of_the_instance_and_there_may_be_another_number() {
    let state = Tagged::new().gather(&[6, 0, 2, 6, 5, 1], INSTANCES);
    let tags: Vec<f64> = state.id.to_data().iter().collect();
    assert_eq!(tags, [6.0, 100.0, 202.0, 6.0, 105.0, 201.0]);
    assert!(state.agree());
}

/// Everyone takes the particle after it.
struct Turn;

impl Resampler<Stream> for Turn {
    fn resample(
        &self,
        _: &[f64],
        _: &mut Stream,
        ancestors: &mut [u32],
    ) -> Result<(), SamplerError> {
        let count = ancestors.len() as u32;
        (0..count)
            .zip(ancestors)
            .for_each(|(l, own)| *own = (l + 1) % count);
        Ok(())
    }
}

#[test]
fn each_particle_of_each_instance_takes_its_ancestor() {
    let mut stream = Stream::new(13, Purpose::new("test"), [0, 0]);
    let smc = Smc::new(Turn, Policy::Always).expect("a policy");
    let log_w = tensor(vec![0.0; 21], [PARTICLES, INSTANCES]);
    let mut population = Population::new(Tagged::new(), log_w).expect("weights");
    population.resample(&smc, &mut stream).expect("weights");
    let tags: Vec<f64> = population.state().id.to_data().iter().collect();
    for (i, tag) in tags.iter().enumerate() {
        let expected = (i / INSTANCES + 1) % PARTICLES + 100 * (i % INSTANCES);
        assert_eq!(*tag as usize, expected);
    }
    assert!(population.state().agree());
}

#[test]
fn a_part_is_weighed_by_what_came_in_and_its_own_weight() {
    // W = (1/4, 3/4) of one instance, v of two parts = (3, 1) and (1, 1).
    let log_w = tensor(vec![0.0, 3f64.ln()], [2, 1]);
    let state: Tensor<Flex, 2> = tensor(vec![0.0; 2], [2, 1]);
    let mut population = Population::new(One { own: state.clone() }, log_w).expect("weights");
    let log_v = tensor(vec![3f64.ln(), 0.0, 0.0, 0.0], [2, 1, 2]);
    let weights = population
        .extend(One { own: state }, log_v)
        .expect("weights");
    let weights: Vec<f64> = weights.into_data().iter().collect();
    for (found, expected) in weights.into_iter().zip([0.5, 0.25, 0.5, 0.75]) {
        assert!((found - expected).abs() < 1e-12, "{found} {expected}");
    }
}

#[test]
fn moved_particles_keep_their_weights() {
    let log_w = tensor(vec![0.0, 3f64.ln()], [2, 1]);
    let one = |value| One {
        own: tensor(vec![value; 2], [2, 1]),
    };
    let population = Population::new(one(0.0), log_w).expect("weights");
    let evidence = population.log_evidence();
    let moved = population.with_state(one(7.0));
    assert_eq!(moved.log_evidence(), evidence);
    assert_eq!(moved.state().own.to_data().iter::<f64>().sum::<f64>(), 14.0);
}

#[test]
fn test_14_effective_sample_sizes_and_evidence_of_extreme_weights() {
    // Equal, one of weight one, and halves, each at the ends of what f64 can exponentiate.
    let columns = [
        [800.0; 4],
        [-800.0, 800.0, -800.0, -800.0],
        [-900.0, -800.0, -800.0, -900.0],
    ];
    let rows = (0..4).flat_map(|l| columns.map(|column| column[l]));
    let log_w = tensor(rows.collect(), [4, 3]);
    let state = Tagged::new().gather(&[0; 12], INSTANCES);
    let population = Population::new(state, log_w.clone()).expect("weights");
    let ess = population.effective_sample_size();
    assert_eq!(ess[..2], [4.0, 1.0]);
    assert!((ess[2] - 2.0).abs() < 1e-12);
    let expected = [800.0, 800.0 - 4f64.ln(), -800.0 - 2f64.ln()];
    for (found, expected) in population.log_evidence().into_iter().zip(expected) {
        assert!((found - expected).abs() < 1e-12);
    }
    let means = population.mean(log_w);
    for (found, expected) in means.into_iter().zip([800.0, 800.0, -800.0]) {
        assert!((found - expected).abs() < 1e-9);
    }
}
