//! Particles of a batch of instances, with their weights.

use burn::tensor::{DType, Device, Tensor, TensorData, backend::Backend};
use helmholtz_samplers::resampling::Resampler;
use helmholtz_samplers::smc::{self, Smc};
use helmholtz_samplers::{SamplerError, effective_sample_size};

use crate::Particle;

/// Weights that an instance cannot go on with.
#[derive(Debug)]
pub(crate) struct Refused {
    pub instance: usize,
    pub source: SamplerError,
}

/// L particles of each of B instances, an independent population each: properly weighted, so that for every f
///
/// > E\[Ẑ Σ_l W_l f(z_l)\] = p_θ(x) E\[f(z) | x\].
#[derive(Clone, Debug)]
pub struct Population<S> {
    state: S,
    /// The weights and Ẑ of each instance; its states lie in `state`.
    instances: Vec<smc::Population<()>>,
}

impl<S: Particle> Population<S> {
    /// Particles with log-weights `[L, B]`.
    pub(crate) fn new(state: S, log_w: Tensor<S::Backend, 2>) -> Result<Self, Refused> {
        let instances = columns(log_w).into_iter().enumerate();
        let instances = instances.map(|(instance, log_w)| {
            smc::Population::new(vec![(); log_w.len()], log_w)
                .map_err(|source| Refused { instance, source })
        });
        Ok(Self {
            instances: instances.collect::<Result<_, _>>()?,
            state,
        })
    }

    /// Particles that moved, with the logs `[L, B]` of their incremental weights.
    pub(crate) fn extend(&mut self, state: S, log_v: Tensor<S::Backend, 2>) -> Result<(), Refused> {
        self.state = state;
        let columns = columns(log_v).into_iter();
        for (instance, (log_v, population)) in columns.zip(&mut self.instances).enumerate() {
            population
                .reweight(&log_v)
                .map_err(|source| Refused { instance, source })?;
        }
        Ok(())
    }

    /// Resamples the instances whose weights ask for it, one after the other.
    pub(crate) fn resample<C: ?Sized, R: Resampler<C>>(
        &mut self,
        smc: &Smc<R>,
        chance: &mut C,
    ) -> Result<(), Refused> {
        let (particles, batch) = (self.particles(), self.instances.len());
        let mut ancestors: Vec<u32> = (0..particles as u32)
            .flat_map(|l| std::iter::repeat_n(l, batch))
            .collect();
        let mut moved = false;
        for (instance, population) in self.instances.iter_mut().enumerate() {
            let own = smc
                .resample_if_wanted(population, chance)
                .map_err(|source| Refused { instance, source })?;
            for (l, ancestor) in own.into_iter().flatten().enumerate() {
                moved |= ancestor != l as u32;
                ancestors[l * batch + instance] = ancestor;
            }
        }
        if moved {
            self.state = self.state.clone().gather(&ancestors, batch);
        }
        Ok(())
    }

    /// The particles.
    pub fn state(&self) -> &S {
        &self.state
    }

    /// L.
    pub fn particles(&self) -> usize {
        self.instances.first().map_or(0, |i| i.states().len())
    }

    /// log W_l of each instance: normalised, nats.
    pub fn log_weights(&self) -> impl ExactSizeIterator<Item = &[f64]> {
        self.instances.iter().map(smc::Population::log_weights)
    }

    /// log Ẑ of each instance, nats. Ẑ is an unbiased estimate of p_θ(x).
    pub fn log_evidence(&self) -> Vec<f64> {
        let instances = self.instances.iter();
        instances.map(smc::Population::log_evidence).collect()
    }

    /// 1 / Σ W_l² of each instance, in [1, L].
    pub fn effective_sample_size(&self) -> Vec<f64> {
        self.log_weights().map(effective_sample_size).collect()
    }

    /// Σ_l W_l f_l of each instance, for values `[L, B]`. A particle of weight zero does not count, whatever its value.
    pub fn mean(&self, values: Tensor<S::Backend, 2>) -> Vec<f64> {
        let weighted = |(values, log_weights): (Vec<f64>, &[f64])| {
            let terms = values.iter().zip(log_weights);
            let terms = terms.filter(|(_, log_weight)| log_weight.is_finite());
            terms.map(|(value, l)| value * l.exp()).sum()
        };
        let columns = columns(values).into_iter();
        columns.zip(self.log_weights()).map(weighted).collect()
    }

    /// log W as a tensor `[L, B, 1]`.
    pub(crate) fn log_weight_tensor(
        &self,
        dtype: DType,
        device: &Device<S::Backend>,
    ) -> Tensor<S::Backend, 3> {
        let shape = [self.particles(), self.instances.len(), 1];
        let rows = (0..shape[0]).flat_map(|l| self.log_weights().map(move |own| own[l]));
        let data = TensorData::new(rows.collect::<Vec<f64>>(), shape);
        Tensor::from_data(data, (device, dtype))
    }
}

/// The columns of a tensor `[L, B]` on the host.
fn columns<B: Backend>(values: Tensor<B, 2>) -> Vec<Vec<f64>> {
    let [rows, columns] = values.dims();
    let values: Vec<f64> = values.into_data().iter().collect();
    (0..columns)
        .map(|b| (0..rows).map(|l| values[l * columns + b]).collect())
        .collect()
}

#[cfg(test)]
mod tests {
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
            let log_v = (0..21).map(|_| 0.3 * stream.normal()).collect();
            let state = population.state().clone();
            population
                .extend(state, tensor(log_v, shape))
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
}
