//! SMC samplers that go on from a folder.

use std::path::Path;

use helmholtz_random::{Purpose, Stream};

use super::folder::{Folder, Name};
use super::{Smc, Tempered, TemperedInfo, TemperedPath};
use crate::resampling::Resampler;
use crate::sampling::Record;
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
/// process at a time may use a folder.
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
    let files = (T::write as fn(&T, &mut Vec<u8>), T::read);
    run(folder, &Name { label, seed }, files, start, step)
}

/// [`run_in`] for a state that `files` writes and reads.
fn run<T, I: Record>(
    folder: &Path,
    name: &Name<'_>,
    files: (impl Fn(&T, &mut Vec<u8>), impl FnOnce(&[u8]) -> Option<T>),
    start: impl FnOnce(&mut Stream) -> Result<T, SamplerError>,
    mut step: impl FnMut(u64, &mut T, &mut Stream) -> Result<Option<I>, SamplerError>,
) -> Result<(T, Vec<I>), SamplerError> {
    let (write, read) = files;
    let stream = |t: u64| Stream::new(name.seed, STEPS, [0, t]);
    let mut bytes = Vec::new();
    let (mut files, kept) = Folder::open(folder, name)?;
    let (mut state, mut reports) = match kept {
        Some(kept) => {
            let damaged = || SamplerError::Damaged {
                reason: format!("{} holds a state of another kind", folder.display()),
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
            return Ok((state, reports));
        };
        bytes.clear();
        report.write(&mut bytes);
        files.append(&bytes)?;
        bytes.clear();
        write(&state, &mut bytes);
        files.publish(&bytes)?;
        reports.push(report);
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
    /// The reports hold what `kernel` said of all particles as one sum.
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
        let again = smc.clone();
        run(
            folder,
            &Name { label, seed },
            (Self::write, |bytes: &[u8]| Self::read(path, again, bytes)),
            |stream| Self::start(particles, path, smc, stream, draw),
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
}
