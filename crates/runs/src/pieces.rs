//! Pieces of a long computation that is made again after every stop: each that is done is kept.

use std::fs;
use std::path::{Path, PathBuf};

use helmholtz_files::{create_directories, is_link};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::canonical::config_hash;
use crate::disk::{clear, failed, publish, reject_link};
use crate::ends::read_result;
use crate::sealed;
use crate::{ARITHMETIC, RunError, RunFolder};

/// The folder of the pieces in a run folder.
const PIECES: &str = "pieces";

/// Keeps pieces of an evaluation in a run folder, until [`RunFolder::finish`]; or in another folder, until [`Pieces::clear`].
///
/// A piece is named, and belongs to what is evaluated: the configuration, the parameters of the newest checkpoint, [`ARITHMETIC`], and
/// whatever else the caller says. It comes back in the same bits, or it is computed again.
#[derive(Clone, Debug, Default)]
pub struct Pieces {
    /// The folder, and what the pieces belong to; none where nothing is kept.
    of: Option<(PathBuf, String)>,
}

impl Pieces {
    /// Keeps nothing: every piece is computed.
    pub fn none() -> Self {
        Self::default()
    }

    /// Keeps pieces in `folder`, which is that of a command's results and need not be there yet, until [`Pieces::clear`]. They belong to
    /// what `of` says: everything that the numbers depend on.
    pub fn in_folder(folder: impl Into<PathBuf>, of: &Value) -> Self {
        Self {
            of: Some((folder.into(), key(of))),
        }
    }

    /// Removes the pieces of what these belong to; others stay.
    ///
    /// Errors: [`RunError::Io`], [`RunError::Link`].
    pub fn clear(&self) -> Result<(), RunError> {
        let Some((run, _)) = &self.of else {
            return Ok(());
        };
        let folder = run.join(PIECES);
        reject_link(&folder)?;
        for path in self.own() {
            clear(&path).map_err(failed(run, "remove", &path))?;
        }
        // Pieces of others may be in it.
        let _ = fs::remove_dir(&folder);
        Ok(())
    }

    /// Whether a piece of what these belong to is kept.
    pub fn has_kept(&self) -> bool {
        self.own().next().is_some()
    }

    /// The files of the pieces of what these belong to.
    fn own(&self) -> impl Iterator<Item = PathBuf> {
        let of = self.of.as_ref();
        let entries = of.and_then(|(run, _)| fs::read_dir(run.join(PIECES)).ok());
        let paths = entries.into_iter().flatten();
        let paths = paths.filter_map(|entry| Some(entry.ok()?.path()));
        paths.filter(move |path| {
            let is_own = |of: &str| sealed::read(path).is_ok_and(|kept| kept["name"]["of"] == *of);
            !is_link(path) && of.is_some_and(|(_, of)| is_own(of))
        })
    }

    /// The piece called `name`, kept from an earlier attempt, or computed now and kept.
    ///
    /// Errors: those of `compute`; [`RunError::DiskFull`], [`RunError::Io`], [`RunError::Link`].
    pub fn get<T, E>(&self, name: &str, compute: impl FnOnce() -> Result<T, E>) -> Result<T, E>
    where
        T: Serialize + DeserializeOwned,
        E: From<RunError>,
    {
        let Some((run, of)) = &self.of else {
            return compute();
        };
        let folder = run.join(PIECES);
        let name = json!({"of": of, "piece": name});
        let file = format!("{}.json", &config_hash(&name)[..32]);
        reject_link(&folder)?;
        let path = folder.join(&file);
        let kept = sealed::read(&path).ok().filter(|_| !is_link(&path));
        // What is damaged or of another program version is computed again.
        let kept = kept.filter(|kept| kept["name"] == name);
        let kept = kept.and_then(|mut kept| serde_json::from_value(kept["value"].take()).ok());
        if let Some(kept) = kept {
            return Ok(kept);
        }
        let value = compute()?;
        let content = serde_json::to_value(&value).unwrap_or(Value::Null);
        create_directories(&folder).map_err(failed(run, "create", &folder))?;
        let content = json!({"name": name, "value": content});
        publish(&folder, &file, &sealed::seal(&content))?;
        Ok(value)
    }
}

