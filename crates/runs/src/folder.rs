//! A run folder, opened: locked, of the asked configuration, and rewound to its newest whole checkpoint.

use std::path::{Path, PathBuf};
use std::time::Instant;

use helmholtz_files::{Lock, now, sync_directory};
use serde_json::{Value, json};

use crate::canonical::config_hash;
use crate::checkpoint::{self, Fault, Manifest};
use crate::config::{read_config, same_config};
use crate::disk::{clear, failed, publish};
use crate::ends::{read_failure, read_result};
use crate::history::History;
use crate::lock;
use crate::metrics::{Metrics, result_seal};
use crate::names::{CHECKPOINTS, CONFIG, FAILURE, RESULT};
use crate::place::{
    Contents, contents, create, create_checkpoints, remove_scratch, resolve, set_aside,
};
use crate::rewind::rewind;
use crate::{Checkpoint, Failure, Position, Provenance, RunError, sealed};

/// Mode of opening a folder that already has a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenMode {
    /// Continue it from its newest whole checkpoint.
    Resume,
    /// Rename its folder aside, to `<name>.old-1` or the first number free, and begin anew.
    Fresh,
}

/// A run folder, held by this process until it is dropped.
///
/// Kill the process at any moment: the next [`RunFolder::open`] finds the newest whole checkpoint, and the metrics as
/// they were when it was saved.
#[derive(Debug)]
pub struct RunFolder {
    path: PathBuf,
    config: String,
    metrics: Metrics,
    newest: Option<u64>,
    started: String,
    /// Wall time up to the checkpoint that was resumed from, in seconds.
    earlier: f64,
    opened: Instant,
    warnings: Vec<String>,
    history: History,
    lock: Lock,
}

impl RunFolder {
    /// Opens the run folder at `path` for `config`, and creates it where there is none.
    ///
    /// Resuming takes the newest checkpoint that is whole: each part is compared with its length and sha256, and a
    /// damaged checkpoint is set aside for the one before it. The metrics are cut to what that checkpoint, or the result,
    /// recorded; of damaged ones the whole rows are kept. [`RunFolder::warnings`] then says so. The note of an earlier
    /// failure is cleared.
    ///
    /// `config` may differ from the run's own in [`FREE_KEYS`](crate::FREE_KEYS), and either may leave out the data's
    /// [`FINGERPRINT`](crate::FINGERPRINT).
    ///
    /// Errors, all of which leave what was in the folder: [`RunError::Locked`], [`RunError::OtherConfig`],
    /// [`RunError::OtherData`], [`RunError::OtherVersion`], [`RunError::NotARunFolder`], [`RunError::Link`], [`RunError::Damaged`] (the configuration),
    /// [`RunError::NoUsableCheckpoint`], [`RunError::DiskFull`], [`RunError::Io`].
    pub fn open(path: impl AsRef<Path>, config: &Value, mode: OpenMode) -> Result<Self, RunError> {
        let path = resolve(path.as_ref())?;
        // Held until the new folder is locked, so that of two who begin anew at once, one is refused.
        let _aside = match (mode, contents(&path)?) {
            (OpenMode::Fresh, Contents::Run) => Some(set_aside(&path)?),
            _ => None,
        };
        create(&path)?;
        let lock = lock::acquire(&path)?;
        let stored = match read_config(&path)? {
            Some(stored) => {
                same_config(&path, &stored, config)?;
                stored
            }
            None => {
                publish(&path, CONFIG, &sealed::seal(config))?;
                config.clone()
            }
        };
        create_checkpoints(&path)?;
        remove_scratch(&path, &path)?;
        remove_scratch(&path, &path.join(CHECKPOINTS))?;

        let config = config_hash(&stored);
        let (manifest, mut warnings) = rewind(&path, &config)?;
        let of_result = result_seal(&path)?;
        let seal = of_result
            .as_ref()
            .or(manifest.as_ref().map(|last| &last.metrics));
        let (metrics, damage) = Metrics::rewind(&path, seal)?;
        warnings.extend(damage);
        if let Some(failure) = read_failure(&path)? {
            let note = path.join(FAILURE);
            clear(&note).map_err(failed(&path, "remove", &note))?;
            warnings.push(format!("the attempt before this one failed: {failure}; trying again from its last checkpoint"));
        }
        sync_directory(&path).map_err(failed(&path, "write", &path))?;
        let (newest, started, earlier, history) = match manifest {
            Some(Manifest {
                number,
                started,
                seconds,
                history,
                ..
            }) => (Some(number), started, seconds, history),
            None => (None, now(), 0.0, History::default()),
        };
        Ok(Self {
            path,
            config,
            metrics,
            newest,
            started,
            earlier,
            opened: Instant::now(),
            warnings,
            history,
            lock,
        })
    }

