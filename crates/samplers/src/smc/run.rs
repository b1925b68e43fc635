//! SMC samplers that go on from a folder.

use std::ops::ControlFlow;
use std::path::Path;

use helmholtz_random::{Purpose, Stream};

use super::folder::{Folder, Name};
use super::{Smc, Tempered, TemperedInfo, TemperedPath};
use crate::resampling::Resampler;
use crate::sampling::{Progress, Record, tell};
use crate::{Info, Kernel, SamplerError};

const STEPS: Purpose = Purpose::new("smc");

/// The state of a sampler after its last step and the reports of all steps, with every step in the files of `folder`.
/// From these files the same call goes on after a kill at any moment, to the same bits.
///
/// `start` makes the state that `step` moves. `step` is given the number of the step, from 1, and answers with its
/// report. It answers with `None`, leaving the state as it is, when there is nothing more to do. Step t draws from a
/// stream of its own, named by (`seed`, t). A later call with a `step` that answers longer goes on where this one
/// ended.
///
/// `label` says what is sampled: a folder of another label or seed is refused, and one of another model should have another
/// label. The folder holds the last state and the reports. A kill loses the step under way, which is made again. One
/// process at a time may use a folder. [`InFolder`] is the same run with someone who is told and may cancel it.
///
/// One population is moved on one thread, the caller's, unless `step` itself uses more.
///
/// ```
/// use helmholtz_samplers::random::Draws;
/// use helmholtz_samplers::resampling::{Policy, Systematic};
/// use helmholtz_samplers::smc::{Population, Smc, run_in};
///
/// // A random walk seen through noise.
/// let seen = [0.3, 1.1, 0.8, 2.0];
/// let log_likelihood = |x: f64, y: f64| -0.5 * (x - y).powi(2) - 0.5 * (2.0 * std::f64::consts::PI).ln();
/// let smc = Smc::new(Systematic, Policy::EssBelow(0.5))?;
/// let folder = std::env::temp_dir().join(format!("helmholtz-smc-{}", std::process::id()));
/// let (population, steps) = run_in(
///     &folder,
///     "random walk, 1000 particles",
///     1,
///     |stream| {
///         Population::draw(1000, stream, |draws| {
///             let x = draws.normal();
///             (x, log_likelihood(x, seen[0]))
///         })
///     },
///     |t, population: &mut Population<f64>, stream| {
///         let Some(&y) = seen.get(t as usize) else {
///             return Ok(None);
///         };
///         let step = smc.step(population, stream, |x, draws| {
///             *x += draws.normal();
///             log_likelihood(*x, y)
///         });
///         step.map(Some)
///     },
/// )?;
/// assert_eq!(steps.len(), 3);
/// assert!((population.log_evidence() - -5.9328).abs() < 0.3); // the Kalman filter's value
/// # std::fs::remove_dir_all(&folder).unwrap();
/// # Ok::<(), helmholtz_samplers::SamplerError>(())
/// ```
///
/// # Errors
/// Those of `start` and `step`, [`SamplerError::Shape`] for a folder of another run, [`SamplerError::Damaged`],
/// [`SamplerError::Io`].
pub fn run_in<T: Record, I: Record>(
    folder: &Path,
    label: &str,
    seed: u64,
    start: impl FnOnce(&mut Stream) -> Result<T, SamplerError>,
    step: impl FnMut(u64, &mut T, &mut Stream) -> Result<Option<I>, SamplerError>,
) -> Result<(T, Vec<I>), SamplerError> {
    InFolder::new(folder, label, seed).run(start, step)
}

/// A run in a folder: where it is, what it is of, and who is told.
///
/// ```
/// use std::ops::ControlFlow;
/// use helmholtz_samplers::SamplerError;
/// use helmholtz_samplers::random::Draws;
/// use helmholtz_samplers::sampling::Progress;
/// use helmholtz_samplers::smc::InFolder;
///
/// let folder = std::env::temp_dir().join(format!("helmholtz-told-{}", std::process::id()));
/// let half = |told: Progress| match told.done {
///     5 => ControlFlow::Break(()),
///     _ => ControlFlow::Continue(()),
/// };
/// let walk = InFolder::new(&folder, "walk", 1);
/// let run = |walk: InFolder| {
///     walk.run(
///         |_| Ok(0.0),
///         |t, x: &mut f64, stream| {
///             if t > 10 {
///                 return Ok(None);
///             }
///             *x += stream.normal();
///             Ok(Some(*x))
///         },
///     )
/// };
/// let cancelled = run(walk.watched_by(&half));
/// assert!(matches!(cancelled, Err(SamplerError::Cancelled { done: 5, .. })));
/// assert_eq!(run(walk)?.1.len(), 10); // goes on from the fifth step
/// # std::fs::remove_dir_all(&folder).unwrap();
/// # Ok::<(), SamplerError>(())
/// ```
#[derive(Clone, Copy)]
pub struct InFolder<'a> {
    folder: &'a Path,
    name: Name<'a>,
    watch: Option<&'a dyn Fn(Progress) -> ControlFlow<()>>,
}

