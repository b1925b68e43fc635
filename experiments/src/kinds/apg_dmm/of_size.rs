//! Measurements on instances of one size.

use super::Settings;
use super::hamiltonian::chains;
use super::instances::rings;
use super::rows::{Row, Snapshot};
use super::watched::{Watched, watch};
use crate::error::HarnessError;
use crate::framework::failed;
use crate::population::Measured;
use crate::population::TABLE;
use crate::population::batches::Batch;
use crate::population::hamiltonian::Moves;
use crate::population::populations::{learned_sweeps, numbers, sampler};
use crate::population::stepwise::Measuring;
use helmholtz_apg::Streams;
use helmholtz_dmm::{Dmm, Scheme, Simulated};
use helmholtz_ops::{AutodiffBackend, Backend};

/// A trained model, and the size.
pub struct OfSize<'a, B: AutodiffBackend> {
    pub settings: &'a Settings,
    /// The model on a tape, and without.
    pub taped: &'a Dmm<B>,
    pub model: &'a Dmm<B::InnerBackend>,
    pub device: &'a B::Device,
    /// N.
    pub points: usize,
    /// How it is measured.
    pub measuring: &'a Measuring<'a>,
}

impl<B: AutodiffBackend> OfSize<'_, B> {
    /// Adds the rows of all samplers, and gives what amortized population Gibbs was worth after each sweep.
    ///
    /// # Errors
    /// Weights that are none, and what `on_progress` says.
    pub fn rows(&self, rows: &mut Vec<Row>) -> Result<Vec<Watched>, HarnessError> {
        let e = &self.settings.evaluation;
        let ordinary: Vec<u64> = (0..e.instances).collect();
        let apart = separated::<B::InnerBackend>(self.settings, self.points, self.device);
        let wide = [e.particles * e.sweeps, 1];
        let watched = self.watched("RWS", &ordinary, Scheme::Apg, wide)?;
        let own = self.watched("RWS, rings apart", &apart, Scheme::Apg, wide)?;
        rows.push(Row {
            separated: on_separated(own.first()),
            ..self.row("RWS", &watched[0], wide)
        });
        let sizes = [e.prior_particles, e.sweeps];
        let watched = self.watched("BPG", &ordinary, Scheme::Bpg, sizes)?;
        rows.push(self.row("BPG", &watched[e.sweeps - 1], sizes));
        let sizes = [e.particles, self.learned()];
        let watched = self.watched("APG", &ordinary, Scheme::Apg, sizes)?;
        let own = self.watched("APG, rings apart", &apart, Scheme::Apg, sizes)?;
        for &leapfrog in &e.hmc.leapfrog {
            rows.push(self.hamiltonian(leapfrog, &ordinary)?);
        }
        rows.extend(self.table_sweeps().map(|k| Row {
            separated: on_separated(own.get(k - 1)),
            ..self.row("APG", &watched[k - 1], [e.particles, k])
        }));
        Ok(watched)
    }

    /// The first instance with its rings after the shown sweeps.
    pub fn snapshots(&self, watched: &[Watched]) -> Vec<Snapshot> {
        let first = rings::<B::InnerBackend>(self.settings, TABLE, &[0], self.points, self.device);
        let first = numbers(first.x);
        let shown = std::iter::once(1).chain(self.table_sweeps().filter(|&k| k > 1));
        let snapshot = |k: usize| {
            let data = first.chunks(2).map(|x| [x[0], x[1]]);
            let rings = watched[k - 1].first.iter().copied();
            Snapshot {
                sweeps: k,
                data: data.zip(rings).collect(),
            }
        };
        shown.map(snapshot).collect()
    }

    /// Sweeps of a sampler whose proposals were learned.
    fn learned(&self) -> usize {
        learned_sweeps(
            self.settings.training.sweeps,
            self.settings.evaluation.sweeps,
        )
    }

    fn table_sweeps(&self) -> impl Iterator<Item = usize> {
        let shown = self.settings.evaluation.shown_sweeps.iter().copied();
        shown.filter(|&k| k <= self.learned())
    }

    fn row(&self, label: &str, watched: &Watched, [particles, sweeps]: [usize; 2]) -> Row {
        Row {
            points: self.points,
            label: label.into(),
            particles,
            sweeps,
            log_joint: Measured::of(&watched.log_joint),
            accuracy: Measured::of(&watched.accuracy),
            separated: None,
            accepted: None,
        }
    }

    fn watched(
        &self,
        label: &str,
        chosen: &[u64],
        scheme: Scheme,
        [particles, sweeps]: [usize; 2],
    ) -> Result<Vec<Watched>, HarnessError> {
        let (points, seed) = (self.points, self.settings.seed);
        let sampler = sampler(particles, sweeps);
        let watched = self.each(label, chosen, |data, from| {
            let name = format!("{label}, instances from {from} of the table, seed {seed}");
            let mut streams = Streams::new(TABLE, from).named(name);
            let piece = format!("N = {points}, {label}, {scheme:?}, {particles}, {sweeps}, {from}");
            let watched = self.measuring.pieces.get(&piece, || {
                let watched = watch(self.model, &sampler, scheme, data, &mut streams);
                Ok::<_, HarnessError>(watched.map_err(failed)?.0)
            })?;
            Ok((watched, ()))
        })?;
        Ok(watched.0)
    }

    fn hamiltonian(&self, leapfrog: usize, chosen: &[u64]) -> Result<Row, HarnessError> {
        let (points, e) = (self.points, &self.settings.evaluation);
        let label = format!("HMC-RWS, LF = {leapfrog}");
        let (watched, moves) = self.each(&label, chosen, |data, from| {
            let lengths = [e.particles, e.sweeps - 1];
            let hmc = (&e.hmc, leapfrog);
            let piece = format!("N = {points}, {label}, {lengths:?}, {from}");
            let measured = || chains((self.taped, self.model), hmc, data, lengths, from);
            let (watched, own) = self.measuring.pieces.get(&piece, measured)?;
            Ok((vec![watched], own))
        })?;
        Ok(Row {
            accepted: Some(Moves::mean(&moves)),
            ..self.row(&label, &watched[0], [e.particles, e.sweeps])
        })
    }

    /// Runs on the chosen instances, some at a time.
    fn each<T: Send>(
        &self,
        label: &str,
        chosen: &[u64],
        run: impl Fn(&Simulated<B::InnerBackend>, u64) -> Batch<Watched, T> + Sync,
    ) -> Batch<Watched, Vec<T>> {
        let (points, settings) = (self.points, self.settings);
        let what = format!("N = {points}, {label}: instance");
        let batch = settings.evaluation.batch as usize;
        self.measuring
            .in_batches(&what, chosen, batch, |_, numbers| {
                let data = rings::<B::InnerBackend>(settings, TABLE, numbers, points, self.device);
                run(&data, numbers[0])
            })
    }
}

