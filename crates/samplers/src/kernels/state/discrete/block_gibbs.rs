//! Gibbs sampling of several sites at once.

use helmholtz_random::Chance;

use crate::{Info, Kernel, Target};

/// Draws the sites of a block jointly from their conditional, found by trying all configurations:
/// p(x_B = v | rest) ∝ p(x with x_B = v).
///
/// A step costs C^b log-densities for b sites with C values. Sites that hold each other fast (a pair of bits that are
/// nearly equal) move together, where [`FiniteGibbs`](crate::FiniteGibbs), which is the case b = 1, does not. The target
/// may leave out terms without a site of the block. (Jensen, Kjærulff and Kong, 1995, "Blocking Gibbs sampling in very
/// large probabilistic expert systems".)
///
/// Configurations whose log-density is not finite are never drawn, and are counted; if none is finite, the state is
/// left as it is.
///
/// ```
/// use helmholtz_samplers::random::{Purpose, Stream};
/// use helmholtz_samplers::{BlockGibbs, Kernel, Mixture};
///
/// // A ring of ten bits that like to be equal, in overlapping pairs.
/// let target = |x: &Vec<bool>| (0..10).filter(|&i| x[i] == x[(i + 1) % 10]).count() as f64;
/// let pairs = (0..10).map(|i| BlockGibbs::new(target, vec![i, (i + 1) % 10], vec![false, true]));
/// let kernel = Mixture::uniform(pairs.collect())?;
/// kernel.step(&mut vec![false; 10], &mut Stream::new(7, Purpose::new("chain"), [0, 0]));
/// # Ok::<(), helmholtz_samplers::SamplerError>(())
/// ```
#[derive(Clone, Debug)]
pub struct BlockGibbs<T, V> {
    target: T,
    block: Vec<usize>,
    values: Vec<V>,
}

impl<T, V> BlockGibbs<T, V> {
    /// The kernel that draws the sites `block`, each among `values`, which should hold every possible value once.
    pub fn new(target: T, block: Vec<usize>, values: Vec<V>) -> Self {
        Self {
            target,
            block,
            values,
        }
    }
}

impl<V: Clone, C: Chance + ?Sized, T: Target<Vec<V>>> Kernel<Vec<V>, C> for BlockGibbs<T, V> {
    type Info = Info;

    /// # Panics
    /// If the state lacks a site of the block, as indexing does.
    fn step(&self, state: &mut Vec<V>, chance: &mut C) -> Info {
        let current: Vec<V> = self.block.iter().map(|&i| state[i].clone()).collect();
        let (block, values) = (&self.block, &self.values);
        // A configuration is a number whose digits, the first site's first, are indices of values.
        let put = |state: &mut Vec<V>, mut configuration: usize| {
            for &i in block {
                state[i] = values[configuration % values.len()].clone();
                configuration /= values.len();
            }
        };
        let configurations = values.len().pow(block.len() as u32);
        let log_p: Vec<f64> = (0..configurations)
            .map(|configuration| {
                put(state, configuration);
                self.target.log_density(state)
            })
            .collect();
        let chosen = chance.choose(&log_p);
        match chosen {
            Some(configuration) => put(state, configuration),
            None => (block.iter().zip(current)).for_each(|(&i, value)| state[i] = value),
        }
        let non_finite = log_p.iter().filter(|l| !l.is_finite()).count();
        Info::of_move(chosen.is_some(), non_finite as u64)
    }
}
