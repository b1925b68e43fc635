//! Particles of a batch of instances, with their weights.

use burn::tensor::{DType, Device, Tensor, TensorData, activation, backend::Backend};
use helmholtz_samplers::resampling::Resampler;
use helmholtz_samplers::smc::{self, Smc};
use helmholtz_samplers::{SamplerError, effective_sample_size};

use crate::{ApgError, Particle, Position};

/// Weights that an instance cannot go on with.
#[derive(Debug)]
pub(crate) struct InvalidWeights {
    pub instance: usize,
    pub source: SamplerError,
}

impl InvalidWeights {
    /// The error, with its place in a run.
    pub(crate) fn at(self, position: Position, block: String, run: &str) -> ApgError {
        ApgError::Weights {
            block,
            sweep: position.sweep,
            instance: self.instance,
            run: run.to_owned(),
            source: self.source,
        }
    }
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
    /// Particles of the one-shot proposal, with log-weights `[L, B]`.
    pub(crate) fn new(state: S, log_w: Tensor<S::Backend, 2>) -> Result<Self, InvalidWeights> {
        let instances = columns(log_w).into_iter().enumerate();
        let instances = instances.map(|(instance, log_w)| {
            smc::Population::new(vec![(); log_w.len()], log_w)
                .map_err(|source| InvalidWeights { instance, source })
        });
        Ok(Self {
            instances: instances.collect::<Result<_, _>>()?,
            state,
        })
    }

    /// The same weights, for particles that a kernel has moved which leaves p(z | x) invariant.
    pub(crate) fn with_state(self, state: S) -> Self {
        Self { state, ..self }
    }

    /// Particles that moved, with the logs `[L, B, N]` of their incremental weights by part, whose sum weighs a particle.
    /// Returns the weights of each part by itself, self-normalised over the particles: W_n ∝ W v_n, `[L, B, N]`.
    pub(crate) fn extend(
        &mut self,
        state: S,
        log_v: Tensor<S::Backend, 3>,
    ) -> Result<Tensor<S::Backend, 3>, InvalidWeights> {
        let log_v = log_v.detach();
        let [particles, instances, _] = log_v.dims();
        let incoming = self.log_weight_tensor(log_v.dtype(), &log_v.device());
        let whole = log_v.clone().sum_dim(2).reshape([particles, instances]);
        self.state = state;
        let columns = columns(whole).into_iter();
        for (instance, (log_v, population)) in columns.zip(&mut self.instances).enumerate() {
            population
                .reweight(&log_v)
                .map_err(|source| InvalidWeights { instance, source })?;
        }
        let logs = log_v + incoming;
        let shape = logs.dims();
        // As rows of particles, along which a broadcast is fast.
        let rows: Tensor<S::Backend, 2> = logs.reshape([particles as i32, -1]);
        Ok(activation::softmax(rows, 0).reshape(shape))
    }

    /// Resamples the instances whose weights ask for it, one after the other.
    pub(crate) fn resample<C: ?Sized, R: Resampler<C>>(
        &mut self,
        smc: &Smc<R>,
        chance: &mut C,
    ) -> Result<(), InvalidWeights> {
        let (particles, batch) = (self.particles(), self.instances.len());
        let mut ancestors: Vec<u32> = (0..particles as u32)
            .flat_map(|l| std::iter::repeat_n(l, batch))
            .collect();
        let mut moved = false;
        for (instance, population) in self.instances.iter_mut().enumerate() {
            let own = smc
                .resample_if_wanted(population, chance)
                .map_err(|source| InvalidWeights { instance, source })?;
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
    pub fn log_weight_tensor(
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
mod tests;
