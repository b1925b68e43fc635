//! Conditional SMC and particle Gibbs.

use helmholtz_random::Chance;

use super::{PathModel, ScoredPathModel};
use crate::arguments::at_least_two;
use crate::kernels::state::mixture::uniform_index;
use crate::resampling::{ConditionalResampler, Policy, Resampler};
use crate::{Info, Kernel, SamplerError, log_sum_exp};

/// A kernel on paths that leaves the law of a [`PathModel`] invariant. It is a particle filter of N particles, one of
/// which retains the current path, and the next path is drawn from the filter's end.
///
/// Its three forms differ in where the next path may come from:
///
/// | form | next path | asks for |
/// |---|---|---|
/// | [`ConditionalSmc::new`] | traced back from one of the particles at the end | [`PathModel`] |
/// | [`with_ancestor_sampling`](Self::with_ancestor_sampling) | the same, and the retained path gets a new past at every time | [`ScoredPathModel`] |
/// | [`with_backward_sampling`](Self::with_backward_sampling) | a particle for each time, drawn backwards | [`ScoredPathModel`] |
///
/// The plain form keeps the early part of a long path nearly for ever, since all particles at the end descend from few
/// at the beginning. The others do not, and move long paths with few particles. With parameters drawn given the path,
/// and the path by this kernel, it is a *particle Gibbs* sampler (a [`Cycle`](crate::Cycle)). (Andrieu, Doucet and
/// Holenstein, 2010, §4.3; Lindsten, Jordan and Schön, 2014, for ancestor sampling, PGAS; Whiteley, 2010, and Lindsten
/// and Schön, 2013, for backward sampling.)
///
/// **Resampling.** Any scheme with a conditional form will do; the retained particle goes to a slot drawn uniformly at
/// each time, which conditional systematic and stratified resampling ask for. The policy may look at the weights. If it
/// does not resample, particles continue themselves with their weights, and the retained path stays in its slot. With
/// ancestor sampling the path instead goes on in the slot of its new past.
///
/// A path whose weights are not all finite is impossible, and is left for one of an unconditional filter.
///
/// ```
/// use helmholtz_samplers::random::{Chance, Draws, Purpose, Stream};
/// use helmholtz_samplers::resampling::{Policy, Systematic};
/// use helmholtz_samplers::smc::{ConditionalSmc, PathModel, ScoredPathModel};
/// use helmholtz_samplers::Kernel;
///
/// /// A random walk seen through noise.
/// struct Walk(Vec<f64>);
/// impl<C: Draws> PathModel<f64, C> for Walk {
///     fn times(&self) -> usize { self.0.len() }
///     fn propose(&self, _: usize, previous: Option<&f64>, chance: &mut C) -> f64 {
///         previous.copied().unwrap_or(0.0) + chance.normal()
///     }
///     fn log_weight(&self, t: usize, _: Option<&f64>, x: &f64) -> f64 { -0.5 * (x - self.0[t]).powi(2) }
/// }
/// impl<C: Draws> ScoredPathModel<f64, C> for Walk {
///     fn log_move(&self, _: usize, previous: &f64, x: &f64) -> f64 { -0.5 * (x - previous).powi(2) }
/// }
///
/// let seen = (0..100).map(|t| (0.1 * f64::from(t)).sin()).collect();
/// let kernel = ConditionalSmc::new(Walk(seen), Systematic, Policy::EssBelow(0.5), 20)?
///     .with_ancestor_sampling();
/// let mut stream = Stream::new(7, Purpose::new("path"), [0, 0]);
/// let mut path = kernel.start(&mut stream)?;
/// kernel.step(&mut path, &mut stream);
/// # Ok::<(), helmholtz_samplers::SamplerError>(())
/// ```
///
/// **Particle Gibbs.** The state is a parameter θ and a path. A cycle draws θ given the path, and moves the path by the
/// kernel of that θ. Its invariant law is the joint posterior, ∝ p(θ) γ_θ(x), with any number of particles.
///
/// ```
/// use helmholtz_samplers::random::{Chance, Draws, Purpose, Stream};
/// use helmholtz_samplers::resampling::{Policy, Systematic};
/// use helmholtz_samplers::smc::{ConditionalSmc, PathModel, ScoredPathModel};
/// use helmholtz_samplers::{Cycle, Gibbs, Info, Kernel};
///
/// const SEEN: [f64; 6] = [0.3, 1.1, 0.8, 2.0, 2.2, 2.9];
/// const SCALES: [f64; 2] = [0.3, 1.0]; // a priori alike
///
/// /// A random walk with steps of unknown scale, seen through noise.
/// struct Walk { scale: f64 }
/// impl<C: Draws> PathModel<f64, C> for Walk {
///     fn times(&self) -> usize { SEEN.len() }
///     fn propose(&self, _: usize, previous: Option<&f64>, chance: &mut C) -> f64 {
///         previous.copied().unwrap_or(0.0) + self.scale * chance.normal()
///     }
///     fn log_weight(&self, t: usize, _: Option<&f64>, x: &f64) -> f64 { -0.5 * (x - SEEN[t]).powi(2) }
/// }
/// impl<C: Draws> ScoredPathModel<f64, C> for Walk {
///     fn log_move(&self, _: usize, previous: &f64, x: &f64) -> f64 {
///         -0.5 * ((x - previous) / self.scale).powi(2) - self.scale.ln()
///     }
/// }
///
/// struct State { walk: Walk, path: Vec<f64> }
/// // p(scale | path): of the weights, nothing depends on the scale.
/// let scale = Gibbs::new(|state: &mut State, stream: &mut Stream| {
///     let log_p = SCALES.map(|scale| {
///         let starts = std::iter::once(&0.0).chain(&state.path);
///         let step = |(from, to)| ScoredPathModel::<f64, Stream>::log_move(&Walk { scale }, 0, from, to);
///         starts.zip(&state.path).map(step).sum::<f64>()
///     });
///     state.walk.scale = SCALES[stream.choose(&log_p).unwrap_or(0)];
/// });
/// let path = Gibbs::new(|state: &mut State, stream: &mut Stream| {
///     let kernel = ConditionalSmc::new(&state.walk, Systematic, Policy::Always, 10).unwrap();
///     kernel.with_backward_sampling().step(&mut state.path, stream);
/// });
/// let parts: [Box<dyn Kernel<State, Stream, Info = Info>>; 2] = [Box::new(scale), Box::new(path)];
/// let particle_gibbs = Cycle::new(parts.into());
///
/// let mut stream = Stream::new(7, Purpose::new("pair"), [0, 0]);
/// let mut state = State { walk: Walk { scale: 1.0 }, path: SEEN.to_vec() };
/// let mut small = 0;
/// for _ in 0..500 {
///     particle_gibbs.step(&mut state, &mut stream);
///     small += usize::from(state.walk.scale < 1.0);
/// }
/// assert!((50..450).contains(&small)); // both scales are plausible
/// ```
#[derive(Clone, Debug)]
pub struct ConditionalSmc<M, R, F = Traced> {
    model: M,
    resampler: R,
    policy: Policy,
    particles: usize,
    form: F,
}

