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

#[cfg(test)]
mod tests {
    use helmholtz_random::{Purpose, Stream};
    use helmholtz_samplers::MemoryStore;

    use super::*;

    fn stream() -> Stream {
        Stream::new(1, Purpose::new("tests"), [0, 0])
    }

    #[test]
    fn chance_behind_a_pointer_is_the_same_chance() {
        let (mut plain, mut pointed) = (stream(), stream());
        let mut pointed = AnyChance(&mut pointed);
        for _ in 0..100 {
            let weights = [0.2, 3.0, 1.0];
            let log_weights = weights.map(f64::ln);
            assert_eq!(plain.accept(-0.7), pointed.accept(-0.7));
            assert_eq!(plain.choose(&log_weights), pointed.choose(&log_weights));
            let [own, other] = [
                plain.choose_by_weight(&weights),
                pointed.choose_by_weight(&weights),
            ];
            assert_eq!(own, other);
        }
    }

    #[test]
    fn a_store_behind_a_pointer_is_the_same_store() {
        let latents = Latents::new(&[3]).unwrap();
        let mut store = MemoryStore::new(&latents, 5).unwrap();
        let mut pointed = AnyStore(&mut store);
        assert_eq!((pointed.latents(), pointed.len()), (&latents, 5));
        assert!(!pointed.is_initialised(2));
        pointed.store(&[2], &[0b101]).unwrap();
        assert!(pointed.is_initialised(2));
        let mut row = [0];
        pointed.load(&[2], &mut row).unwrap();
        assert_eq!(row, [0b101]);
        assert!(store.is_initialised(2));
    }
}