/// What names pieces of what `of` says: other arithmetic makes other bits.
fn key(of: &Value) -> String {
    config_hash(&json!({"arithmetic": ARITHMETIC, "of": of}))
}

impl RunFolder {
    /// The pieces of an evaluation of the newest checkpoint, by the settings `of` beside the configuration's.
    ///
    /// Errors: [`RunError::Damaged`], [`RunError::Io`].
    pub fn pieces(&self, of: &Value) -> Result<Pieces, RunError> {
        let parameters = match self.latest_checkpoint()? {
            Some(found) => found.digests(),
            None => serde_json::Map::new(),
        };
        let of = json!({"config": self.config_hash(), "parameters": parameters, "of": of});
        Ok(Pieces {
            of: Some((self.path().to_owned(), key(&of))),
        })
    }

    /// Removes from the folder of a *finished* run what a kill between its result and the removal of its pieces left there. A folder
    /// without a result is left alone, and so is one that cannot be written: what is left harms nothing.
    pub fn tidy(path: impl AsRef<Path>) {
        let path = path.as_ref();
        let finished = || matches!(read_result(path), Ok(Some(_)));
        let pieces = path.join(PIECES);
        if pieces.is_dir() && !is_link(&pieces) && finished() {
            let _ = clear(&pieces);
        }
    }

