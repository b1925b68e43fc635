//! The chain states of a batch: from the store to tensors, and back.

mod states;

use std::collections::BTreeMap;

use burn::tensor::{DType, Transaction};
use helmholtz_distributions::Noise;
use helmholtz_ops::{Backend, Values};
use helmholtz_random::Chance;
use helmholtz_samplers::{ChainStore, Latents, Layer, SamplerError};

use crate::{EstimateError, Particles, Propose};

use states::{pack, unpack, values_of, words_of};

pub(crate) use states::words;

/// The chains of a batch: a store, and the data index κ of each row of the batch.
pub struct Chains<'a, S: ?Sized> {
    /// One state a datum.
    pub store: &'a mut S,
    /// κ, the row of the store of each datum of the batch.
    pub rows: &'a [u32],
}

impl<S: ChainStore + ?Sized> Chains<'_, S> {
    /// Asserts that there is a chain for each datum, with a state of the model's latents.
    pub(crate) fn check(&self, latents: &Latents, batch: usize) -> Result<(), EstimateError> {
        self.check_latents(latents)?;
        if self.rows.len() != batch {
            return Err(EstimateError::OtherBatch {
                rows: self.rows.len(),
                batch,
            });
        }
        let known = |row: &&u32| (**row as usize) < self.store.len();
        match self
            .rows
            .iter()
            .filter(known)
            .find(|&&row| !self.store.is_initialised(row))
        {
            Some(&row) => Err(EstimateError::NotStarted { row }),
            None => Ok(()),
        }
    }

    fn check_latents(&self, latents: &Latents) -> Result<(), EstimateError> {
        match self.store.latents() == latents {
            true => Ok(()),
            false => Err(EstimateError::OtherLatents {
                store: self.store.latents().clone(),
                model: latents.clone(),
            }),
        }
    }

    /// The stored states as particles: `[batch, values]` a layer.
    pub(crate) fn load<B: Backend>(
        &self,
        dtype: DType,
        device: &B::Device,
    ) -> Result<Particles<B>, SamplerError> {
        let latents = self.store.latents();
        let mut packed = vec![0; self.rows.len() * latents.bytes_per_row()];
        self.store.load(self.rows, &mut packed)?;
        let layers = unpack(latents, &packed)?.into_iter().zip(latents.kinds());
        let layers = layers.map(|(words, layer)| {
            let shape = [self.rows.len(), values_of(layer)];
            Values::of_words(words, shape, (device, dtype))
        });
        Ok(Particles::new(layers.collect::<Vec<_>>()))
    }

    /// Writes back the particle in which each chain ended: `states[b]` of datum b, 0 meaning that it stayed. `layers`
    /// holds all particles as words `[rows, words]`, one array a layer. Rows that stayed are not touched.
    ///
    /// Where a datum comes twice in the batch the later of its chains counts, moved or not. To prefer the one that
    /// moved would select against states that are hard to leave, and the posterior would not be invariant.
    pub(crate) fn store(
        &mut self,
        states: &[usize],
        layers: &[Vec<u32>],
    ) -> Result<(), SamplerError> {
        let batch = self.rows.len();
        let ends = states.iter().zip(self.rows).enumerate();
        let last_of_row: BTreeMap<u32, usize> = ends
            .map(|(b, (&state, &row))| (row, state * batch + b))
            .collect();
        let moved: Vec<(u32, usize)> = last_of_row
            .into_iter()
            .filter(|&(_, particle)| particle >= batch)
            .collect();
        let latents = self.store.latents();
        let gather = |(words, layer): (&Vec<u32>, &Layer)| {
            let own = words_of(layer);
            let rows = moved.iter().map(|&(_, n)| &words[n * own..][..own]);
            rows.collect::<Vec<_>>().concat()
        };
        let gathered: Vec<Vec<u32>> = layers.iter().zip(latents.kinds()).map(gather).collect();
        let packed = pack(latents, &gathered)?;
        let rows: Vec<u32> = moved.iter().map(|&(row, _)| row).collect();
        self.store.store(&rows, &packed)
    }
}

/// A layer to be read with others: its words, or its numbers.
pub(crate) fn register<B: Backend>(all: Transaction<B>, layer: &Values<B>) -> Transaction<B> {
    match layer {
        Values::Bits(bits) => all.register(bits.words().clone()),
        Values::Numbers(numbers) => all.register(numbers.clone()),
    }
}

/// Starts the chains of these data anew, each at a draw from q(h | x), x `[batch, visible]`.
///
/// # Errors
/// [`EstimateError::OtherLatents`] if the store holds those of another model, [`EstimateError::Chains`] if it doesn't hold
/// these rows or the latents are real.
pub fn refresh<B, M, S>(
    model: &M,
    x: impl Into<Values<B>>,
    chains: &mut Chains<'_, S>,
    noise: &mut impl Noise,
) -> Result<(), EstimateError>
where
    B: Backend,
    M: Propose<B>,
    S: ChainStore + ?Sized,
{
    chains.check_latents(&model.latents())?;
    let x: Values<B> = x.into();
    let drawn = model.propose(&model.encode(x), None, 1, noise).particles;
    let transaction = Transaction::default();
    let transaction = drawn.layers().iter().fold(transaction, register);
    let layers: Vec<_> = transaction.execute().iter().map(words).collect();
    let packed = pack(chains.store.latents(), &layers)?;
    Ok(chains.store.store(chains.rows, &packed)?)
}

/// Starts the chains of these rows anew, each at a state that is uniform over all, whatever the datum.
///
/// # Errors
/// If the store doesn't hold these rows, or has real variables.
pub fn scatter<S>(chains: &mut Chains<'_, S>, chance: &mut impl Chance) -> Result<(), SamplerError>
where
    S: ChainStore + ?Sized,
{
    let latents = chains.store.latents();
    let mut uniform = |count: usize| chance.choose(&vec![0.0; count]).expect("equal weights");
    let layers = latents.kinds().iter().map(|layer| {
        let mut states = vec![0u32; chains.rows.len() * words_of(layer)];
        for row in states.chunks_exact_mut(words_of(layer)) {
            let mut set = |at: usize| row[at / 32] |= 1 << (at % 32);
            for variable in 0..layer.variables() {
                match *layer {
                    Layer::Categorical { classes, .. } => {
                        set(variable * classes as usize + uniform(classes as usize));
                    }
                    _ if uniform(2) == 1 => set(variable),
                    _ => {}
                }
            }
        }
        states
    });
    let packed = pack(latents, &layers.collect::<Vec<_>>())?;
    chains.store.store(chains.rows, &packed)
}