/// The plain form of [`ConditionalSmc`]: the next path is traced back.
#[derive(Clone, Copy, Debug)]
pub struct Traced;

/// [`ConditionalSmc`] with ancestor sampling.
#[derive(Clone, Copy, Debug)]
pub struct AncestorSampling;

/// [`ConditionalSmc`] with backward sampling.
#[derive(Clone, Copy, Debug)]
pub struct BackwardSampling;

impl<M, R> ConditionalSmc<M, R> {
    /// The plain form, with this many `particles`, the retained one included.
    ///
    /// # Errors
    /// [`SamplerError::Parameter`] for fewer than 2 particles, [`SamplerError::RelativeEss`] for a threshold outside
    /// (0, 1].
    pub fn new(
        model: M,
        resampler: R,
        policy: Policy,
        particles: usize,
    ) -> Result<Self, SamplerError> {
        Ok(Self {
            model,
            resampler,
            policy: policy.check()?,
            particles: at_least_two("the number of particles", particles)?,
            form: Traced,
        })
    }

    /// The kernel with ancestor sampling.
    pub fn with_ancestor_sampling(self) -> ConditionalSmc<M, R, AncestorSampling> {
        self.with_form(AncestorSampling)
    }

    /// The kernel with backward sampling.
    pub fn with_backward_sampling(self) -> ConditionalSmc<M, R, BackwardSampling> {
        self.with_form(BackwardSampling)
    }

    fn with_form<F>(self, form: F) -> ConditionalSmc<M, R, F> {
        ConditionalSmc {
            model: self.model,
            resampler: self.resampler,
            policy: self.policy,
            particles: self.particles,
            form,
        }
    }
}

/// Where a form asks what the others do not.
trait Form<M, S, C: ?Sized> {
    /// The particle that the retained state at time t descends from, of those before it.
    fn ancestor(
        &self,
        model: &M,
        t: usize,
        filter: &Filter<S>,
        retained: (usize, &S),
        chance: &mut C,
    ) -> usize;

