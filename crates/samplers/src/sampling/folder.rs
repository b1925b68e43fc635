//! Chains in a folder, from which they go on after a kill.

use std::path::Path;

use helmholtz_random::Stream;

use super::driver::{REPORT, Sampling};
use super::trace::{Name, Trace};
use super::{Chains, Record};
use crate::{Info, Kernel, SamplerError};

impl Sampling<'_> {
    /// As [`run`](Self::run), with every transition in a file of `folder`, one a chain. From these files the same call
    /// goes on after a kill at any moment, to the same bits. So does a call for more draws, or more warm-up, than
    /// before.
    ///
    /// `label` says what is sampled: a folder of another label, seed or start is refused, and one of another kernel
    /// should have another label. A file holds 64 bytes and the state for each transition. A kill of the process loses 64
    /// transitions a chain at most, which are made again; a stop of the machine may lose more. One process at a time
    /// may use a folder.
    ///
    /// # Errors
    /// Those of [`run`](Self::run), [`SamplerError::Shape`] for a folder of another run, [`SamplerError::Damaged`],
    /// [`SamplerError::Io`].
    pub fn run_in<S, K>(
        &self,
        folder: &Path,
        label: &str,
        kernel: &K,
        starts: Vec<S>,
    ) -> Result<Chains<S>, SamplerError>
    where
        S: Clone + Send + Record,
        K: Kernel<S, Stream, Info = Info> + Sync,
    {
        create(folder)?;
        self.chains(starts, |chain, start| {
            let (mut trace, made) = self.trace(folder, label, chain, false, &start)?;
            self.traced(&mut trace, chain, start, Some(kernel), made)
        })
    }

    /// As [`run_tuned`](Self::run_tuned), with every transition in a file of `folder`, one a chain, from which the same
    /// call goes on as [`run_in`](Self::run_in) does.
    ///
    /// ```
    /// use helmholtz_samplers::Hmc;
    /// use helmholtz_samplers::sampling::Sampling;
    ///
    /// let target = |x: &[f64], gradient: &mut [f64]| {
    ///     gradient[0] -= x[0] / 9.0;
    ///     -0.5 * x[0] * x[0] / 9.0
    /// };
    /// let folder = std::env::temp_dir().join(format!("helmholtz-tuned-{}", std::process::id()));
    /// let run = |draws| {
    ///     Sampling::new(7, draws).run_tuned_in(
    ///         &folder,
    ///         "normal, 0.8",
    ///         |_, x: &mut Vec<f64>, stream| Hmc::new(target, 1.0, 4)?.warm_up(0.8, 300, x, stream),
    ///         vec![vec![-5.0], vec![5.0]],
    ///     )
    /// };
    /// let fewer = run(100)?;
    /// let more = run(200)?; // goes on from the files
    /// assert_eq!(more.draws()[1][..100], fewer.draws()[1]);
    /// # std::fs::remove_dir_all(&folder).unwrap();
    /// # Ok::<(), helmholtz_samplers::SamplerError>(())
    /// ```
    ///
    /// **What is made again.** A kernel is not kept, as it may hold anything. So each chain that still lacks transitions
    /// is tuned again, its whole warm-up, from the same start and with the same stream. Up to 64 transitions a chain are
    /// made again too. Chains that are complete are read without tuning.
    ///
    /// `tune` must be a function of what it is given, without other randomness or memory. The state that it leaves is
    /// kept as the file's first record, and a `tune` that comes to another one is refused. One that leaves the same
    /// state and another kernel is not noticed: give it another label.
    ///
    /// # Errors
    /// Those of [`run_in`](Self::run_in) and of `tune`; [`SamplerError::Shape`] if `tune` leaves another state than
    /// before.
    pub fn run_tuned_in<S, K>(
        &self,
        folder: &Path,
        label: &str,
        tune: impl Fn(usize, &mut S, &mut Stream) -> Result<K, SamplerError> + Sync,
        starts: Vec<S>,
    ) -> Result<Chains<S>, SamplerError>
    where
        S: Clone + Send + Record,
        K: Kernel<S, Stream, Info = Info>,
    {
        create(folder)?;
        self.chains(starts, |chain, start| {
            let (mut trace, mut made) = self.trace(folder, label, chain, true, &start)?;
            let tuned = (!made.is_empty()).then(|| made.remove(0).1);
            if let Some(state) = &tuned
                && made.len() >= self.warm_up + self.draws
            {
                return self.traced(&mut trace, chain, state.clone(), None::<&K>, made);
            }
            let mut state = start;
            let kernel = tune(chain, &mut state, &mut self.tuning(chain))?;
            match tuned {
                Some(before) => same_tuning(folder, &before, &state)?,
                None => {
                    trace.append(&Info::default(), &state)?;
                    trace.flush()?;
                }
            }
            self.traced(&mut trace, chain, state, Some(&kernel), made)
        })
    }

    /// The file of a chain in `folder`, and what it holds.
    fn trace<S: Record>(
        &self,
        folder: &Path,
        label: &str,
        chain: usize,
        tuned: bool,
        start: &S,
    ) -> Result<(Trace, Vec<(Info, S)>), SamplerError> {
        let name = Name {
            label,
            seed: self.seed,
            chain: chain as u64,
            tuned,
        };
        Trace::open(&folder.join(format!("chain-{chain}.trace")), &name, start)
    }

    /// [`continued`](Self::continued) with every new transition in `trace`.
    fn traced<S: Clone + Record, K: Kernel<S, Stream, Info = Info>>(
        &self,
        trace: &mut Trace,
        chain: usize,
        start: S,
        kernel: Option<&K>,
        made: Vec<(Info, S)>,
    ) -> Result<(Vec<S>, Vec<Info>), SamplerError> {
        let result = self.continued(chain, start, kernel, made, |t, info, state| {
            trace.append(info, state)?;
            if t % REPORT == 0 {
                trace.flush()
            } else {
                Ok(())
            }
        });
        trace.sync()?;
        result
    }
}

fn create(folder: &Path) -> Result<(), SamplerError> {
    std::fs::create_dir_all(folder).map_err(|source| SamplerError::Io {
        action: "create",
        path: folder.to_owned(),
        source,
    })
}

/// # Errors
/// [`SamplerError::Shape`] unless tuning left the same state as `before`, to the bit.
fn same_tuning<S: Record>(folder: &Path, before: &S, now: &S) -> Result<(), SamplerError> {
    let [before, now] = [before, now].map(|state| {
        let mut bytes = Vec::new();
        state.write(&mut bytes);
        bytes
    });
    if before == now {
        return Ok(());
    }
    Err(SamplerError::Shape {
        found: format!(
            "those of kernels that were tuned otherwise in {}",
            folder.display()
        ),
        expected: "a warm-up that leaves another state; tune by what `tune` is given alone".into(),
    })
}
