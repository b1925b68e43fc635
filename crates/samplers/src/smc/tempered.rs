//! Tempering: the ready-made SMC sampler.

use super::{Population, Smc, TemperedPath};
use crate::resampling::Resampler;
use crate::{Kernel, SamplerError, log_sum_exp};

/// A population that is taken along a [`TemperedPath`] from β = 0 to β = 1.
///
/// A step to β' weighs, resamples if the policy says so, and then moves each particle by a kernel K that leaves γ_β'
/// invariant. With the reversal of K as reverse kernel the incremental weight is
///
/// > log v = log γ_β'(x) - log γ_β(x) = (β' - β) (log π̃(x) - log π_0(x)),
///
/// of the state x *before* the move, whatever K is (Neal, 2001; Del Moral, Doucet and Jasra, 2006, §3.3.2.3). As it does
/// not need the move, the weights come first and only survivors are moved. Any [`Kernel`] will do: a mixture, a cycle
/// or several steps of one. A kernel that moves little costs precision, not truth.
///
/// With π_0 normalised, exp([`Population::log_evidence`]) estimates the sum of π̃, and without, its ratio to the sum of
/// π_0. On a ladder fixed beforehand the estimate is unbiased. [`next_beta`](Self::next_beta) chooses the ladder from
/// the particles themselves, which makes the estimate slightly biased. The bias vanishes as 1/N (Beskos, Jasra, Kantas
/// and Thiery, 2016). If it matters, find a ladder adaptively and run again on it.
///
/// ```
/// use helmholtz_samplers::random::{Draws, Purpose, Stream};
/// use helmholtz_samplers::Kernel;
/// use helmholtz_samplers::resampling::{Policy, Systematic};
/// use helmholtz_samplers::smc::{Smc, Tempered, TemperedPath};
///
/// // exp(-x²/2) cut to x > 1, from a standard normal: the tail probability, times √2π.
/// let normal = |x: &f64| -0.5 * x * x - 0.5 * (2.0 * std::f64::consts::PI).ln();
/// let tail = |x: &f64| if *x > 1.0 { -0.5 * x * x } else { f64::NEG_INFINITY };
/// let path = TemperedPath::new(normal, tail);
///
/// struct Walk<F>(F);
/// impl<F: Fn(&f64) -> f64, C: Draws> Kernel<f64, C> for Walk<F> {
///     type Info = bool;
///     fn step(&self, x: &mut f64, draws: &mut C) -> bool {
///         let proposal = *x + draws.normal();
///         let accepted = draws.uniform().ln() < (self.0)(&proposal) - (self.0)(x);
///         if accepted {
///             *x = proposal;
///         }
///         accepted
///     }
/// }
///
/// let mut stream = Stream::new(1, Purpose::new("smc"), [0, 0]);
/// let smc = Smc::new(Systematic, Policy::EssBelow(0.5))?;
/// let mut sampler = Tempered::start(1000, &path, smc, &mut stream, |draws| draws.normal())?;
/// while sampler.beta() < 1.0 {
///     let beta = sampler.next_beta(0.9)?;
///     let kernel = Walk(|x: &f64| path.log_density(beta, x));
///     sampler.step(beta, &kernel, &mut stream)?;
/// }
/// let log_tail = 0.158655f64.ln() + 0.5 * (2.0 * std::f64::consts::PI).ln();
/// assert!((sampler.population().log_evidence() - log_tail).abs() < 0.3);
/// # Ok::<(), helmholtz_samplers::SamplerError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Tempered<'a, S, P, T, R> {
    path: &'a TemperedPath<P, T>,
    smc: Smc<R>,
    population: Population<S>,
    beta: f64,
    /// log π̃ - log π_0 of each state.
    log_ratios: Vec<f64>,
}

/// What one tempering step reports about itself.
#[derive(Clone, Debug, PartialEq)]
pub struct TemperedInfo<I> {
    /// β after the step.
    pub beta: f64,
    /// Effective sample size, in [1, N], after weighing and before resampling: what the policy looked at.
    pub ess: f64,
    /// log Ẑ_β' - log Ẑ_β (nats).
    pub log_increment: f64,
    /// The ancestor of each particle, if the population was resampled.
    pub ancestors: Option<Vec<u32>>,
    /// What the kernel reported for each particle of positive weight, in order.
    pub moves: Vec<I>,
}

