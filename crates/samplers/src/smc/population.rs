//! Weighted particles, and the evidence they carry.

use crate::resampling::Resampler;
use crate::{SamplerError, effective_sample_size, log_sum_exp};

/// N particles: states x_i, normalised weights W_i, and the running estimate of evidence log Ẑ (nats).
///
/// The population is properly weighted: E\[Ẑ Σ W_i f(x_i)\] = Z E\[f\] under the target of the moment, for every f.
///
/// After an error a population is not to be used on, as some of its particles may have moved and others not. The one
/// exception to read from is [`SamplerError::AllWeightsZero`]: the population has died out, Ẑ is zero, and
/// [`log_evidence`](Self::log_evidence) says -inf. An average of estimates over runs must count such a run as the zero
/// that it is; without it the average is biased upwards.
#[derive(Clone, Debug, PartialEq)]
pub struct Population<S> {
    states: Vec<S>,
    log_weights: Vec<f64>,
    log_evidence: f64,
}

impl<S> Population<S> {
    /// States x_i ~ q with log w_i = log γ_0(x_i) - log q(x_i) (nats), so that Ẑ_0 = mean w.
    ///
    /// # Errors
    /// [`SamplerError::Length`] if the two differ in length, [`SamplerError::NoWeights`],
    /// [`SamplerError::TooManyParticles`], [`SamplerError::LogWeight`] for a NaN or +inf,
    /// [`SamplerError::AllWeightsZero`].
    pub fn new(states: Vec<S>, log_weights: Vec<f64>) -> Result<Self, SamplerError> {
        let particles = states.len();
        if log_weights.len() != particles {
            return Err(SamplerError::Length {
                what: "the log-weights of a population",
                found: log_weights.len(),
                expected: particles,
            });
        }
        if particles == 0 {
            return Err(SamplerError::NoWeights);
        }
        if particles > u32::MAX as usize {
            return Err(SamplerError::TooManyParticles { particles });
        }
        check(log_weights.iter().copied().enumerate())?;
        let mut population = Self {
            states,
            log_weights,
            log_evidence: -(particles as f64).ln(),
        };
        population.normalise()?;
        Ok(population)
    }

    /// As [`new`](Self::new), with each state and its log-weight drawn by `draw`.
    ///
    /// # Errors
    /// Those of [`new`](Self::new).
    pub fn draw<C: ?Sized>(
        particles: usize,
        chance: &mut C,
        mut draw: impl FnMut(&mut C) -> (S, f64),
    ) -> Result<Self, SamplerError> {
        let (states, log_weights) = (0..particles).map(|_| draw(chance)).unzip();
        Self::new(states, log_weights)
    }

    /// Of what the accessors gave.
    pub(super) fn of_parts(states: Vec<S>, log_weights: Vec<f64>, log_evidence: f64) -> Self {
        Self {
            states,
            log_weights,
            log_evidence,
        }
    }

    /// The states x_i.
    pub fn states(&self) -> &[S] {
        &self.states
    }

    /// The states, to move them by other means than [`extend`](Self::extend): in batches, say.
    pub fn states_mut(&mut self) -> &mut [S] {
        &mut self.states
    }

    /// The normalised log-weights log W_i (nats); -inf for a particle that is impossible.
    pub fn log_weights(&self) -> &[f64] {
        &self.log_weights
    }

    /// log Ẑ (nats), -inf once all particles are impossible.
    ///
    /// Ẑ is unbiased, log Ẑ is not: it is low on average. If the law of Ẑ has heavy tails, which uneven weights cause,
    /// most runs are below Z and a rare one is far above. So runs that agree prove nothing. Take more particles or more
    /// steps until the effective sample size stays well above one.
    pub fn log_evidence(&self) -> f64 {
        self.log_evidence
    }

    /// 1 / Σ W_i², between 1 and N; 0 once all particles are impossible.
    pub fn effective_sample_size(&self) -> f64 {
        effective_sample_size(&self.log_weights)
    }

    /// Σ W_i f(x_i), over particles of positive weight.
    pub fn mean(&self, mut f: impl FnMut(&S) -> f64) -> f64 {
        self.states
            .iter()
            .zip(&self.log_weights)
            .filter(|(_, l)| l.is_finite())
            .map(|(state, l)| l.exp() * f(state))
            .sum()
    }

