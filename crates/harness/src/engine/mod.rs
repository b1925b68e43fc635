//! Engines that run units beside this process: tasks of a Slurm array, or of any other launcher.
//!
//! A *sweep* is a folder `<out>/.sweeps/<name>`: the list of runs, a job script, a manifest. A *task* is one element of it: the program
//! itself, started with the same request and the number of the task, which runs its units and ends. Slurm queues, places, pre-empts and
//! requeues; nothing of that is here.
//!
//! | step | module |
//! |---|---|
//! | what a cluster is asked for | [`options`] |
//! | which runs a task has | [`list`] |
//! | the folder, its manifest, the program set aside | [`sweep`] |
//! | the job script | [`job`] |
//! | calls of `sbatch`, `scontrol`, `sinfo`, `srun`, `squeue` | [`slurm`] |
//! | whether a folder can be one that nodes share | [`shared`] |
//! | from a plan to a queued array | [`submit`] |
//! | what runs in a task, and how it ends | [`task`], [`attempts`], [`signals`] |
//! | watching from the run folders | [`follow`] |

pub mod attempts;
pub mod follow;
pub mod job;
pub mod list;
pub mod options;
pub mod shared;
pub mod signals;
pub mod slurm;
pub mod submit;
pub mod sweep;
pub mod task;

use crate::error::HarnessError;
use std::path::Path;

/// Engine that hands runs out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Engine {
    /// One job array of Slurm
    Slurm,
    /// A list of runs, and a script that starts one
    Script,
}

fn rejected(what: impl Into<String>, remedy: impl Into<String>) -> HarnessError {
    HarnessError::Cluster {
        what: what.into(),
        remedy: remedy.into(),
    }
}

fn io(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> HarnessError {
    let path = path.to_path_buf();
    move |source| {
        use std::io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
        match source.kind() {
            StorageFull | QuotaExceeded | FileTooLarge => rejected(
                format!(
                    "no space left, or the quota is full: cannot {action} {}: {source}",
                    path.display()
                ),
                "free some space or give another `--out`; nothing was submitted",
            ),
            _ => HarnessError::Io {
                action,
                path,
                source,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::streams::assert_contains;
    use std::io::{Error, ErrorKind};

    #[test]
    fn a_full_disk_is_said_to_be_full() {
        let told = |kind: ErrorKind| io("write", "runs/x".as_ref())(Error::from(kind));
        for kind in [
            ErrorKind::StorageFull,
            ErrorKind::QuotaExceeded,
            ErrorKind::FileTooLarge,
        ] {
            let parts = [
                "no space left",
                "cannot write runs/x",
                "nothing was submitted",
            ];
            assert_contains(told(kind), &parts);
        }
        let other = told(ErrorKind::PermissionDenied);
        assert!(matches!(
            other,
            HarnessError::Io {
                action: "write",
                ..
            }
        ));
    }
}
