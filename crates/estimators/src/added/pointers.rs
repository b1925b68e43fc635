//! Noise, chance and chain stores behind pointers.

use helmholtz_distributions::Noise;
use helmholtz_random::Chance;
use helmholtz_samplers::{ChainStore, Latents, SamplerError};

/// [`Noise`] behind a pointer.
pub(super) struct AnyNoise<'a>(pub &'a mut dyn Noise);

impl Noise for AnyNoise<'_> {
    fn fill(&mut self, out: &mut [f32]) {
        self.0.fill(out);
    }
}

/// [`Chance`] behind a pointer.
pub(super) struct AnyChance<'a>(pub &'a mut dyn Chance);

impl Chance for AnyChance<'_> {
    fn accept(&mut self, log_prob: f64) -> bool {
        self.0.accept(log_prob)
    }

    fn choose(&mut self, log_weights: &[f64]) -> Option<usize> {
        self.0.choose(log_weights)
    }

    fn choose_by_weight(&mut self, weights: &[f64]) -> Option<usize> {
        self.0.choose_by_weight(weights)
    }
}

/// A store of whichever type, sized, so that a pointer to it can forget the type.
pub(super) struct AnyStore<'a, S: ?Sized>(pub &'a mut S);

impl<S: ChainStore + ?Sized> ChainStore for AnyStore<'_, S> {
    fn latents(&self) -> &Latents {
        self.0.latents()
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn is_initialised(&self, row: u32) -> bool {
        self.0.is_initialised(row)
    }

    fn load(&self, rows: &[u32], packed: &mut [u8]) -> Result<(), SamplerError> {
        self.0.load(rows, packed)
    }

    fn store(&mut self, rows: &[u32], packed: &[u8]) -> Result<(), SamplerError> {
        self.0.store(rows, packed)
    }
}
