//! The loop over chains and transitions.

use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use helmholtz_random::{Purpose, Stream};

use super::Chains;
use crate::{Info, Kernel, SamplerError};

/// `draws` states of a chain from each of `starts`, after `warm_up` transitions that are not kept, on as many threads as
/// the machine has cores. See the [module](super) for an example.
///
/// # Errors
/// [`SamplerError::Parameter`] without starts.
pub fn sample<S, K>(
    kernel: &K,
    starts: Vec<S>,
    warm_up: usize,
    draws: usize,
    seed: u64,
) -> Result<Chains<S>, SamplerError>
where
    S: Clone + Send,
    K: Kernel<S, Stream, Info = Info> + Sync,
{
    Sampling::new(seed, draws)
        .warm_up(warm_up)
        .run(kernel, starts)
}

/// How to run chains: how long, on how many threads, and who is told.
#[derive(Clone, Copy)]
pub struct Sampling<'a> {
    pub(super) seed: u64,
    pub(super) warm_up: usize,
    pub(super) draws: usize,
    threads: usize,
    watch: Option<Watch<'a>>,
}

type Watch<'a> = &'a (dyn Fn(Progress) -> ControlFlow<()> + Sync);

/// Where a chain is, or an SMC run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Which chain, from 0; 0 for an SMC run.
    pub chain: usize,
    /// Transitions made, those of the warm-up included; steps of an SMC run.
    pub done: usize,
    /// The same in all. `None` for an SMC run until its end, which its steps alone can tell.
    pub of: Option<usize>,
}

const STEPS: Purpose = Purpose::new("sample");
const TUNING: Purpose = Purpose::new("tune");

/// Transitions from one report of progress, and hand-over of a trace to the system, to the next.
pub(super) const REPORT: usize = 64;

impl<'a> Sampling<'a> {
    /// `draws` draws a chain, without warm-up, on as many threads as the machine has cores.
    pub fn new(seed: u64, draws: usize) -> Self {
        let cores = std::thread::available_parallelism();
        Self {
            seed,
            warm_up: 0,
            draws,
            threads: cores.map_or(1, usize::from),
            watch: None,
        }
    }

    /// With `transitions` before the first draw that are not kept.
    ///
    /// They are made by the same fixed kernel as the draws. So a warm-up of N, and N more after it, is one of 2 N, and
    /// a folder goes on from the first to the second. A warm-up that adapts, as [`Hmc::warm_up`](crate::Hmc::warm_up)
    /// in [`run_tuned`](Self::run_tuned), has a schedule made for its own length: two of N are not one of 2 N.
    pub fn warm_up(mut self, transitions: usize) -> Self {
        self.warm_up = transitions;
        self
    }