    pub(crate) fn clear_pieces(&self) -> Result<(), RunError> {
        let folder = self.path().join(PIECES);
        clear(&folder).map_err(failed(self.path(), "remove", &folder))
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::OpenMode;

    fn open(path: &Path) -> RunFolder {
        RunFolder::open(path, &json!({"seed": 1}), OpenMode::Resume).unwrap()
    }

    #[test]
    fn a_piece_is_computed_once_and_comes_back_in_the_same_bits() {
        let home = tempfile::tempdir().unwrap();
        let run = open(home.path());
        let computed = Cell::new(0);
        let value = vec![0.1 + 0.2, -0.0, 1e-320, f64::MAX, 1.0 / 3.0];
        let get = |pieces: &Pieces, name: &str| -> Vec<f64> {
            let compute = || {
                computed.set(computed.get() + 1);
                Ok::<_, RunError>(value.clone())
            };
            pieces.get(name, compute).unwrap()
        };
        let bits = |values: &[f64]| values.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        let pieces = run.pieces(&json!(1)).unwrap();
        for expected in [1, 1, 1] {
            assert_eq!(bits(&get(&pieces, "a")), bits(&value));
            assert_eq!(computed.get(), expected);
        }
        get(&pieces, "b");
        get(&run.pieces(&json!(2)).unwrap(), "a");
        get(&Pieces::none(), "a");
        assert_eq!(computed.get(), 4);

        // Another process goes on with them, and other parameters have others.
        drop(run);
        let mut run = open(home.path());
        get(&run.pieces(&json!(1)).unwrap(), "a");
        assert_eq!(computed.get(), 4);
        run.save_checkpoint(&json!(1), &[("model", b"other")])
            .unwrap();
        get(&run.pieces(&json!(1)).unwrap(), "a");
        assert_eq!(computed.get(), 5);
        run.finish(&json!("done")).unwrap();
        assert!(!home.path().join(PIECES).exists());
    }

    #[test]
    fn what_a_kill_left_of_a_finished_run_is_removed_and_of_an_unfinished_one_kept() {
        let home = tempfile::tempdir().unwrap();
        let left = home.path().join(PIECES);
        let mut run = open(home.path());
        let piece = |run: &RunFolder| {
            let pieces = run.pieces(&json!(1)).unwrap();
            pieces.get("a", || Ok::<_, RunError>(1.0)).unwrap()
        };
        piece(&run);
        RunFolder::tidy(home.path());
        assert!(left.exists());
        run.finish(&json!("done")).unwrap();
        piece(&run);
        assert!(left.exists());
        RunFolder::tidy(home.path());
        assert!(!left.exists());
        assert_eq!(run.result().unwrap(), Some(json!("done")));
    }

    #[test]
    fn a_piece_of_another_configuration_is_computed_again() {
        let home = tempfile::tempdir().unwrap();
        let open = |seed: u64| {
            let folder = home.path().join(seed.to_string());
            RunFolder::open(folder, &json!({"seed": seed}), OpenMode::Resume).unwrap()
        };
        let get = |run: &RunFolder, value: f64| -> f64 {
            let pieces = run.pieces(&json!(1)).unwrap();
            pieces.get("a", || Ok::<_, RunError>(value)).unwrap()
        };
        let (one, two) = (open(1), open(2));
        assert_eq!(get(&one, 1.0), 1.0);
        fs::create_dir(two.path().join(PIECES)).unwrap();
        for kept in fs::read_dir(one.path().join(PIECES)).unwrap() {
            let kept = kept.unwrap();
            fs::copy(kept.path(), two.path().join(PIECES).join(kept.file_name())).unwrap();
        }
        assert_eq!((get(&one, 3.0), get(&two, 2.0)), (1.0, 2.0));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_in_place_of_the_pieces_of_a_finished_run_is_left_alone() {
        let home = tempfile::tempdir().unwrap();
        let (theirs, folder) = (home.path().join("theirs"), home.path().join("run"));
        fs::create_dir(&theirs).unwrap();
        fs::write(theirs.join("text"), "theirs").unwrap();
        let mut run = open(&folder);
        run.finish(&json!("done")).unwrap();
        std::os::unix::fs::symlink(&theirs, folder.join(PIECES)).unwrap();
        RunFolder::tidy(&folder);
        assert!(theirs.join("text").exists());
        assert!(is_link(&folder.join(PIECES)));
    }

    #[test]
    fn what_is_damaged_or_no_number_is_computed_again_and_an_error_is_not_kept() {
        let home = tempfile::tempdir().unwrap();
        let run = open(home.path());
        let pieces = run.pieces(&json!(1)).unwrap();
        let failing = pieces.get("a", || Err::<f64, _>(RunError::Link { path: "x".into() }));
        assert!(failing.is_err());
        let get = |value: f64| pieces.get("a", || Ok::<_, RunError>(value)).unwrap();
        assert!(get(f64::NAN).is_nan());
        assert_eq!(get(2.0), 2.0);
        assert_eq!(get(3.0), 2.0);
        for entry in fs::read_dir(home.path().join(PIECES)).unwrap() {
            fs::write(entry.unwrap().path(), "damaged").unwrap();
        }
        assert_eq!(get(4.0), 4.0);
    }

    #[test]
    fn pieces_of_a_folder_belong_to_what_they_are_of_and_go_with_it_alone() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("not/there/yet");
        let of = |what: u32| Pieces::in_folder(&folder, &json!({"of": what}));
        let get = |what: u32, value: u32| -> u32 {
            let compute = || Ok::<_, RunError>(value);
            of(what).get("a", compute).unwrap()
        };
        of(1).clear().unwrap();
        assert!(!folder.exists());
        assert_eq!((get(1, 10), get(1, 11), get(2, 20)), (10, 10, 20));
        fs::write(folder.join("pieces/mine.txt"), "mine").unwrap();
        of(1).clear().unwrap();
        assert_eq!((get(1, 12), get(2, 21)), (12, 20));
        of(1).clear().unwrap();
        of(2).clear().unwrap();
        let left: Vec<_> = fs::read_dir(folder.join("pieces")).unwrap().collect();
        assert_eq!(left.len(), 1, "what is not ours stays");
        fs::remove_file(folder.join("pieces/mine.txt")).unwrap();
        get(1, 13);
        of(1).clear().unwrap();
        assert!(!folder.join("pieces").exists());
        Pieces::none().clear().unwrap();
    }
}
