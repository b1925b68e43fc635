//! The plan: which cells, what is done already, how long the rest takes on this machine.

use crate::cell::Cell;
use crate::cell_runner::{CellResult, CellRunner, Cost};
use crate::error::HarnessError;
use crate::existing;
use crate::machine::Needs;
use crate::nets::Net;
use crate::schedule::{Sizes, Work, makespan};
use crate::stepwise::bytes;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The folder of all cells of an experiment, profile and data set: `<out>/<experiment>/<profile>/<dataset>`.
///
/// With epochs other than the profile's, the profile's part says so (`quick-20-epochs`): such runs have
/// another configuration, and never meet the profile's own folders.
pub fn base_folder(
    out: &Path,
    experiment: &str,
    profile: &str,
    epochs: Option<u64>,
    dataset: &str,
) -> PathBuf {
    let profile = match epochs {
        Some(n) => format!("{profile}-{n}-epochs"),
        None => profile.to_string(),
    };
    out.join(experiment).join(profile).join(dataset)
}

/// The profile, and epochs other than its own, that a part of [`base_folder`] names.
pub fn profile_of(part: &str) -> (&str, Option<u64>) {
    let parts = part
        .strip_suffix("-epochs")
        .and_then(|rest| rest.rsplit_once('-'));
    let named = parts.and_then(|(profile, epochs)| Some((profile, epochs.parse().ok()?)));
    named.map_or((part, None), |(profile, epochs)| (profile, Some(epochs)))
}

/// What a cell's run folder holds.
#[derive(Debug, Clone, PartialEq)]
pub enum CellStatus {
    /// Nothing yet.
    New,
    /// A checkpoint with so many finished epochs.
    Partial {
        /// Finished epochs.
        epoch: u64,
    },
    /// An attempt that failed; running it tries again from its last checkpoint.
    Failed {
        /// Why.
        reason: String,
    },
    /// Another process is at work on it.
    Running {
        /// Its process id, where it is known.
        pid: Option<u32>,
    },
    /// The folder cannot be used: of another configuration or version, or damaged.
    Unusable {
        /// Why, and the remedy.
        reason: String,
    },
    /// The result.
    Done(Box<CellResult>),
}

/// A cell, where it runs, and what is left to do.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedCell {
    /// The cell.
    pub cell: Cell,
    /// Its run folder.
    pub folder: PathBuf,
    /// What the folder holds.
    pub status: CellStatus,
    /// The cell's work on this machine.
    pub work: Work,
    /// The least that it needs.
    pub needs: Needs,
}

impl PlannedCell {
    /// Finished epochs.
    pub fn epochs_done(&self) -> u64 {
        match &self.status {
            CellStatus::Partial { epoch } => *epoch,
            CellStatus::Done(result) => result.epochs_done,
            _ => 0,
        }
    }

    /// Whether there is nothing left to do.
    pub fn is_done(&self) -> bool {
        matches!(self.status, CellStatus::Done(_))
    }

    /// Whether the cell is to be run: not done, and its folder can be used.
    pub fn is_to_run(&self) -> bool {
        !matches!(
            self.status,
            CellStatus::Done(_) | CellStatus::Unusable { .. }
        )
    }

    /// Seconds of work left, on one thread.
    pub fn remaining(&self) -> f64 {
        if self.is_to_run() {
            self.work.remaining(&self.cell.settings, self.epochs_done())
        } else {
            0.0
        }
    }
}

/// The cells of a request.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The cells, in the table's order.
    pub cells: Vec<PlannedCell>,
}

impl Plan {
    /// Looks at the run folders below `base` and measures what the rest costs. With `fresh`, every folder
    /// counts as empty.
    ///
    /// # Errors
    /// A cell that the runner cannot build. A run folder that cannot be used is a status, not an error:
    /// it keeps no other cell from running.
    pub fn new(
        cells: Vec<Cell>,
        base: &Path,
        fresh: bool,
        costs: &mut Costs,
    ) -> Result<Self, HarnessError> {
        let cells = cells
            .into_iter()
            .map(|cell| {
                let folder = cell.folder(base);
                let status = if fresh {
                    CellStatus::New
                } else {
                    existing::status(&folder, &cell)
                };
                let (work, mut needs) = costs.of(&cell)?;
                if matches!(
                    status,
                    CellStatus::Partial { .. }
                        | CellStatus::Failed { .. }
                        | CellStatus::Running { .. }
                ) {
                    let there = existing::checkpoint_bytes(&folder);
                    needs.disk = needs.disk.saturating_sub(there);
                }
                Ok(PlannedCell {
                    cell,
                    folder,
                    status,
                    work,
                    needs,
                })
            })
            .collect::<Result<_, HarnessError>>()?;
        Ok(Self { cells })
    }

    /// The order in which cells are started: those with work left, longest first, so that no long one
    /// is left to run alone at the end.
    pub fn queue(&self) -> Vec<usize> {
        let mut queue: Vec<usize> = (0..self.cells.len())
            .filter(|&i| self.cells[i].is_to_run())
            .collect();
        queue.sort_by(|&a, &b| {
            self.cells[b]
                .remaining()
                .total_cmp(&self.cells[a].remaining())
        });
        queue
    }

