//! The parameters that a run has come to, read from its folder.

use crate::cell::Cell;
use crate::error::HarnessError;
use helmholtz_datasets::Splits;
use helmholtz_runs::{Checkpoint, RunError, RunFolder, Status, read_checkpoint, read_config};
use helmholtz_training::Parameters;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// A run whose parameters are used.
#[derive(Debug, Clone)]
pub struct Run {
    /// Its folder.
    pub folder: PathBuf,
    /// Cell that was run.
    pub cell: Cell,
    /// Its newest checkpoint.
    pub checkpoint: Checkpoint,
    /// Choice among its parameters.
    pub parameters: Parameters,
}

impl Run {
    /// The run in `folder`, finished or not, or even going on.
    ///
    /// # Errors
    /// A folder without a run or a checkpoint, or with another program's; and what it takes to find out.
    pub fn read(folder: &Path, parameters: Parameters) -> Result<Self, HarnessError> {
        let unusable = |problem: &str| {
            let folder = folder.display();
            HarnessError::Unusable(format!("cannot use {folder}: {problem}"))
        };
        let Some(config) = read_config(folder)? else {
            return Err(unusable(
                "there is no run; name a run folder, such as runs/table1/quick/binarized-mnist/linear/jsa/seed-1",
            ));
        };
        let cell: Cell = serde_json::from_value(config)
            .map_err(|error| unusable(&format!("it is no run of an experiment ({error})")))?;
        let checkpoint = read_checkpoint(folder)?.ok_or_else(|| match RunFolder::peek(folder) {
            Ok(Status::Finished(_)) => unusable(
                "the run is finished and its checkpoints are gone; name a run that has some, or start it over with `--fresh`",
            ),
            _ => unusable("the run has made no checkpoint yet"),
        })?;
        let run = Self {
            folder: folder.into(),
            cell,
            checkpoint,
            parameters,
        };
        match (parameters, run.epoch()) {
            (Parameters::Selected, None) => Err(unusable(
                "the run has made no check yet, so that no parameters are selected; ask for its last ones",
            )),
            _ => Ok(run),
        }
    }

    /// Checks that these are the images of the run, where it says which it had.
    ///
    /// # Errors
    /// [`RunError::OtherData`].
    pub fn check_data(&self, data: &Splits) -> Result<(), HarnessError> {
        let of_checkpoint = self.checkpoint.state["data"].as_str();
        match self.cell.fingerprint.as_deref().or(of_checkpoint) {
            Some(stored) if stored != data.fingerprint => Err(RunError::OtherData {
                folder: self.folder.clone(),
                stored: stored.into(),
                asked: data.fingerprint.clone(),
            }
            .into()),
            _ => Ok(()),
        }
    }

    /// Finished epochs, where the checkpoint tells.
    pub fn epoch(&self) -> Option<u64> {
        let state = &self.checkpoint.state;
        match self.parameters {
            Parameters::Last => state["epochs_done"].as_u64(),
            Parameters::Selected => state["selected"]["epoch"].as_u64(),
        }
    }

    /// Whether it was in its second stage, with a chain an image.
    pub fn has_chains(&self) -> bool {
        self.checkpoint.state["chains_started"] == Value::Bool(true)
    }

    /// `linear / jsa / seed 1 after 12 epochs`.
    pub fn label(&self) -> String {
        let epochs = self.epoch().unwrap_or(0);
        let which = match self.parameters {
            Parameters::Last => "after",
            Parameters::Selected => "as selected, after",
        };
        format!("{} {which} {epochs} epochs", self.cell.label())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use helmholtz_harness::streams::assert_contains;

    #[test]
    fn a_folder_without_a_run_is_told_what_a_run_folder_is() {
        let dir = tempfile::tempdir().unwrap();
        let nothing = dir.path().join("nothing");
        let error = Run::read(&nothing, Parameters::Last).unwrap_err();
        assert_contains(&error, &["name a run folder, such as"]);
    }

    #[test]
    fn a_finished_run_without_checkpoints_is_told_from_one_that_has_made_none_yet() {
        let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("results");
        let recorded = results.join("table1/paper-100-epochs/linear/jsa/seed-1");
        let dir = tempfile::tempdir().unwrap();
        let error = || {
            Run::read(dir.path(), Parameters::Last)
                .unwrap_err()
                .to_string()
        };
        for (name, part) in [
            ("config.json", "no checkpoint yet"),
            ("result.json", "its checkpoints are gone"),
        ] {
            std::fs::copy(recorded.join(name), dir.path().join(name)).unwrap();
            assert!(error().contains(part), "{}", error());
        }
    }
}