    /// Path of the run folder. Files of one's own may be kept there, under names that this crate does not use.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Warnings of what opening the folder found and mended: a damaged checkpoint passed over, damaged metrics, an earlier failure.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Wall time of this run in seconds, over all its resumes. Time that a kill took back, from the last checkpoint to
    /// the kill, is not counted.
    pub fn seconds(&self) -> f64 {
        self.earlier + self.opened.elapsed().as_secs_f64()
    }

    /// Provenance of the run's numbers, with the configuration's hash, the start and the wall time of this folder.
    pub fn provenance(&self, seed: u64, device: &str) -> Provenance {
        Provenance {
            history: self.history.0.clone(),
            ..Provenance::new(&self.config, seed, device, &self.started, self.seconds())
        }
    }

    /// Takes in that `now` goes on with the training after the checkpoint at position `at`. Gives the warning that is due where
    /// another commit, compiler, version, arithmetic, device or set of processor features made that. Checkpoints of older
    /// versions of this crate do not say who made them: `earlier` does, if it is known.
    pub fn resumed(
        &mut self,
        at: Position,
        earlier: Option<&Provenance>,
        now: &Provenance,
    ) -> Option<String> {
        self.history.resumed(at, earlier, now)
    }

    /// Takes in that `now` has trained up to position `at`; call it before each checkpoint. The next checkpoint, and
    /// [`Provenance::history`] from now on, say so.
    pub fn trained(&mut self, now: &Provenance, at: Position) {
        self.history.trained(now, at);
    }

    /// Appends one line to `metrics.jsonl`, whole or not at all. It is on the disk for certain with the next checkpoint.
    ///
    /// Errors: [`RunError::LockLost`], [`RunError::DiskFull`], [`RunError::Io`].
    pub fn append_metrics(&mut self, row: &Value) -> Result<(), RunError> {
        lock::check(&self.lock, &self.path)?;
        self.metrics.append(row)
    }

    /// Saves `state` and `parts` (a name and its bytes each) as the newest checkpoint, and removes all but this one and
    /// the one before.
    ///
    /// Errors: [`RunError::LockLost`], [`RunError::PartName`], [`RunError::DiskFull`], [`RunError::Io`]; after each of them
    /// the checkpoint before is whole.
    pub fn save_checkpoint(
        &mut self,
        state: &Value,
        parts: &[(&str, &[u8])],
    ) -> Result<(), RunError> {
        lock::check(&self.lock, &self.path)?;
        let number = self.newest.unwrap_or(0) + 1;
        let metrics = self.metrics.sync()?;
        checkpoint::save(&self.path, number, parts, |parts| Manifest {
            number,
            config: self.config.clone(),
            started: self.started.clone(),
            seconds: self.seconds(),
            metrics,
            history: self.history.clone(),
            parts,
            state: state.clone(),
        })?;
        let before = self.newest.replace(number);
        let keep: Vec<u64> = before.into_iter().chain([number]).collect();
        checkpoint::prune(&self.path, &keep)
    }

    /// Reads the newest checkpoint and checks every byte of it; `None` before the first.
    ///
    /// Errors: [`RunError::Damaged`] where it was damaged since the folder was opened, [`RunError::Io`].
    pub fn latest_checkpoint(&self) -> Result<Option<Checkpoint>, RunError> {
        let Some(number) = self.newest else {
            return Ok(None);
        };
        match checkpoint::load(&self.path, number, &self.config) {
            Ok(loaded) => Ok(Some(loaded.checkpoint)),
            Err(Fault::Stop(error)) => Err(error),
            Err(Fault::Damaged(what)) => Err(RunError::Damaged {
                file: self.path.join(CHECKPOINTS).join(format!("{number:06}")),
                what,
                remedy: "give the same command again: it falls back to the checkpoint before",
            }),
        }
    }