    /// Whether a run folder cannot be used.
    pub fn has_unusable(&self) -> bool {
        let mut statuses = self.cells.iter().map(|cell| &cell.status);
        statuses.any(|status| matches!(status, CellStatus::Unusable { .. }))
    }

    /// The least that all need that are not done, with so many cells at once.
    pub fn needs(&self, jobs: usize) -> Needs {
        let left = self.cells.iter().filter(|cell| cell.is_to_run());
        let mut memory: Vec<u64> = left.clone().map(|cell| cell.needs.memory).collect();
        memory.sort_unstable_by(|a, b| b.cmp(a));
        let memory = memory.into_iter().take(jobs);
        Needs {
            memory: memory.fold(0, u64::saturating_add),
            disk: left.map(|cell| cell.needs.disk).sum(),
        }
    }

    /// Seconds until all is done, with so many cells at once.
    pub fn seconds(&self, jobs: usize) -> f64 {
        makespan(
            self.queue().into_iter().map(|i| self.cells[i].remaining()),
            jobs,
        )
    }
}

/// A run holds its parameters, Adam's two moments and the chains, with them what a step needs or the gradient, and keeps all but those
/// in two checkpoints while it writes a third.
pub fn needs(cell: &Cell, cost: Cost, sizes: Sizes) -> Needs {
    let kept = 3 * 4 * cost.parameters + cost.row_bytes * sizes.train;
    let gradient = 4 * cost.parameters;
    Needs {
        memory: kept.saturating_add(step_bytes(cell, sizes).max(gradient)),
        // Checkpoints hold the selected parameters too.
        disk: 3 * (kept + 4 * cost.parameters),
    }
}

/// The least memory of a training step: for each particle of each image of a batch the logits of what is seen, and the latents.
/// Nothing for a cell that cannot be built, which is the runner's to refuse.
pub fn step_bytes(cell: &Cell, sizes: Sizes) -> u64 {
    let (Ok(net), Ok(method)) = (Net::of(cell), cell.method()) else {
        return 0;
    };
    let settings = &cell.settings;
    // Wake-sleep has one particle, whatever K; no other method has fewer than K.
    let most = settings.particles.min(1 << 40);
    let particles = method.evaluations(most, 1, false).min(most);
    let batch = sizes.train.min(settings.batch as u64);
    bytes(&[batch, particles as u64, net.values() as u64])
}

/// Measured costs, each net and method once.
pub struct Costs<'a> {
    runner: &'a dyn CellRunner,
    sizes: Sizes,
    known: BTreeMap<(String, String, usize, usize), Cost>,
    measuring: &'a dyn Fn(&Cell) -> Result<(), HarnessError>,
}

impl<'a> Costs<'a> {
    /// Costs that `runner` will measure for data of these sizes; `measuring` hears of each measurement first, and may
    /// refuse it.
    pub fn new(
        runner: &'a dyn CellRunner,
        sizes: Sizes,
        measuring: &'a dyn Fn(&Cell) -> Result<(), HarnessError>,
    ) -> Self {
        Self {
            runner,
            sizes,
            known: BTreeMap::new(),
            measuring,
        }
    }

