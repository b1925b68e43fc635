//! A kernel many times.

use crate::{Info, Kernel};

/// n steps of its kernel: Pⁿ, reversible if P is.
///
/// ```
/// use helmholtz_samplers::{MetropolisHastings, RandomWalk, Repeat};
/// let target = |x: &Vec<f64>| -0.5 * x[0] * x[0];
/// let thinned = Repeat::new(MetropolisHastings::new(target, RandomWalk::new(2.4)?), 10);
/// # Ok::<(), helmholtz_samplers::SamplerError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Repeat<K> {
    kernel: K,
    times: usize,
}

impl<K> Repeat<K> {
    /// `times` steps of `kernel`.
    pub fn new(kernel: K, times: usize) -> Self {
        Self { kernel, times }
    }
}

impl<S, C: ?Sized, K: Kernel<S, C, Info = Info>> Kernel<S, C> for Repeat<K> {
    type Info = Info;

    fn step(&self, state: &mut S, chance: &mut C) -> Info {
        (0..self.times)
            .map(|_| self.kernel.step(state, chance))
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cycle, Gibbs};

    #[test]
    fn steps_are_made_and_their_infos_summed() {
        let add_one = Gibbs::new(|x: &mut u32, _: &mut ()| *x += 1);
        let kernel = Repeat::new(Cycle::new(vec![add_one; 3]), 4);
        let mut x = 0;
        let info = kernel.step(&mut x, &mut ());
        assert_eq!((x, info.moves, info.accepted), (12, 12, 12));
    }
}