impl<'a> InFolder<'a> {
    /// A run of what `label` says, in `folder`; see [`run_in`].
    pub fn new(folder: &'a Path, label: &'a str, seed: u64) -> Self {
        Self {
            folder,
            name: Name { label, seed },
            watch: None,
        }
    }

    /// Tells `watch` how many steps are done, after each step that is in the files, and once more at the end, when their
    /// number in all is known. If it answers [`ControlFlow::Break`], the run ends with [`SamplerError::Cancelled`].
    pub fn watched_by(mut self, watch: &'a dyn Fn(Progress) -> ControlFlow<()>) -> Self {
        self.watch = Some(watch);
        self
    }

    /// As [`run_in`].
    ///
    /// # Errors
    /// Those of [`run_in`], [`SamplerError::Cancelled`].
    pub fn run<T: Record, I: Record>(
        &self,
        start: impl FnOnce(&mut Stream) -> Result<T, SamplerError>,
        step: impl FnMut(u64, &mut T, &mut Stream) -> Result<Option<I>, SamplerError>,
    ) -> Result<(T, Vec<I>), SamplerError> {
        self.go_on((T::write as fn(&T, &mut Vec<u8>), T::read), start, step)
    }

    /// As [`Tempered::run_in`].
    ///
    /// # Errors
    /// Those of [`Tempered::run_in`], [`SamplerError::Cancelled`].
    #[allow(clippy::type_complexity)] // a sampler and its reports, as `Tempered::run_in` answers
    pub fn tempered<'p, S, P, T, R, K>(
        &self,
        (particles, draw): (usize, impl FnMut(&mut Stream) -> S),
        path: &'p TemperedPath<P, T>,
        smc: Smc<R>,
        share: f64,
        kernel: impl Fn(f64) -> Result<K, SamplerError>,
    ) -> Result<(Tempered<'p, S, P, T, R>, Vec<TemperedInfo<Info>>), SamplerError>
    where
        S: Clone + Record,
        P: Fn(&S) -> f64,
        T: Fn(&S) -> f64,
        R: Resampler<Stream> + Clone,
        K: Kernel<S, Stream, Info = Info>,
    {
        let again = smc.clone();
        self.go_on(
            (Tempered::write, |bytes: &[u8]| {
                Tempered::read(path, again, bytes)
            }),
            |stream| Tempered::start(particles, path, smc, stream, draw),
            |_, sampler, stream| {
                if sampler.beta() >= 1.0 {
                    return Ok(None);
                }
                let beta = sampler.next_beta(share)?;
                let mut report = sampler.step(beta, &kernel(beta)?, stream)?;
                report.moves = vec![report.moves.iter().copied().sum()];
                Ok(Some(report))
            },
        )
    }

    /// [`run`](Self::run) for a state that `files` writes and reads.
    fn go_on<T, I: Record>(
        &self,
        files: (impl Fn(&T, &mut Vec<u8>), impl FnOnce(&[u8]) -> Option<T>),
        start: impl FnOnce(&mut Stream) -> Result<T, SamplerError>,
        mut step: impl FnMut(u64, &mut T, &mut Stream) -> Result<Option<I>, SamplerError>,
    ) -> Result<(T, Vec<I>), SamplerError> {
        let (write, read) = files;
        let stream = |t: u64| Stream::new(self.name.seed, STEPS, [0, t]);
        let told = |done: usize, of: Option<usize>| {
            let chain = 0;
            tell(self.watch, Progress { chain, done, of })
        };
        let mut bytes = Vec::new();
        let (mut files, kept) = Folder::open(self.folder, &self.name)?;
        let (mut state, mut reports) = match kept {
            Some(kept) => {
                let damaged = || SamplerError::Damaged {
                    reason: format!("{} holds a state of another kind", self.folder.display()),
                };
                let reports: Option<Vec<I>> = kept.reports.iter().map(|r| I::read(r)).collect();
                (
                    read(&kept.state).ok_or_else(damaged)?,
                    reports.ok_or_else(damaged)?,
                )
            }
            None => {
                let state = start(&mut stream(0))?;
                write(&state, &mut bytes);
                files.publish(&bytes)?;
                (state, Vec::new())
            }
        };
        loop {
            let t = reports.len() as u64 + 1;
            let Some(report) = step(t, &mut state, &mut stream(t))? else {
                told(reports.len(), Some(reports.len()))?;
                return Ok((state, reports));
            };
            bytes.clear();
            report.write(&mut bytes);
            files.append(&bytes)?;
            bytes.clear();
            write(&state, &mut bytes);
            files.publish(&bytes)?;
            reports.push(report);
            told(reports.len(), None)?;
        }
    }
}

