//! The newest checkpoint of a run that is not opened.

use std::path::Path;

use crate::canonical::config_hash;
use crate::checkpoint::{self, Checkpoint, Fault};
use crate::{RunError, read_config};

/// Reads the newest whole checkpoint of the run folder at `path` without its lock, and changes nothing there: to look at a
/// run's parameters, finished or not. Damaged ones are passed over. `None` before the first, and where there is no run.
///
/// Errors: [`RunError::NoUsableCheckpoint`], and those of [`read_config`].
pub fn read_checkpoint(path: impl AsRef<Path>) -> Result<Option<Checkpoint>, RunError> {
    let folder = path.as_ref();
    let Some(config) = read_config(folder)? else {
        return Ok(None);
    };
    let mut problems = Vec::new();
    for number in checkpoint::list(folder)?.into_iter().rev() {
        match checkpoint::load(folder, number, &config_hash(&config)) {
            Ok(loaded) => return Ok(Some(loaded.checkpoint)),
            Err(Fault::Damaged(what)) => problems.push(format!("checkpoint {number}: {what}")),
            Err(Fault::Stop(error)) => return Err(error),
        }
    }
    if problems.is_empty() {
        return Ok(None);
    }
    Err(RunError::NoUsableCheckpoint {
        folder: folder.into(),
        problems,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{OpenMode, RunFolder};

    #[test]
    fn the_newest_whole_checkpoint_is_read_while_the_run_goes_on_and_nothing_is_mended() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("run");
        assert_eq!(read_checkpoint(&path).unwrap(), None);
        let mut run = RunFolder::open(&path, &json!({"seed": 1}), OpenMode::Resume).unwrap();
        assert_eq!(read_checkpoint(&path).unwrap(), None);
        run.append_metrics(&json!(1)).unwrap();
        for epoch in 1..=2 {
            run.save_checkpoint(&json!(epoch), &[("theta", &[epoch])])
                .unwrap();
        }
        run.append_metrics(&json!("after the checkpoint")).unwrap();
        let newest = read_checkpoint(&path).unwrap().unwrap();
        assert_eq!((newest.number, newest.state), (2, json!(2)));
        assert_eq!(newest.parts["theta"], [2]);

        let damage = |number: u64| {
            let part = path.join(format!("checkpoints/{number:06}/theta"));
            std::fs::write(part, [9]).unwrap();
        };
        damage(2);
        assert_eq!(read_checkpoint(&path).unwrap().unwrap().number, 1);
        assert_eq!(checkpoint::list(&path).unwrap(), [1, 2]);
        damage(1);
        let error = read_checkpoint(&path).unwrap_err().to_string();
        assert!(
            error.contains("checkpoint 1") && error.contains("checkpoint 2"),
            "{error}"
        );
    }
}