    /// The work of a cell, and what it needs.
    ///
    /// # Errors
    /// A cell that the runner cannot build, or a measurement that was refused.
    pub fn of(&mut self, cell: &Cell) -> Result<(Work, Needs), HarnessError> {
        let key = (
            cell.net.clone(),
            cell.method.clone(),
            cell.settings.batch,
            cell.settings.particles,
        );
        let cost = match self.known.get(&key) {
            Some(cost) => *cost,
            None => {
                (self.measuring)(cell)?;
                let cost = self.runner.measure(cell)?;
                self.known.insert(key, cost);
                cost
            }
        };
        let work = Work::of(&cell.settings, self.sizes, cost);
        Ok((work, needs(cell, cost, self.sizes)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::tests::cell;
    use crate::fake::{FakeRunner, SIZES};
    use crate::spec::Selection;
    use crate::spec::tests::table1;
    use helmholtz_runs::{OpenMode, RunFolder};
    use std::sync::atomic::AtomicBool;

    struct Deaf;
    impl crate::cell_runner::Observer for Deaf {
        fn event(&self, _: &crate::cell_runner::RunEvent) {}
    }

    #[test]
    fn other_epochs_have_a_folder_of_their_own() {
        let path = |epochs| base_folder(Path::new("runs"), "table1", "quick", epochs, "glyphs");
        assert_eq!(path(None), Path::new("runs/table1/quick/glyphs"));
        assert_eq!(
            path(Some(20)),
            Path::new("runs/table1/quick-20-epochs/glyphs")
        );
        assert_eq!(profile_of("quick-20-epochs"), ("quick", Some(20)));
        for name in ["quick", "rate-1e-3", "of-epochs", "20-epochs"] {
            assert_eq!(profile_of(name), (name, None));
        }
    }

    #[test]
    fn each_net_and_method_is_measured_once() {
        let runner = FakeRunner::default();
        let dir = tempfile::tempdir().unwrap();
        let cells = table1()
            .cells("paper", &Selection::default(), "glyphs")
            .unwrap();
        let plan = Plan::new(
            cells,
            dir.path(),
            false,
            &mut Costs::new(&runner, SIZES, &|_| Ok(())),
        )
        .unwrap();
        assert_eq!(plan.cells.len(), 3 * 8 * 5);
        assert_eq!(runner.measured.lock().unwrap().len(), 3 * 8);
    }

    #[test]
    fn finished_and_half_finished_cells_are_seen_and_not_planned_again() {
        let runner = FakeRunner::default();
        let dir = tempfile::tempdir().unwrap();
        let cells = vec![
            cell("linear", "jsa", 1),
            cell("linear", "rws", 1),
            cell("linear", "rloo", 1),
        ];
        let go = AtomicBool::new(false);
        runner
            .run(&cells[0], &cells[0].folder(dir.path()), &Deaf, &go)
            .unwrap();
        let interrupted = FakeRunner {
            interrupt_after: Some(2),
            ..FakeRunner::default()
        };
        interrupted
            .run(&cells[1], &cells[1].folder(dir.path()), &Deaf, &go)
            .unwrap_err();

        let mut costs = Costs::new(&runner, SIZES, &|_| Ok(()));
        let plan = Plan::new(cells.clone(), dir.path(), false, &mut costs).unwrap();
        assert!(plan.cells[0].is_done());
        assert_eq!(plan.cells[1].status, CellStatus::Partial { epoch: 2 });
        assert_eq!(plan.cells[2].status, CellStatus::New);
        assert_eq!(plan.queue(), [2, 1], "longest first");
        let whole = plan.cells[2].remaining();
        assert_eq!(plan.seconds(2), whole);
        assert_eq!(plan.seconds(1), whole + plan.cells[1].remaining());

        let plan = Plan::new(cells, dir.path(), true, &mut costs).unwrap();
        assert!(
            plan.cells.iter().all(|c| c.status == CellStatus::New),
            "--fresh starts over"
        );
    }

    #[test]
    fn what_checkpoints_take_already_need_not_be_free() {
        let (c, dir) = (cell("linear", "jsa", 1), tempfile::tempdir().unwrap());
        let folder = c.folder(dir.path());
        let mut run = RunFolder::open(&folder, &existing::config(&c), OpenMode::Resume).unwrap();
        for epoch in 1..=3 {
            let state = serde_json::json!({"epochs_done": epoch});
            run.save_checkpoint(&state, &[("model", &[0; 3000])])
                .unwrap();
        }
        drop(run);
        // Two are kept, each with its manifest.
        let there = existing::checkpoint_bytes(&folder);
        assert!((6000..9000).contains(&there), "{there}");

        let runner = FakeRunner::default();
        let disk = |fresh| {
            let mut costs = Costs::new(&runner, SIZES, &|_| Ok(()));
            let plan = Plan::new(vec![c.clone()], dir.path(), fresh, &mut costs);
            plan.unwrap().needs(1).disk
        };
        assert_eq!(disk(false), disk(true) - there);
    }

    #[test]
    fn a_step_needs_a_row_for_each_particle_of_each_image() {
        let mut c = cell("linear", "jsa", 1);
        (c.settings.batch, c.settings.particles) = (50, 20);
        assert_eq!(step_bytes(&c, SIZES), 50 * 20 * (784 + 200) * 4);
        let cost = FakeRunner::default().measure(&c).unwrap();
        let kept = 3 * 4 * cost.parameters + SIZES.train;
        assert_eq!(needs(&c, cost, SIZES).memory, kept + step_bytes(&c, SIZES));
        c.method = "ws".into();
        assert_eq!(step_bytes(&c, SIZES), 50 * (784 + 200) * 4);
        c.method = "jsa".into();
        c.settings.particles = usize::MAX;
        assert!(step_bytes(&c, SIZES) > 1 << 50);
        c.net = "none".into();
        assert_eq!(step_bytes(&c, SIZES), 0);
    }

    #[test]
    fn a_folder_of_another_configuration_is_left_alone_and_said() {
        let runner = FakeRunner::default();
        let dir = tempfile::tempdir().unwrap();
        let mut c = cell("linear", "jsa", 1);
        let go = AtomicBool::new(false);
        runner.run(&c, &c.folder(dir.path()), &Deaf, &go).unwrap();
        c.settings.learning_rate = 1e-3;
        let cells = vec![c, cell("linear", "rws", 1)];
        let mut costs = Costs::new(&runner, SIZES, &|_| Ok(()));
        let plan = Plan::new(cells, dir.path(), false, &mut costs).unwrap();
        assert!(
            matches!(&plan.cells[0].status, CellStatus::Unusable { reason } if reason.contains("learning_rate")),
            "{:?}",
            plan.cells[0].status
        );
        assert_eq!(plan.queue(), [1]);
    }
}