    /// On so many threads, at least one; the chains are the same bits on any number. One uses the caller's own.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads.max(1);
        self
    }

    /// Tells `watch` where each chain is, every 64 transitions and at the end, from the chain's thread. If it answers
    /// [`ControlFlow::Break`], all chains end with [`SamplerError::Cancelled`].
    pub fn watched_by(mut self, watch: &'a (dyn Fn(Progress) -> ControlFlow<()> + Sync)) -> Self {
        self.watch = Some(watch);
        self
    }

    /// A chain of `kernel` from each of `starts`.
    ///
    /// # Errors
    /// [`SamplerError::Parameter`] without starts, [`SamplerError::Cancelled`].
    pub fn run<S, K>(&self, kernel: &K, starts: Vec<S>) -> Result<Chains<S>, SamplerError>
    where
        S: Clone + Send,
        K: Kernel<S, Stream, Info = Info> + Sync,
    {
        self.run_tuned(|_, _, _| Ok(kernel), starts)
    }

    /// A chain from each of `starts`, by the kernel that `tune` makes for it. `tune` is given the chain's number, its
    /// start, which it may move, and a stream for the warm-up.
    ///
    /// ```
    /// use helmholtz_samplers::Hmc;
    /// use helmholtz_samplers::sampling::Sampling;
    ///
    /// let target = |x: &[f64], gradient: &mut [f64]| {
    ///     gradient[0] -= x[0] / 9.0;
    ///     -0.5 * x[0] * x[0] / 9.0
    /// };
    /// let chains = Sampling::new(7, 500).run_tuned(
    ///     |_, x: &mut Vec<f64>, stream| Hmc::new(target, 1.0, 4)?.warm_up(0.8, 300, x, stream),
    ///     vec![vec![-5.0], vec![5.0]],
    /// )?;
    /// assert!(chains.summaries(&["x"], |x, values| values.clone_from(x))?[0].1.r_hat < 1.05);
    /// # Ok::<(), helmholtz_samplers::SamplerError>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`run`](Self::run) and of `tune`.
    pub fn run_tuned<S, K>(
        &self,
        tune: impl Fn(usize, &mut S, &mut Stream) -> Result<K, SamplerError> + Sync,
        starts: Vec<S>,
    ) -> Result<Chains<S>, SamplerError>
    where
        S: Clone + Send,
        K: Kernel<S, Stream, Info = Info>,
    {
        self.chains(starts, |chain, mut state| {
            let kernel = tune(chain, &mut state, &mut self.tuning(chain))?;
            self.continued(chain, state, Some(&kernel), Vec::new(), |_, _, _| Ok(()))
        })
    }

    /// The stream of a chain's warm-up.
    pub(super) fn tuning(&self, chain: usize) -> Stream {
        Stream::new(self.seed, TUNING, [chain as u64, 0])
    }

    /// `run` of every start, on threads, in order.
    pub(super) fn chains<S: Send>(
        &self,
        starts: Vec<S>,
        run: impl Fn(usize, S) -> Result<(Vec<S>, Vec<Info>), SamplerError> + Sync,
    ) -> Result<Chains<S>, SamplerError> {
        crate::arguments::at_least_one("the number of starts", starts.len())?;
        let threads = self.threads.min(starts.len());
        if threads == 1 {
            let chains = starts
                .into_iter()
                .enumerate()
                .map(|(c, start)| run(c, start));
            return chains.collect::<Result<_, _>>().map(Chains::new);
        }
        let starts: Vec<Mutex<Option<S>>> =
            starts.into_iter().map(|s| Mutex::new(Some(s))).collect();
        let (next, ends) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        let work = || {
            loop {
                let chain = next.fetch_add(1, Ordering::Relaxed);
                let Some(start) = starts.get(chain) else {
                    return;
                };
                let start = start.lock().ok().and_then(|mut start| start.take());
                let end = start.map(|start| run(chain, start));
                if let (Some(end), Ok(mut ends)) = (end, ends.lock()) {
                    ends.push((chain, end));
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..threads {
                // A thread that the system refuses is done without.
                let _ = std::thread::Builder::new().spawn_scoped(scope, work);
            }
            work();
        });
        let mut ends = ends
            .into_inner()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        ends.sort_by_key(|(chain, _)| *chain);
        let chains = ends.into_iter().map(|(_, end)| end);
        chains.collect::<Result<_, _>>().map(Chains::new)
    }

    /// The draws of one chain from its `start`, after the transitions `made` already; `keep` is told of each new one.
    /// Without a kernel no new one is made.
    pub(super) fn continued<S: Clone, K: Kernel<S, Stream, Info = Info>>(
        &self,
        chain: usize,
        start: S,
        kernel: Option<&K>,
        made: Vec<(Info, S)>,
        mut keep: impl FnMut(usize, &Info, &S) -> Result<(), SamplerError>,
    ) -> Result<(Vec<S>, Vec<Info>), SamplerError> {
        let of = self.warm_up + self.draws;
        let (mut draws, mut reports) = (
            Vec::with_capacity(self.draws),
            Vec::with_capacity(self.draws),
        );
        let mut state = start;
        let begun = made.len();
        let mut collect = |t: usize, info: Info, state: &S| {
            if t >= self.warm_up {
                draws.push(state.clone());
                reports.push(info);
            }
        };
        for (t, (info, after)) in made.into_iter().take(of).enumerate() {
            collect(t, info, &after);
            state = after;
        }
        for t in begun..of {
            let Some(kernel) = kernel else { break };
            let mut stream = Stream::new(self.seed, STEPS, [chain as u64, t as u64]);
            let info = kernel.step(&mut state, &mut stream);
            keep(t, &info, &state)?;
            collect(t, info, &state);
            let done = t + 1;
            if done % REPORT == 0 || done == of {
                let of = Some(of);
                tell(self.watch, Progress { chain, done, of })?;
            }
        }
        Ok((draws, reports))
    }
}

/// Tells `watch`, if there is one, and asks it whether to go on.
///
/// # Errors
/// [`SamplerError::Cancelled`].
pub(crate) fn tell<W>(watch: Option<W>, told: Progress) -> Result<(), SamplerError>
where
    W: Fn(Progress) -> ControlFlow<()>,
{
    let Progress { chain, done, of } = told;
    match watch.map(|watch| watch(told)) {
        Some(ControlFlow::Break(())) => Err(SamplerError::Cancelled { chain, done, of }),
        _ => Ok(()),
    }
}