    /// Publishes the run's result, in one step, with a seal of its metrics. Checkpoints stay.
    ///
    /// Errors: [`RunError::LockLost`], [`RunError::DiskFull`], [`RunError::Io`].
    pub fn finish(&mut self, result: &Value) -> Result<(), RunError> {
        lock::check(&self.lock, &self.path)?;
        let seal = self.metrics.sync()?;
        let seal = serde_json::to_value(seal).expect("a seal is plain data");
        publish(&self.path, RESULT, &sealed::seal_beside(result, &seal))?;
        self.clear_pieces()
    }

    pub(crate) fn config_hash(&self) -> &str {
        &self.config
    }

    /// The result, where the run was finished before.
    ///
    /// Errors: [`RunError::Damaged`], [`RunError::Io`].
    pub fn result(&self) -> Result<Option<Value>, RunError> {
        read_result(&self.path)
    }

    /// Leaves a note why the run stopped. Checkpoints and metrics stay; the next open clears it.
    ///
    /// Errors: [`RunError::DiskFull`], [`RunError::Io`].
    pub fn fail(&mut self, failure: &Failure) -> Result<(), RunError> {
        let Failure {
            reason,
            seed,
            epoch,
            step,
            batch,
        } = failure;
        let note =
            json!({"reason": reason, "seed": seed, "epoch": epoch, "step": step, "batch": batch});
        publish(&self.path, FAILURE, &sealed::seal(&note))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::sealed::FORMAT;
    use crate::{Status, read_metrics};
    use serde_json::json;
    use tempfile::TempDir;

    fn config() -> Value {
        json!({"net": "linear", "settings": {"epochs": 20, "batch": 50}})
    }

    fn open(path: &Path, mode: OpenMode) -> Result<RunFolder, RunError> {
        RunFolder::open(path, &config(), mode)
    }

    fn home() -> (TempDir, PathBuf) {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().canonicalize().unwrap().join("runs/one");
        (home, path)
    }

    #[test]
    fn a_run_goes_on_where_its_last_checkpoint_left_it() {
        let (_home, path) = home();
        let mut run = open(&path, OpenMode::Resume).unwrap();
        assert_eq!(run.latest_checkpoint().unwrap(), None);
        run.append_metrics(&json!(1)).unwrap();
        run.save_checkpoint(&json!({"epoch": 1}), &[("theta", b"abc")])
            .unwrap();
        run.append_metrics(&json!("lost")).unwrap();
        drop(run);

        let mut run = open(&path, OpenMode::Resume).unwrap();
        let checkpoint = run.latest_checkpoint().unwrap().unwrap();
        assert_eq!(checkpoint.state, json!({"epoch": 1}));
        assert_eq!(
            checkpoint.parts,
            [("theta".to_string(), b"abc".to_vec())].into()
        );
        assert!(run.warnings().is_empty());
        run.append_metrics(&json!(2)).unwrap();
        run.save_checkpoint(&json!({"epoch": 2}), &[]).unwrap();
        assert_eq!(read_metrics(&path).unwrap(), [json!(1), json!(2)]);
        assert_eq!(run.latest_checkpoint().unwrap().unwrap().number, 2);
    }

    #[test]
    fn the_newest_two_checkpoints_are_kept() {
        let (_home, path) = home();
        let mut run = open(&path, OpenMode::Resume).unwrap();
        for epoch in 1..=4 {
            run.save_checkpoint(&json!(epoch), &[]).unwrap();
        }
        assert_eq!(checkpoint::list(&path).unwrap(), [3, 4]);
        drop(run);
        let mut run = open(&path, OpenMode::Resume).unwrap();
        run.save_checkpoint(&json!(5), &[]).unwrap();
        assert_eq!(checkpoint::list(&path).unwrap(), [4, 5]);
    }

    #[test]
    fn another_configuration_is_refused_with_the_keys_that_differ() {
        let (_home, path) = home();
        drop(open(&path, OpenMode::Resume).unwrap());
        let other = json!({"net": "linear", "settings": {"epochs": 30, "batch": 50}});
        let error = RunFolder::open(&path, &other, OpenMode::Resume).unwrap_err();
        let text = error.to_string();
        assert!(matches!(error, RunError::OtherConfig { .. }));
        assert!(
            text.contains("settings.epochs: 20 in the folder, 30 asked for"),
            "{text}"
        );
        assert!(
            text.contains("--fresh") && text.contains(&*path.to_string_lossy()),
            "{text}"
        );
        assert!(matches!(
            RunFolder::peek_as(&path, &other),
            Err(RunError::OtherConfig { .. })
        ));
        // The order of keys is no difference.
        let same = json!({"settings": {"batch": 50, "epochs": 20}, "net": "linear"});
        RunFolder::open(&path, &same, OpenMode::Resume).unwrap();
    }

    #[test]
    fn what_changes_no_bit_is_no_other_configuration() {
        let (_home, path) = home();
        let of = |seconds, threads| json!({"settings": {"epochs": 20, "checkpoint_seconds": seconds}, "threads": threads});
        let open = |config: &Value| RunFolder::open(&path, config, OpenMode::Resume);
        let mut run = open(&of(60, 1)).unwrap();
        run.save_checkpoint(&json!(1), &[]).unwrap();
        let hash = run.provenance(1, "cpu").config_hash;
        drop(run);
        let run = open(&of(5, 2)).unwrap();
        assert_eq!(run.latest_checkpoint().unwrap().unwrap().state, json!(1));
        assert_eq!(run.provenance(1, "cpu").config_hash, hash);
        assert_eq!(read_config(&path).unwrap(), Some(of(60, 1)));
    }

    #[test]
    fn other_data_are_refused_and_unknown_data_are_not_other_ones() {
        let (_home, path) = home();
        let of = |data: &str| json!({"cell": {"epochs": 1, "fingerprint": data}});
        let unknown = json!({"cell": {"epochs": 1}});
        let open = |config: &Value| RunFolder::open(&path, config, OpenMode::Resume);
        drop(open(&of("aaaa")).unwrap());
        drop(open(&unknown).unwrap());
        let error = open(&of("bbbb")).unwrap_err();
        let text = error.to_string();
        assert!(matches!(error, RunError::OtherData { .. }), "{text}");
        for part in ["aaaa", "bbbb", "--data-dir", "--fresh"] {
            assert!(text.contains(part), "{text}");
        }
        let error = RunFolder::peek_as(&path, &of("bbbb")).unwrap_err();
        assert!(matches!(error, RunError::OtherData { .. }), "{error}");
        // A folder recorded before fingerprints were is whatever data's.
        let (_home, path) = home();
        let open = |config: &Value| RunFolder::open(&path, config, OpenMode::Resume);
        drop(open(&unknown).unwrap());
        drop(open(&of("aaaa")).unwrap());
    }

    #[test]
    fn a_finished_run_keeps_the_seal_of_its_metrics_and_damage_is_refused() {
        let (_home, path) = home();
        let mut run = open(&path, OpenMode::Resume).unwrap();
        for row in 1..=3 {
            run.append_metrics(&json!({"row": row})).unwrap();
        }
        run.finish(&json!({"nll": 1.0})).unwrap();
        drop(run);
        assert_eq!(read_metrics(&path).unwrap().len(), 3);
        let file = path.join("metrics.jsonl");
        let whole = fs::read_to_string(&file).unwrap();
        for (damaged, part) in [
            (
                whole.replace("\"row\":2", "\"row\":7"),
                "of 3 rows, 2 are not",
            ),
            (whole.replace("{\"row\":3}\n", ""), "of 3 rows, 3 are not"),
            (format!("{whole}{{\"row\":4}}\n"), "goes on after"),
            (String::new(), "1-3 are not"),
        ] {
            fs::write(&file, damaged).unwrap();
            let error = read_metrics(&path).unwrap_err().to_string();
            assert!(
                error.contains(part) && error.contains("metrics.jsonl"),
                "{error}"
            );
        }
        // A result of older versions has no seal, and its metrics are read as they are.
        fs::write(path.join(RESULT), sealed::seal(&json!({"nll": 1.0}))).unwrap();
        fs::write(&file, "{\"row\":9}\n").unwrap();
        assert_eq!(read_metrics(&path).unwrap(), [json!({"row": 9})]);
    }

    #[test]
    fn opening_a_finished_run_keeps_its_metrics() {
        let (_home, path) = home();
        let mut run = open(&path, OpenMode::Resume).unwrap();
        run.save_checkpoint(&json!(1), &[]).unwrap();
        run.append_metrics(&json!("after the checkpoint")).unwrap();
        run.finish(&json!(1)).unwrap();
        drop(run);
        drop(open(&path, OpenMode::Resume).unwrap());
        assert_eq!(read_metrics(&path).unwrap().len(), 1);
    }

    #[test]
    fn the_history_of_programs_goes_with_the_checkpoints() {
        let (_home, path) = home();
        let at = |epochs| Position { epochs, steps: 0 };
        let program = |run: &RunFolder, commit: &str| Provenance {
            commit: commit.into(),
            ..run.provenance(1, "cpu")
        };
        for (epoch, commit) in [(1, "a"), (2, "a"), (3, "b")] {
            let mut run = open(&path, OpenMode::Resume).unwrap();
            let now = program(&run, commit);
            let warning = run.resumed(at(epoch - 1), None, &now);
            assert_eq!(warning.is_some(), epoch == 3, "{warning:?}");
            run.trained(&now, at(epoch));
            run.save_checkpoint(&json!(epoch), &[]).unwrap();
        }
        let run = open(&path, OpenMode::Resume).unwrap();
        let history = run.provenance(1, "cpu").history;
        let parts: Vec<_> = history
            .iter()
            .map(|part| (part.commit.as_str(), part.from.epochs, part.to.epochs))
            .collect();
        assert_eq!(parts, [("a", 0, 2), ("b", 2, 3)]);
    }

    #[test]
    fn another_format_is_refused() {
        let (_home, path) = home();
        drop(open(&path, OpenMode::Resume).unwrap());
        fs::write(path.join(CONFIG), r#"{"format": 9}"#).unwrap();
        for error in [
            open(&path, OpenMode::Resume).unwrap_err(),
            RunFolder::peek(&path).unwrap_err(),
        ] {
            assert!(
                matches!(
                    error,
                    RunError::OtherVersion {
                        found: 9,
                        supported: FORMAT,
                        ..
                    }
                ),
                "{error}"
            );
        }
        open(&path, OpenMode::Fresh).unwrap();
        assert!(path.with_extension("old-1").exists());
    }

    #[test]
    fn fresh_keeps_the_old_folders_aside_under_free_numbers() {
        let (_home, path) = home();
        for epoch in 1..=3 {
            let mut run = open(&path, OpenMode::Fresh).unwrap();
            assert_eq!(run.latest_checkpoint().unwrap(), None);
            run.save_checkpoint(&json!(epoch), &[]).unwrap();
        }
        for (name, epoch) in [("one.old-1", 1), ("one.old-2", 2), ("one", 3)] {
            let run = open(&path.with_file_name(name), OpenMode::Resume).unwrap();
            assert_eq!(
                run.latest_checkpoint().unwrap().unwrap().state,
                json!(epoch)
            );
        }
    }

    #[test]
    fn fresh_leaves_a_live_run_alone() {
        let (_home, path) = home();
        let run = open(&path, OpenMode::Resume).unwrap();
        for mode in [OpenMode::Fresh, OpenMode::Resume] {
            match open(&path, mode).unwrap_err() {
                RunError::Locked { pid, .. } => assert_eq!(pid, Some(std::process::id())),
                error => panic!("{error}"),
            }
        }
        assert_eq!(
            RunFolder::peek(&path).unwrap(),
            Status::Running {
                pid: Some(std::process::id())
            }
        );
        drop(run);
        assert_eq!(
            helmholtz_files::names(path.parent().unwrap()).unwrap(),
            ["one"]
        );
    }

    #[cfg(unix)]
    #[test]
    fn fresh_through_a_link_leaves_the_link_in_place() {
        let (_home, path) = home();
        let link = path.parent().unwrap().with_file_name("link");
        drop(open(&path, OpenMode::Resume).unwrap());
        std::os::unix::fs::symlink(&path, &link).unwrap();
        let run = open(&link, OpenMode::Fresh).unwrap();
        assert_eq!(run.path(), path);
        assert_eq!(
            RunFolder::peek(path.with_extension("old-1")).unwrap(),
            Status::Started { state: None }
        );
    }

    #[test]
    fn what_is_not_a_run_folder_is_not_touched() {
        let (_home, path) = home();
        fs::create_dir_all(&path).unwrap();
        fs::write(path.join("thesis.tex"), "years").unwrap();
        let file = path.join("thesis.tex");
        for mode in [OpenMode::Fresh, OpenMode::Resume] {
            for place in [&path, &file] {
                let error = open(place, mode).unwrap_err();
                assert!(matches!(error, RunError::NotARunFolder { .. }), "{error}");
            }
        }
        assert_eq!(helmholtz_files::names(&path).unwrap(), ["thesis.tex"]);
        assert!(matches!(
            RunFolder::peek(&path),
            Err(RunError::NotARunFolder { .. })
        ));
        assert!(matches!(
            open(Path::new("/"), OpenMode::Fresh),
            Err(RunError::NotARunFolder { .. })
        ));
    }

    #[test]
    fn peek_tells_absent_started_failed_and_finished() {
        let (_home, path) = home();
        let peek = || RunFolder::peek_as(&path, &config()).unwrap();
        assert_eq!(peek(), Status::Absent);
        assert!(!path.exists());
        drop(open(&path, OpenMode::Resume).unwrap());
        assert_eq!(peek(), Status::Started { state: None });

        let mut run = open(&path, OpenMode::Resume).unwrap();
        run.save_checkpoint(&json!({"epoch": 1}), &[("theta", b"abc")])
            .unwrap();
        run.save_checkpoint(&json!({"epoch": 2}), &[("theta", b"abc")])
            .unwrap();
        drop(run);
        assert_eq!(
            peek(),
            Status::Started {
                state: Some(json!({"epoch": 2}))
            }
        );
        let theta = path.join("checkpoints/000002/theta");
        fs::write(&theta, b"ab").unwrap();
        assert_eq!(
            peek(),
            Status::Started {
                state: Some(json!({"epoch": 1}))
            }
        );
        fs::write(&theta, b"abc").unwrap();

        let mut run = open(&path, OpenMode::Resume).unwrap();
        let failure = Failure {
            reason: "the loss is not a number".into(),
            seed: 1,
            epoch: 3,
            step: 120,
            batch: vec![4, 17],
        };
        run.fail(&failure).unwrap();
        drop(run);
        assert_eq!(peek(), Status::Failed(failure.clone()));

        let mut run = open(&path, OpenMode::Resume).unwrap();
        assert!(
            run.warnings()[0].contains("(seed 1, epoch 3, step 120, batch [4, 17])"),
            "{:?}",
            run.warnings()
        );
        assert_eq!(
            run.latest_checkpoint().unwrap().unwrap().state,
            json!({"epoch": 2})
        );
        assert_eq!(run.result().unwrap(), None);
        run.finish(&json!({"nll": 105.5})).unwrap();
        assert_eq!(run.result().unwrap(), Some(json!({"nll": 105.5})));
        assert_eq!(peek(), Status::Finished(json!({"nll": 105.5})));
        drop(run);
        assert_eq!(peek(), Status::Finished(json!({"nll": 105.5})));
    }

    #[test]
    fn a_damaged_result_or_note_says_so() {
        let (_home, path) = home();
        let mut run = open(&path, OpenMode::Resume).unwrap();
        run.fail(&Failure::default()).unwrap();
        drop(run);
        fs::write(path.join(FAILURE), "").unwrap();
        match RunFolder::peek(&path).unwrap() {
            Status::Failed(failure) => assert!(failure.reason.contains("unreadable"), "{failure}"),
            status => panic!("{status:?}"),
        }
        let mut run = open(&path, OpenMode::Resume).unwrap();
        run.finish(&json!(1)).unwrap();
        drop(run);
        fs::write(path.join(RESULT), "{").unwrap();
        let error = RunFolder::peek(&path).unwrap_err();
        assert!(error.to_string().contains("remove that file"), "{error}");
        open(&path, OpenMode::Resume).unwrap();
    }

    #[test]
    fn wall_time_and_start_are_carried_over_resumes() {
        let (_home, path) = home();
        let mut run = open(&path, OpenMode::Resume).unwrap();
        run.save_checkpoint(&json!(1), &[]).unwrap();
        let saved = run.latest_checkpoint().unwrap().unwrap().seconds;
        let before = run.provenance(1, "cpu");
        drop(run);
        let run = open(&path, OpenMode::Resume).unwrap();
        let after = run.provenance(1, "cpu");
        assert!(saved > 0.0 && after.seconds > saved);
        assert_eq!(
            (&after.started, &after.config_hash),
            (&before.started, &config_hash(&config()))
        );
    }

    #[test]
    fn files_of_ones_own_stay() {
        let (_home, path) = home();
        drop(open(&path, OpenMode::Resume).unwrap());
        fs::write(path.join("chain.log"), "mine").unwrap();
        drop(open(&path, OpenMode::Resume).unwrap());
        assert_eq!(fs::read(path.join("chain.log")).unwrap(), b"mine");
    }
}