    /// The particle of time t - 1 that leads to `particle` of time t.
    fn back(
        &self,
        model: &M,
        t: usize,
        filter: &Filter<S>,
        particle: usize,
        next: &S,
        chance: &mut C,
    ) -> usize;
}

impl<M, S, C: ?Sized> Form<M, S, C> for Traced {
    fn ancestor(&self, _: &M, _: usize, _: &Filter<S>, retained: (usize, &S), _: &mut C) -> usize {
        retained.0
    }

    fn back(
        &self,
        _: &M,
        t: usize,
        filter: &Filter<S>,
        particle: usize,
        _: &S,
        _: &mut C,
    ) -> usize {
        filter.ancestors[t - 1][particle]
    }
}

/// ln W_i + ln m_t(`next` | x_i) + ln G_t(x_i, `next`) of the particles i of time t - 1.
fn continuations<M, S, C: ?Sized>(model: &M, t: usize, filter: &Filter<S>, next: &S) -> Vec<f64>
where
    M: ScoredPathModel<S, C>,
{
    (filter.states[t - 1].iter())
        .zip(&filter.log_weights[t - 1])
        .map(|(previous, log_w)| match log_w.is_finite() {
            true => {
                log_w
                    + model.log_move(t, previous, next)
                    + model.log_weight(t, Some(previous), next)
            }
            false => f64::NEG_INFINITY,
        })
        .collect()
}

impl<M, S, C: Chance + ?Sized> Form<M, S, C> for AncestorSampling
where
    M: ScoredPathModel<S, C>,
{
    fn ancestor(
        &self,
        model: &M,
        t: usize,
        filter: &Filter<S>,
        (before, next): (usize, &S),
        chance: &mut C,
    ) -> usize {
        let log_weights = continuations(model, t, filter, next);
        chance.choose(&log_weights).unwrap_or(before)
    }

    fn back(
        &self,
        model: &M,
        t: usize,
        filter: &Filter<S>,
        particle: usize,
        next: &S,
        chance: &mut C,
    ) -> usize {
        Traced.back(model, t, filter, particle, next, chance)
    }
}

impl<M, S, C: Chance + ?Sized> Form<M, S, C> for BackwardSampling
where
    M: ScoredPathModel<S, C>,
{
    fn ancestor(&self, _: &M, _: usize, _: &Filter<S>, retained: (usize, &S), _: &mut C) -> usize {
        retained.0
    }

    fn back(
        &self,
        model: &M,
        t: usize,
        filter: &Filter<S>,
        particle: usize,
        next: &S,
        chance: &mut C,
    ) -> usize {
        let log_weights = continuations(model, t, filter, next);
        chance
            .choose(&log_weights)
            .unwrap_or(filter.ancestors[t - 1][particle])
    }
}

/// All particles of all times.
struct Filter<S> {
    /// `[T, N]`.
    states: Vec<Vec<S>>,
    /// Unnormalised, since the last resampling: `[T, N]`.
    log_weights: Vec<Vec<f64>>,
    /// At t - 1, of the particles of time t: `[T - 1, N]`.
    ancestors: Vec<Vec<usize>>,
}

#[allow(private_bounds)] // what the three forms do is nobody else's
impl<M, R, F> ConditionalSmc<M, R, F> {
    /// A path drawn from an unconditional filter, to start from.
    ///
    /// # Errors
    /// [`SamplerError::AllWeightsZero`] if the filter died out, [`SamplerError::LogWeight`] for a weight that is NaN or
    /// +inf.
    pub fn start<S, C>(&self, chance: &mut C) -> Result<Vec<S>, SamplerError>
    where
        S: Clone,
        C: Chance + ?Sized,
        M: PathModel<S, C>,
        R: ConditionalResampler<C> + Resampler<C>,
        F: Form<M, S, C>,
    {
        self.sweep(None, chance)
    }

    fn sweep<S, C>(&self, retained: Option<&[S]>, chance: &mut C) -> Result<Vec<S>, SamplerError>
    where
        S: Clone,
        C: Chance + ?Sized,
        M: PathModel<S, C>,
        R: ConditionalResampler<C> + Resampler<C>,
        F: Form<M, S, C>,
    {
        let filter = self.filter(retained, chance)?;
        let last = filter.states.len() - 1;
        let mut particle = chance.choose(&filter.log_weights[last]).unwrap_or_default();
        let mut path = vec![filter.states[last][particle].clone()];
        for t in (1..=last).rev() {
            let next = &path[last - t];
            particle = self
                .form
                .back(&self.model, t, &filter, particle, next, chance);
            path.push(filter.states[t - 1][particle].clone());
        }
        path.reverse();
        Ok(path)
    }