impl<'a, S, P, T, R> Tempered<'a, S, P, T, R>
where
    S: Clone,
    P: Fn(&S) -> f64,
    T: Fn(&S) -> f64,
{
    /// A population at β = 0, its states drawn from π_0 by `draw`.
    ///
    /// # Errors
    /// [`SamplerError::NoWeights`] without particles, [`SamplerError::TooManyParticles`].
    pub fn start<C: ?Sized>(
        particles: usize,
        path: &'a TemperedPath<P, T>,
        smc: Smc<R>,
        chance: &mut C,
        mut draw: impl FnMut(&mut C) -> S,
    ) -> Result<Self, SamplerError> {
        let population = Population::draw(particles, chance, |chance| (draw(chance), 0.0))?;
        Ok(Self::of_parts(path, smc, population, 0.0))
    }

    /// A sampler with this population at `beta`.
    pub(super) fn of_parts(
        path: &'a TemperedPath<P, T>,
        smc: Smc<R>,
        population: Population<S>,
        beta: f64,
    ) -> Self {
        let mut sampler = Self {
            path,
            smc,
            population,
            beta,
            log_ratios: Vec::new(),
        };
        sampler.measure();
        sampler
    }

    /// The inverse temperature the population is at.
    pub fn beta(&self) -> f64 {
        self.beta
    }

    /// The population, properly weighted for γ_β.
    pub fn population(&self) -> &Population<S> {
        &self.population
    }

    /// Weighs for `beta`, resamples if wanted, and moves each particle of positive weight by `kernel`, which must leave
    /// γ_beta invariant ([`TemperedPath::log_density`]).
    ///
    /// # Errors
    /// [`SamplerError::Temperature`] if `beta` is not above the present one or is above 1. [`SamplerError::LogWeight`]
    /// if a density is NaN, or π_0 is zero where π̃ is not; [`SamplerError::AllWeightsZero`] if π̃ is zero at every
    /// particle.
    pub fn step<C: ?Sized, K: Kernel<S, C>>(
        &mut self,
        beta: f64,
        kernel: &K,
        chance: &mut C,
    ) -> Result<TemperedInfo<K::Info>, SamplerError>
    where
        R: Resampler<C>,
    {
        let (before, ess) = self.weigh(beta)?;
        let ancestors = self.smc.resample_if_wanted(&mut self.population, chance)?;
        let moves = self
            .population
            .move_each(|state| kernel.step(state, chance));
        self.measure();
        Ok(TemperedInfo {
            beta,
            ess,
            log_increment: self.population.log_evidence() - before,
            ancestors,
            moves,
        })
    }

    /// Weighs for `beta`, resamples `chains` particles, and runs a chain of `kernel` from each. The N / `chains` first
    /// states of each chain, the particle itself among them, replace the population: *waste-free* SMC (Dau and Chopin,
    /// 2022, Algorithm 2).
    ///
    /// No state that was paid for is thrown away, so that long chains need not be thinned to particles. Ẑ stays without
    /// bias on a fixed ladder. The policy is not asked: every step resamples.
    ///
    /// # Errors
    /// [`SamplerError::Parameter`] unless `chains` divides the number of particles; else those of [`step`](Self::step).
    pub fn step_waste_free<C: ?Sized, K: Kernel<S, C>>(
        &mut self,
        beta: f64,
        kernel: &K,
        chains: usize,
        chance: &mut C,
    ) -> Result<TemperedInfo<K::Info>, SamplerError>
    where
        R: Resampler<C>,
    {
        let particles = self.log_ratios.len();
        if chains == 0 || !particles.is_multiple_of(chains) {
            return Err(SamplerError::Parameter {
                what: "the number of chains of a waste-free step",
                found: chains as f64,
                allowed: "a divisor of the number of particles",
            });
        }
        let (before, ess) = self.weigh(beta)?;
        let mut ancestors = vec![0; chains];
        let log_weights = self.population.log_weights();
        (self.smc.resampler()).resample(log_weights, chance, &mut ancestors)?;
        let (mut states, mut moves) = (Vec::with_capacity(particles), Vec::new());
        for &ancestor in &ancestors {
            let mut state = self.population.states()[ancestor as usize].clone();
            states.push(state.clone());
            for _ in 1..particles / chains {
                moves.push(kernel.step(&mut state, chance));
                states.push(state.clone());
            }
        }
        self.population.replace(states);
        self.measure();
        let length = particles / chains;
        let of_slot = |slot: usize| ancestors[slot / length];
        Ok(TemperedInfo {
            beta,
            ess,
            log_increment: self.population.log_evidence() - before,
            ancestors: Some((0..particles).map(of_slot).collect()),
            moves,
        })
    }

    /// The β' at which the conditional effective sample size of the next step,
    ///
    /// > (Σ W_i v_i)² / Σ W_i v_i²,  a share in (0, 1],
    ///
    /// falls to `share` (Zhou, Johansen and Aston, 2016), by bisection; 1 if it never does. Near 1 the steps are many and
    /// easy.
    ///
    /// Particles where π̃ is zero are lost at any β' > 0, so the share is taken among the others.
    ///
    /// # Errors
    /// [`SamplerError::RelativeEss`] for a share outside (0, 1), [`SamplerError::Temperature`] at the end of the path,
    /// and those of [`step`](Self::step) about densities.
    pub fn next_beta(&self, share: f64) -> Result<f64, SamplerError> {
        if !(share > 0.0 && share < 1.0) {
            return Err(SamplerError::RelativeEss { value: share });
        }
        if self.beta >= 1.0 {
            return Err(SamplerError::Temperature {
                from: self.beta,
                to: 1.0,
            });
        }
        // (log W, log ratio) of the particles that live on.
        let mut alive = Vec::with_capacity(self.log_ratios.len());
        for (index, (&log_w, &ratio)) in self
            .population
            .log_weights()
            .iter()
            .zip(&self.log_ratios)
            .enumerate()
        {
            if log_w == f64::NEG_INFINITY || ratio == f64::NEG_INFINITY {
                continue;
            }
            if !ratio.is_finite() {
                return Err(SamplerError::LogWeight {
                    index,
                    value: ratio,
                });
            }
            alive.push((log_w, ratio));
        }
        if alive.is_empty() {
            return Err(SamplerError::AllWeightsZero {
                particles: self.log_ratios.len(),
            });
        }
        // The share does not see a constant in the ratios, but rounding would.
        let largest = alive.iter().map(|a| a.1).fold(f64::NEG_INFINITY, f64::max);
        let log_moment = |power: f64| {
            log_sum_exp(
                alive
                    .iter()
                    .map(|(log_w, ratio)| log_w + power * (ratio - largest)),
            )
        };
        let log_total = log_sum_exp(alive.iter().map(|a| a.0));
        let log_share = |beta: f64| {
            let rise = beta - self.beta;
            2.0 * log_moment(rise) - log_moment(2.0 * rise) - log_total
        };
        if log_share(1.0) >= share.ln() {
            return Ok(1.0);
        }
        // The share falls with β', as the cumulant function of the ratios is convex.
        let (mut low, mut high) = (self.beta, 1.0);
        loop {
            let middle = low + 0.5 * (high - low);
            if middle <= low || middle >= high {
                break;
            }
            if log_share(middle) >= share.ln() {
                low = middle;
            } else {
                high = middle;
            }
        }
        Ok(low.max(self.beta.next_up()))
    }

    /// Goes to `beta`: log Ẑ before, and the effective sample size after.
    fn weigh(&mut self, beta: f64) -> Result<(f64, f64), SamplerError> {
        if !(beta > self.beta && beta <= 1.0) {
            return Err(SamplerError::Temperature {
                from: self.beta,
                to: beta,
            });
        }
        let before = self.population.log_evidence();
        let rise = beta - self.beta;
        let increments: Vec<f64> = self.log_ratios.iter().map(|ratio| rise * ratio).collect();
        self.population.reweight(&increments)?;
        self.beta = beta;
        Ok((before, self.population.effective_sample_size()))
    }

    /// Computes the ratios of the states as they are.
    fn measure(&mut self) {
        let path = self.path;
        self.log_ratios.clear();
        self.log_ratios
            .extend(self.population.states().iter().map(|s| path.log_ratio(s)));
    }
}