    /// Moves each particle in turn by `step`, which answers with the log of its incremental weight v_i (nats), and
    /// weighs: Ẑ ← Ẑ Σ W_i v_i, W_i ∝ W_i v_i.
    ///
    /// A particle of weight zero is not moved: whatever it did, it would stay at zero.
    ///
    /// # Errors
    /// [`SamplerError::LogWeight`] if an increment is NaN or +inf, [`SamplerError::AllWeightsZero`] if no particle is
    /// possible any more.
    pub fn extend<C: ?Sized>(
        &mut self,
        chance: &mut C,
        mut step: impl FnMut(&mut S, &mut C) -> f64,
    ) -> Result<(), SamplerError> {
        let mut increments = vec![f64::NEG_INFINITY; self.states.len()];
        for ((state, log_weight), increment) in self
            .states
            .iter_mut()
            .zip(&self.log_weights)
            .zip(&mut increments)
        {
            if log_weight.is_finite() {
                *increment = step(state, chance);
            }
        }
        self.reweight(&increments)
    }

    /// Weighs by incremental weights that are known already: Ẑ ← Ẑ Σ W_i v_i, W_i ∝ W_i v_i, from log v (nats).
    /// Increments of particles of weight zero are not looked at.
    ///
    /// # Errors
    /// [`SamplerError::Length`] if there is not one for each particle, and those of [`extend`](Self::extend).
    pub fn reweight(&mut self, log_increments: &[f64]) -> Result<(), SamplerError> {
        if log_increments.len() != self.states.len() {
            return Err(SamplerError::Length {
                what: "the incremental log-weights of a population",
                found: log_increments.len(),
                expected: self.states.len(),
            });
        }
        check(
            log_increments
                .iter()
                .copied()
                .enumerate()
                .filter(|(i, _)| self.log_weights[*i].is_finite()),
        )?;
        for (log_weight, increment) in self.log_weights.iter_mut().zip(log_increments) {
            if log_weight.is_finite() {
                *log_weight += increment;
            }
        }
        self.normalise()
    }

    /// Replaces the particles by equally weighted copies, and returns the ancestor of each. Ẑ stays.
    ///
    /// # Errors
    /// Those of [`Resampler::resample`].
    pub fn resample<C: ?Sized>(
        &mut self,
        resampler: &impl Resampler<C>,
        chance: &mut C,
    ) -> Result<Vec<u32>, SamplerError>
    where
        S: Clone,
    {
        let mut ancestors = vec![0; self.states.len()];
        resampler.resample(&self.log_weights, chance, &mut ancestors)?;
        self.states = ancestors
            .iter()
            .map(|&a| self.states[a as usize].clone())
            .collect();
        let log_weight = -(ancestors.len() as f64).ln();
        self.log_weights.fill(log_weight);
        Ok(ancestors)
    }

    /// Puts in as many other states, equally weighted. Ẑ stays.
    pub(super) fn replace(&mut self, states: Vec<S>) {
        let log_weight = -(states.len() as f64).ln();
        self.states = states;
        self.log_weights.fill(log_weight);
    }

    /// Moves each particle of positive weight, and leaves the weights: for a kernel that leaves the present target
    /// invariant. What the moves answered is returned in order.
    pub fn move_each<I>(&mut self, mut step: impl FnMut(&mut S) -> I) -> Vec<I> {
        self.states
            .iter_mut()
            .zip(&self.log_weights)
            .filter(|(_, l)| l.is_finite())
            .map(|(state, _)| step(state))
            .collect()
    }

    /// Makes the weights sum to one; what they summed to is evidence.
    fn normalise(&mut self) -> Result<(), SamplerError> {
        let log_sum = log_sum_exp(self.log_weights.iter().copied());
        self.log_evidence += log_sum;
        if log_sum == f64::NEG_INFINITY {
            return Err(SamplerError::AllWeightsZero {
                particles: self.states.len(),
            });
        }
        for log_weight in &mut self.log_weights {
            *log_weight -= log_sum;
        }
        Ok(())
    }
}

