//! The list of runs: which task has which, one line a run.

use super::{io, rejected};
use crate::error::HarnessError;
use crate::plan::Plan;
use crate::work::Work;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The file's name in a sweep's folder.
pub const LIST: &str = "runs.jsonl";

/// A run of a sweep.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Listed {
    /// The task that runs it.
    pub task: usize,
    /// Label in messages.
    pub label: String,
    /// Its run folder, from the root.
    pub folder: PathBuf,
    /// Cost, as it was measured where the plan was made.
    pub work: Work,
}

/// The runs of a plan's queue, divided among tasks of at most `per_task`, of which there are at most `most`: then each has more. The
/// longest are dealt out first, one to each task, so that tasks take about as long.
pub fn divide(plan: &Plan, queue: &[usize], per_task: usize, most: usize) -> Vec<Listed> {
    let tasks = queue.len().div_ceil(per_task.max(1)).clamp(1, most.max(1));
    let listed = |(at, &index): (usize, &usize)| {
        let planned = &plan.units[index];
        Listed {
            task: at % tasks,
            label: planned.unit.label.clone(),
            folder: planned.unit.folder.clone(),
            work: planned.cost.work,
        }
    };
    let mut runs: Vec<Listed> = queue.iter().enumerate().map(listed).collect();
    runs.sort_by_key(|run| run.task);
    runs
}

/// The number of tasks, and the most runs of one.
pub fn sizes(runs: &[Listed]) -> (usize, usize) {
    let tasks = runs.chunk_by(|a, b| a.task == b.task);
    (
        tasks.clone().count(),
        tasks.map(<[Listed]>::len).max().unwrap_or(0),
    )
}

/// The list's text.
///
/// # Errors
/// A folder whose name is no text.
pub fn text(runs: &[Listed]) -> Result<String, HarnessError> {
    let line = |run: &Listed| match serde_json::to_string(run) {
        Ok(line) => Ok(line + "\n"),
        Err(error) => Err(rejected(
            format!("{} cannot be listed: {error}", run.folder.display()),
            "give an `--out` whose name is text",
        )),
    };
    runs.iter().map(line).collect()
}

/// The runs of a task of the sweep in `folder`.
///
/// # Errors
/// A list that cannot be read, or has no such task.
pub fn read(folder: &Path, task: usize) -> Result<Vec<Listed>, HarnessError> {
    let path = folder.join(LIST);
    let text = std::fs::read_to_string(&path).map_err(io("read", &path))?;
    let runs = text.lines().map(serde_json::from_str::<Listed>);
    let runs: Vec<Listed> = runs.collect::<Result<_, _>>().map_err(|error| {
        rejected(
            format!("{} is no list of runs: {error}", path.display()),
            "submit the sweep again",
        )
    })?;
    let own: Vec<Listed> = runs.into_iter().filter(|run| run.task == task).collect();
    match own.is_empty() {
        true => Err(rejected(
            format!("{} has no task {task}", path.display()),
            "tasks are numbered from 0 on",
        )),
        false => Ok(own),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Counting;

    fn plan(names: &[&str]) -> (tempfile::TempDir, Plan) {
        let dir = tempfile::tempdir().unwrap();
        let plan = Plan::new(&Counting::new(dir.path(), names), false, &|_| Ok(())).unwrap();
        (dir, plan)
    }

    #[test]
    fn every_run_is_in_one_task_and_the_longest_are_apart() {
        let (_dir, mut plan) = plan(&["a", "b", "c", "d", "e"]);
        for (seconds, planned) in (1..).zip(&mut plan.units) {
            planned.cost.work.each = f64::from(seconds);
        }
        let runs = divide(&plan, &plan.queue(), 2, 100);
        let task = |n| -> Vec<char> {
            let own = runs.iter().filter(|run| run.task == n);
            own.map(|run| run.label.chars().next().unwrap()).collect()
        };
        assert_eq!(
            [task(0), task(1), task(2)],
            [vec!['e', 'b'], vec!['d', 'a'], vec!['c']]
        );
        assert_eq!(sizes(&runs), (3, 2));
    }

    #[test]
    fn an_array_that_may_not_be_so_large_has_larger_tasks() {
        let (_dir, plan) = plan(&["a", "b", "c", "d", "e"]);
        assert_eq!(sizes(&divide(&plan, &plan.queue(), 1, 2)), (2, 3));
        assert_eq!(sizes(&divide(&plan, &plan.queue(), 1, 5)), (5, 1));
    }

    #[test]
    fn a_list_is_read_back_by_task() {
        let (dir, plan) = plan(&["a", "b", "c"]);
        let runs = divide(&plan, &plan.queue(), 2, 100);
        std::fs::write(dir.path().join(LIST), text(&runs).unwrap()).unwrap();
        assert_eq!(read(dir.path(), 0).unwrap(), &runs[..2]);
        assert!(
            read(dir.path(), 2)
                .unwrap_err()
                .to_string()
                .contains("no task 2")
        );
    }
}