impl<'a, S, P, T, R> Tempered<'a, S, P, T, R>
where
    S: Clone + Record,
    P: Fn(&S) -> f64,
    T: Fn(&S) -> f64,
    R: Resampler<Stream> + Clone,
{
    /// The whole way from β = 0 to β = 1 in a folder, from which the same call goes on after a kill, as [`run_in`]
    /// does. The ladder is that of [`next_beta`](Self::next_beta) with this `share`, and `kernel` makes the kernel at
    /// β.
    ///
    /// The reports hold what `kernel` said of all particles as one sum. [`InFolder::tempered`] is the same run with
    /// someone who is told and may cancel it.
    ///
    /// ```
    /// use helmholtz_samplers::random::Draws;
    /// use helmholtz_samplers::resampling::{Policy, Systematic};
    /// use helmholtz_samplers::smc::{Smc, Tempered, TemperedPath};
    /// use helmholtz_samplers::{MetropolisHastings, RandomWalk};
    ///
    /// // exp(-x²/2) cut to x > 1, from a standard normal: the tail probability, times √2π.
    /// let normal = |x: &Vec<f64>| -0.5 * x[0] * x[0] - 0.5 * (2.0 * std::f64::consts::PI).ln();
    /// let tail = |x: &Vec<f64>| if x[0] > 1.0 { -0.5 * x[0] * x[0] } else { f64::NEG_INFINITY };
    /// let path = TemperedPath::new(normal, tail);
    /// let folder = std::env::temp_dir().join(format!("helmholtz-tempered-{}", std::process::id()));
    /// let (sampler, steps) = Tempered::run_in(
    ///     &folder,
    ///     "tail, 1000 particles",
    ///     1,
    ///     (1000, |draws| vec![draws.normal()]),
    ///     &path,
    ///     Smc::new(Systematic, Policy::EssBelow(0.5))?,
    ///     0.9,
    ///     |beta| {
    ///         let target = move |x: &Vec<f64>| path.log_density(beta, x);
    ///         Ok(MetropolisHastings::new(target, RandomWalk::new(1.0)?))
    ///     },
    /// )?;
    /// assert_eq!((sampler.beta(), steps.last().map(|step| step.beta)), (1.0, Some(1.0)));
    /// let log_tail = 0.158655f64.ln() + 0.5 * (2.0 * std::f64::consts::PI).ln();
    /// assert!((sampler.population().log_evidence() - log_tail).abs() < 0.3);
    /// # std::fs::remove_dir_all(&folder).unwrap();
    /// # Ok::<(), helmholtz_samplers::SamplerError>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`run_in`], [`start`](Self::start), [`next_beta`](Self::next_beta), [`step`](Self::step) and `kernel`.
    #[allow(clippy::too_many_arguments)] // each is one word of the sampler's definition
    pub fn run_in<K: Kernel<S, Stream, Info = Info>>(
        folder: &Path,
        label: &str,
        seed: u64,
        (particles, draw): (usize, impl FnMut(&mut Stream) -> S),
        path: &'a TemperedPath<P, T>,
        smc: Smc<R>,
        share: f64,
        kernel: impl Fn(f64) -> Result<K, SamplerError>,
    ) -> Result<(Self, Vec<TemperedInfo<Info>>), SamplerError> {
        InFolder::new(folder, label, seed).tempered((particles, draw), path, smc, share, kernel)
    }
}