fn on_separated(watched: Option<&Watched>) -> Option<Measured> {
    let accuracy = watched.map(|watched| &watched.accuracy);
    accuracy
        .filter(|of| of.len() > 1)
        .map(|of| Measured::of(of))
}

/// Number of instances that are searched for those whose rings do not touch.
const SEARCHED: u64 = 10_000;

/// The numbers of the first instances whose rings do not touch: any two centres are more than two radii apart.
fn separated<B: Backend>(settings: &Settings, points: usize, device: &B::Device) -> Vec<u64> {
    let (m, wanted) = (settings.data.clusters, settings.evaluation.separated);
    let touch = |own: &[f64]| {
        let centres: Vec<&[f64]> = own.chunks(2).collect();
        let near = |i: usize, j: usize| {
            let apart = [0, 1].map(|axis| centres[i][axis] - centres[j][axis]);
            apart[0].hypot(apart[1]) <= 2.0 * settings.data.radius
        };
        (0..m).any(|i| (0..i).any(|j| near(i, j)))
    };
    let blocks = (0..SEARCHED).step_by(100).flat_map(|from| {
        let block: Vec<u64> = (from..from + 100).collect();
        let truth = rings::<B>(settings, TABLE, &block, points, device).truth;
        let centres = numbers(truth.mean);
        let own = block.into_iter().zip(centres.chunks(2 * m).map(touch));
        own.filter(|(_, touch)| !touch)
            .map(|(number, _)| number)
            .collect::<Vec<_>>()
    });
    blocks.take(wanted as usize).collect()
}