    /// The forward pass.
    fn filter<S, C>(
        &self,
        retained: Option<&[S]>,
        chance: &mut C,
    ) -> Result<Filter<S>, SamplerError>
    where
        S: Clone,
        C: Chance + ?Sized,
        M: PathModel<S, C>,
        R: ConditionalResampler<C> + Resampler<C>,
        F: Form<M, S, C>,
    {
        let n = self.particles;
        let mut slot = uniform_index(n, chance);
        let first: Vec<S> = (0..n)
            .map(|i| match retained {
                Some(path) if i == slot => path[0].clone(),
                _ => self.model.propose(0, None, chance),
            })
            .collect();
        let weigh = |x: &S| self.model.log_weight(0, None, x);
        let log_w = checked(first.iter().map(weigh).collect())?;
        let mut filter = Filter {
            states: vec![first],
            log_weights: vec![log_w],
            ancestors: Vec::new(),
        };
        for t in 1..self.model.times() {
            let log_w = &filter.log_weights[t - 1];
            let resamples = self.policy.wants(log_w);
            let mut ancestors: Vec<u32> = (0..n as u32).collect();
            match retained {
                Some(path) => {
                    let of_path = (slot, &path[t]);
                    let ancestor = self.form.ancestor(&self.model, t, &filter, of_path, chance);
                    slot = ancestor;
                    if resamples {
                        slot = uniform_index(n, chance);
                        self.resampler.resample_given(
                            slot,
                            ancestor as u32,
                            log_w,
                            chance,
                            &mut ancestors,
                        )?;
                    }
                }
                None if resamples => self.resampler.resample(log_w, chance, &mut ancestors)?,
                None => {}
            }
            let ancestors: Vec<usize> = ancestors.into_iter().map(|a| a as usize).collect();
            let mut log_weights = Vec::with_capacity(n);
            let states = (ancestors.iter().enumerate())
                .map(|(i, &ancestor)| {
                    let previous = &filter.states[t - 1][ancestor];
                    let before = if resamples { 0.0 } else { log_w[ancestor] };
                    let state = match retained {
                        Some(path) if i == slot => path[t].clone(),
                        // A particle of weight zero stays one, wherever it is.
                        _ if before == f64::NEG_INFINITY => previous.clone(),
                        _ => self.model.propose(t, Some(previous), chance),
                    };
                    log_weights.push(match before == f64::NEG_INFINITY {
                        true => before,
                        false => before + self.model.log_weight(t, Some(previous), &state),
                    });
                    state
                })
                .collect();
            filter.states.push(states);
            filter.log_weights.push(checked(log_weights)?);
            filter.ancestors.push(ancestors);
        }
        Ok(filter)
    }
}

/// # Errors
/// [`SamplerError::LogWeight`] for a NaN or +inf, [`SamplerError::AllWeightsZero`].
fn checked(log_weights: Vec<f64>) -> Result<Vec<f64>, SamplerError> {
    if let Some(index) = log_weights
        .iter()
        .position(|l| l.is_nan() || *l == f64::INFINITY)
    {
        return Err(SamplerError::LogWeight {
            index,
            value: log_weights[index],
        });
    }
    match log_sum_exp(&log_weights) == f64::NEG_INFINITY {
        true => Err(SamplerError::AllWeightsZero {
            particles: log_weights.len(),
        }),
        false => Ok(log_weights),
    }
}

#[allow(private_bounds)] // what the three forms do is nobody else's
impl<S, C, M, R, F> Kernel<Vec<S>, C> for ConditionalSmc<M, R, F>
where
    S: Clone + PartialEq,
    C: Chance + ?Sized,
    M: PathModel<S, C>,
    R: ConditionalResampler<C> + Resampler<C>,
    F: Form<M, S, C>,
{
    type Info = Info;

    /// A move is accepted if any state of the path changed. A path of other than T states is taken for an impossible
    /// one, as is one whose weights are not finite. Where the filter fails, the path is left as it is, which
    /// [`Info::non_finite`] counts.
    fn step(&self, path: &mut Vec<S>, chance: &mut C) -> Info {
        let weight = |t: usize| {
            let previous = t.checked_sub(1).map(|before| &path[before]);
            self.model.log_weight(t, previous, &path[t])
        };
        let possible =
            path.len() == self.model.times() && (0..path.len()).all(|t| weight(t).is_finite());
        let next = self.sweep(possible.then_some(path.as_slice()), chance);
        match next {
            Ok(next) => {
                let moved = *path != next;
                *path = next;
                Info::of_move(moved, u64::from(!possible))
            }
            Err(_) => Info::of_move(false, 1 + u64::from(!possible)),
        }
    }
}
