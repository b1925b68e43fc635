//! A random choice among kernels.

use helmholtz_random::Chance;

use crate::{Info, Kernel, SamplerError};

/// Chooses one of its kernels and makes one step of it: P = Σ_k π_k P_k.
///
/// The choice does not look at the state, which is what keeps the target invariant. A mixture of reversible kernels is
/// reversible. Over the components of a state it is random-scan Metropolis-within-Gibbs. (Tierney, 1994.)
///
/// ```
/// use helmholtz_samplers::random::{Purpose, Stream};
/// use helmholtz_samplers::{Kernel, MetropolisHastings, Mixture, RandomWalk};
///
/// // A bold walk one time in four, a timid one otherwise.
/// let target = |x: &Vec<f64>| -x[0].abs();
/// let walk = |scale| RandomWalk::new(scale).map(|walk| MetropolisHastings::new(target, walk));
/// let kernel = Mixture::new(vec![(0.25f64.ln(), walk(10.0)?), (0.75f64.ln(), walk(0.5)?)])?;
/// let mut x = vec![0.0];
/// kernel.step(&mut x, &mut Stream::new(7, Purpose::new("chain"), [0, 0]));
/// # Ok::<(), helmholtz_samplers::SamplerError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Mixture<K> {
    kernels: Vec<K>,
    /// Unnormalised; none for equal weights.
    log_weights: Option<Vec<f64>>,
}

impl<K> Mixture<K> {
    /// Pairs of a log-probability (nats, up to a constant) and a kernel.
    ///
    /// # Errors
    /// [`SamplerError::Parameter`] for a log-probability that is NaN or +inf, and if none is finite.
    pub fn new(kernels: Vec<(f64, K)>) -> Result<Self, SamplerError> {
        let (log_weights, kernels): (Vec<f64>, Vec<K>) = kernels.into_iter().unzip();
        if let Some(&found) = log_weights
            .iter()
            .find(|l| l.is_nan() || **l == f64::INFINITY)
        {
            return Err(SamplerError::Parameter {
                what: "the log-probability of a kernel in a mixture",
                found,
                allowed: "finite, or -inf",
            });
        }
        if log_weights.iter().all(|l| !l.is_finite()) {
            return Err(nothing_to_choose());
        }
        Ok(Self {
            kernels,
            log_weights: Some(log_weights),
        })
    }

    /// All of `kernels` with the same probability.
    ///
    /// # Errors
    /// [`SamplerError::Parameter`] without kernels.
    pub fn uniform(kernels: Vec<K>) -> Result<Self, SamplerError> {
        if kernels.is_empty() {
            return Err(nothing_to_choose());
        }
        Ok(Self {
            kernels,
            log_weights: None,
        })
    }
}

fn nothing_to_choose() -> SamplerError {
    SamplerError::Parameter {
        what: "the number of kernels of a mixture with a positive probability",
        found: 0.0,
        allowed: "at least 1",
    }
}

impl<S, C: Chance + ?Sized, K: Kernel<S, C, Info = Info>> Kernel<S, C> for Mixture<K> {
    type Info = Info;

    fn step(&self, state: &mut S, chance: &mut C) -> Info {
        let chosen = match &self.log_weights {
            Some(log_weights) => chance.choose(log_weights).unwrap_or(0),
            None => uniform_index(self.kernels.len(), chance),
        };
        self.kernels[chosen].step(state, chance)
    }
}

/// A uniform index below `n`, chosen group by group: what `choose` costs is in the number of its weights, and this way
/// a step on one of a million components does not cost a million.
pub(crate) fn uniform_index(n: usize, chance: &mut (impl Chance + ?Sized)) -> usize {
    const GROUPS: usize = 16;
    let (mut first, mut n) = (0, n);
    while n > GROUPS {
        let start = |group: usize| group * n / GROUPS;
        let sizes: [f64; GROUPS] =
            std::array::from_fn(|group| ((start(group + 1) - start(group)) as f64).ln());
        let group = chance.choose(&sizes).unwrap_or(0);
        (first, n) = (first + start(group), start(group + 1) - start(group));
    }
    first + chance.choose(&[0.0; GROUPS][..n]).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use helmholtz_random::enumerate;

    use super::*;

    #[test]
    fn a_uniform_index_is_uniform_for_every_number() {
        for n in [1, 2, 15, 16, 17, 31, 33, 255, 257, 1000, 4097] {
            let mut law = vec![0.0; n];
            for (p, i) in enumerate(|chance| uniform_index(n, chance)) {
                law[i] += p;
            }
            assert!(
                law.iter().all(|p| (p * n as f64 - 1.0).abs() < 1e-12),
                "{n}"
            );
        }
    }

    #[test]
    fn a_mixture_of_nothing_or_with_a_bad_probability_is_refused() {
        assert!(Mixture::<()>::uniform(vec![]).is_err());
        assert!(Mixture::<()>::new(vec![]).is_err());
        assert!(Mixture::new(vec![(f64::NEG_INFINITY, ())]).is_err());
        for bad in [f64::NAN, f64::INFINITY] {
            assert!(Mixture::new(vec![(0.0, ()), (bad, ())]).is_err());
        }
        assert!(Mixture::new(vec![(0.0, ()), (f64::NEG_INFINITY, ())]).is_ok());
    }
}