/// Refuses what is no log-weight.
fn check(log_weights: impl IntoIterator<Item = (usize, f64)>) -> Result<(), SamplerError> {
    for (index, value) in log_weights {
        if value.is_nan() || value == f64::INFINITY {
            return Err(SamplerError::LogWeight { index, value });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use helmholtz_random::enumerate;

    use super::*;
    use crate::resampling::MultinomialByChoice;

    const NINF: f64 = f64::NEG_INFINITY;

    #[test]
    fn the_first_evidence_is_the_mean_weight() {
        let population = Population::new(vec!['a', 'b', 'c'], vec![2f64.ln(), NINF, 4f64.ln()])
            .expect("weights");
        assert!((population.log_evidence() - 2f64.ln()).abs() < 1e-15);
        assert!((population.mean(|&s| if s == 'c' { 3.0 } else { 0.0 }) - 2.0).abs() < 1e-15);
        assert!((population.effective_sample_size() - 36.0 / 20.0).abs() < 1e-14);
    }

    #[test]
    fn evidence_grows_by_the_mean_increment_under_the_incoming_weights() {
        let mut population = Population::new(vec![0, 1], vec![3f64.ln(), 0.0]).expect("weights");
        population
            .reweight(&[2f64.ln(), 10f64.ln()])
            .expect("weights");
        // Ẑ = 2 before, times 3/4 · 2 + 1/4 · 10.
        assert!((population.log_evidence() - 8f64.ln()).abs() < 1e-14);
        assert!((population.log_weights()[0].exp() - 6.0 / 16.0).abs() < 1e-15);
    }

    #[test]
    fn resampling_keeps_the_evidence_and_gathers_states() {
        for (_, (ancestors, population)) in enumerate(|chance| {
            let mut population =
                Population::new(vec![10, 11, 12], vec![0.0, NINF, 1.0]).expect("weights");
            let ancestors = population
                .resample(&MultinomialByChoice, chance)
                .expect("weights");
            (ancestors, population)
        }) {
            for (&a, &state) in ancestors.iter().zip(population.states()) {
                assert_eq!(a + 10, state);
                assert_ne!(a, 1);
            }
            let expected = (1.0 + 1f64.exp()).ln() - 3f64.ln();
            assert!((population.log_evidence() - expected).abs() < 1e-15);
            assert!((population.effective_sample_size() - 3.0).abs() < 1e-14);
        }
    }

    #[test]
    fn an_impossible_particle_stays_and_what_it_weighs_is_not_asked() {
        let mut population = Population::new(vec![0, 1], vec![NINF, 0.0]).expect("weights");
        let step = |state: &mut i32, _: &mut ()| {
            *state += 5;
            if *state == 5 { f64::NAN } else { 0.5 }
        };
        population.extend(&mut (), step).expect("weights");
        assert_eq!(population.states(), [0, 6]);
        assert_eq!(population.log_weights(), [NINF, 0.0]);
        population
            .reweight(&[f64::NAN, 0.5])
            .expect("the first has weight zero");
    }

    #[test]
    fn a_population_that_dies_out_has_evidence_zero() {
        let mut population = Population::new(vec![0, 1], vec![0.0, 0.0]).expect("weights");
        for _ in 0..2 {
            assert!(matches!(
                population.reweight(&[NINF, NINF]),
                Err(SamplerError::AllWeightsZero { particles: 2 })
            ));
            assert_eq!(population.log_evidence(), NINF);
        }
    }

    #[test]
    fn what_is_no_weight_is_refused_by_name() {
        assert!(matches!(
            Population::<i32>::new(vec![], vec![]),
            Err(SamplerError::NoWeights)
        ));
        assert!(matches!(
            Population::new(vec![1], vec![]),
            Err(SamplerError::Length {
                found: 0,
                expected: 1,
                ..
            })
        ));
        for bad in [f64::NAN, f64::INFINITY] {
            assert!(matches!(
                Population::new(vec![1, 2], vec![0.0, bad]),
                Err(SamplerError::LogWeight { index: 1, .. })
            ));
            let mut population = Population::new(vec![1, 2], vec![0.0, 0.0]).expect("weights");
            assert!(matches!(
                population.reweight(&[bad, 0.0]),
                Err(SamplerError::LogWeight { index: 0, .. })
            ));
            assert!(population.reweight(&[0.0]).is_err());
        }
    }
}
