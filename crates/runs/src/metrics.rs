//! The append-only `metrics.jsonl`: one JSON value a line. Checkpoints and the result hold a seal of every line.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use helmholtz_files::File;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::RunError;
use crate::canonical::sha256;
use crate::disk::{failed, publish};
use crate::names::{METRICS, RESULT};
use crate::sealed::{self, Unreadable};

/// The name under which a damaged metrics file is kept.
const DAMAGED: &str = "metrics.damaged.jsonl";

/// Hexadecimal digits of a line's seal, the first of its sha256.
const DIGITS: usize = 8;

/// Length of the metrics, their sha256, and a seal for each line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Seal {
    bytes: u64,
    sha256: String,
    /// The seals of the lines, one after the other; absent in older checkpoints.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lines: Option<String>,
}

/// Part of some sealed metrics that is left.
enum Left<'a> {
    /// All of them.
    Whole(&'a [u8]),
    /// These lines; the numbers of the others, from 1, in words.
    Damaged { kept: Vec<u8>, gone: String },
}

impl Seal {
    /// Finds what `found`, the content of the file, holds of these metrics. A line is recognised by its seal, in order.
    fn left<'a>(&self, found: &'a [u8]) -> Left<'a> {
        let prefix = found.get(..self.bytes as usize);
        if let Some(prefix) = prefix.filter(|prefix| sha256(prefix) == self.sha256) {
            return Left::Whole(prefix);
        }
        let Some(seals) = &self.lines else {
            return Left::Damaged {
                kept: Vec::new(),
                gone: "all rows, which the program that wrote them did not seal one by one, are"
                    .into(),
            };
        };
        let mut lines = lines(found);
        let (mut kept, mut gone) = (Vec::new(), Vec::new());
        for (index, seal) in seals.as_bytes().chunks(DIGITS).enumerate() {
            let mut ahead = lines.clone();
            match ahead.find(|line| seal_of(line).as_bytes() == seal) {
                Some(line) => {
                    kept.extend_from_slice(line);
                    lines = ahead;
                }
                None => gone.push(index + 1),
            }
        }
        let gone = format!("of {} rows, {} are", seals.len() / DIGITS, ranges(&gone));
        Left::Damaged { kept, gone }
    }
}

/// The complete lines of a file's content, each with its end.
fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> + Clone {
    let lines = bytes.split_inclusive(|&byte| byte == b'\n');
    lines.filter(|line| line.ends_with(b"\n"))
}

fn seal_of(line: &[u8]) -> String {
    sha256(line)[..DIGITS].into()
}

/// `1, 3-5` for these ascending numbers.
fn ranges(numbers: &[usize]) -> String {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for &number in numbers {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => runs.push((number, number)),
        }
    }
    let text = runs.iter().map(|&(first, last)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    });
    text.collect::<Vec<_>>().join(", ")
}

/// The open metrics file: what is beyond `bytes` does not count.
#[derive(Debug)]
pub(crate) struct Metrics {
    folder: PathBuf,
    path: PathBuf,
    file: File,
    bytes: u64,
    hash: Sha256,
    lines: String,
}

impl Metrics {
    /// Opens the metrics of `folder` cut to those that `seal` describes. Of damaged ones the whole lines are kept, the file as it
    /// was found is set aside, and the warning says which lines are gone.
    pub(crate) fn rewind(
        folder: &Path,
        seal: Option<&Seal>,
    ) -> Result<(Self, Option<String>), RunError> {
        let found = read(folder)?;
        match seal.map_or(Left::Whole(&[]), |seal| seal.left(&found)) {
            Left::Whole(kept) => Ok((Self::cut(folder, kept)?, None)),
            Left::Damaged { kept, gone } => {
                // A repair that no checkpoint has recorded yet is found again, perhaps with new rows after it: then the file
                // that was set aside stays as it is.
                let repaired = found.starts_with(&kept);
                if !repaired || (found.len() > kept.len() && !folder.join(DAMAGED).exists()) {
                    publish(folder, DAMAGED, &found)?;
                }
                if !repaired {
                    publish(folder, METRICS, &kept)?;
                }
                let warning = format!(
                    "{METRICS} in {} is damaged: {gone} gone (the damaged file is kept as {DAMAGED}); parameters and state are \
                     whole, and the run goes on",
                    folder.display()
                );
                Ok((Self::cut(folder, &kept)?, Some(warning)))
            }
        }
    }

    /// The metrics of `folder`, which begin with `kept`, cut to that.
    fn cut(folder: &Path, kept: &[u8]) -> Result<Self, RunError> {
        let path = folder.join(METRICS);
        let bytes = kept.len() as u64;
        let open = || File::open_or_create(&path);
        if open()
            .and_then(|file| file.is_shared())
            .map_err(failed(folder, "open", &path))?
        {
            // The other names are somebody's copy: that stays as it is.
            publish(folder, METRICS, kept)?;
        }
        let cut = || {
            let file = open()?;
            file.set_length(bytes)?;
            file.sync()?;
            Ok(file)
        };
        let file = cut().map_err(failed(folder, "open", &path))?;
        Ok(Self {
            folder: folder.into(),
            path,
            file,
            bytes,
            hash: Sha256::new_with_prefix(kept),
            lines: lines(kept).map(seal_of).collect(),
        })
    }

    /// Appends one line, whole or not at all.
    pub(crate) fn append(&mut self, row: &Value) -> Result<(), RunError> {
        let line = format!("{row}\n");
        let written = self.file.write_at(self.bytes, line.as_bytes());
        if let Err(error) = written {
            // Should this fail too, the torn line is overwritten by the next one or cut by the next checkpoint.
            let _ = self.file.set_length(self.bytes);
            return Err(failed(&self.folder, "append to", &self.path)(error));
        }
        self.bytes += line.len() as u64;
        self.hash.update(line.as_bytes());
        self.lines += &seal_of(line.as_bytes());
        Ok(())
    }

    /// Waits until the lines so far are on the disk, and seals them.
    pub(crate) fn sync(&self) -> Result<Seal, RunError> {
        let synced = self
            .file
            .set_length(self.bytes)
            .and_then(|()| self.file.sync());
        synced.map_err(failed(&self.folder, "write", &self.path))?;
        Ok(Seal {
            bytes: self.bytes,
            sha256: format!("{:x}", self.hash.clone().finalize()),
            lines: Some(self.lines.clone()),
        })
    }
}

/// The content of the metrics file in `folder`; empty where there is none.
fn read(folder: &Path) -> Result<Vec<u8>, RunError> {
    let path = folder.join(METRICS);
    match helmholtz_files::read(&path) {
        Ok(bytes) => Ok(bytes),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(failed(folder, "read", &path)(error)),
    }
}

/// The metrics of the run folder at `path`, one value a line; empty where there are none yet. May be called beside a
/// live run: a last line that is not complete yet is left out. Those of a finished run are held to the seal in its result,
/// if that has one.
///
/// Errors: [`RunError::Damaged`] where a complete line is not JSON, or the metrics of a finished run are not those that it
/// finished with; [`RunError::Io`].
pub fn read_metrics(path: impl AsRef<Path>) -> Result<Vec<Value>, RunError> {
    let folder = path.as_ref();
    let file = folder.join(METRICS);
    let bytes = read(folder)?;
    if let Some(seal) = result_seal(folder)? {
        let what = match seal.left(&bytes) {
            Left::Damaged { gone, .. } => {
                Some(format!("{gone} not those that the run finished with"))
            }
            Left::Whole(rows) if rows.len() < bytes.len() => {
                Some("it goes on after the rows that the run finished with".into())
            }
            Left::Whole(_) => None,
        };
        if let Some(what) = what {
            return Err(RunError::Damaged {
                file,
                what,
                remedy: "restore it from a copy; the numbers in result.json are whole",
            });
        }
    }
    let mut rows = Vec::new();
    for line in lines(&bytes) {
        rows.push(serde_json::from_slice(line).map_err(|error| RunError::Damaged {
            file: file.clone(),
            what: format!("line {}: {error}", rows.len() + 1),
            remedy: "correct or remove that line in a copy; the run itself, if unfinished, goes by its checkpoints",
        })?);
    }
    Ok(rows)
}

/// The seal of the metrics that the run finished with; none where it is not finished, and in older results. An unreadable
/// result says nothing of them.
pub(crate) fn result_seal(folder: &Path) -> Result<Option<Seal>, RunError> {
    let file = folder.join(RESULT);
    match sealed::read_beside(&file) {
        Ok((_, metrics)) => Ok(metrics.and_then(|seal| serde_json::from_value(seal).ok())),
        Err(Unreadable::Io(error)) => Err(failed(folder, "read", &file)(error)),
        Err(_) => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use serde_json::json;

    fn fresh(folder: &Path) -> Metrics {
        Metrics::rewind(folder, None).unwrap().0
    }

    fn text(folder: &Path) -> String {
        fs::read_to_string(folder.join(METRICS)).unwrap()
    }

    #[test]
    fn numbers_in_a_row_are_shown_by_the_first_and_the_last() {
        assert_eq!(ranges(&[1, 3, 4, 5]), "1, 3-5");
        assert_eq!(ranges(&[2, 3, 7]), "2-3, 7");
        assert_eq!(ranges(&[]), "");
    }

    #[test]
    fn the_seal_is_the_files_length_hash_and_a_hash_of_each_line() {
        let home = tempfile::tempdir().unwrap();
        let mut metrics = fresh(home.path());
        metrics.append(&json!({"epoch": 1, "nll": 0.1})).unwrap();
        metrics.append(&json!([2])).unwrap();
        let text = text(home.path());
        assert_eq!(text, "{\"epoch\":1,\"nll\":0.1}\n[2]\n");
        let seal = metrics.sync().unwrap();
        assert_eq!(
            (seal.bytes, seal.sha256),
            (text.len() as u64, sha256(text.as_bytes()))
        );
        let lines = ["{\"epoch\":1,\"nll\":0.1}\n", "[2]\n"]
            .map(|line| sha256(line.as_bytes())[..8].to_string());
        assert_eq!(seal.lines, Some(lines.concat()));
        assert_eq!(
            read_metrics(home.path()).unwrap(),
            [json!({"epoch": 1, "nll": 0.1}), json!([2])]
        );
    }

    #[test]
    fn rewinding_cuts_and_continues_in_the_same_bytes() {
        let home = tempfile::tempdir().unwrap();
        let mut metrics = fresh(home.path());
        metrics.append(&json!(1)).unwrap();
        let mark = metrics.sync().unwrap();
        metrics.append(&json!(2)).unwrap();
        let end = metrics.sync().unwrap();

        let (mut metrics, warning) = Metrics::rewind(home.path(), Some(&mark)).unwrap();
        assert_eq!((metrics.sync().unwrap(), warning), (mark, None));
        metrics.append(&json!(2)).unwrap();
        assert_eq!(metrics.sync().unwrap(), end);
    }

    /// Ten sealed lines and one after them.
    fn ten(folder: &Path) -> Seal {
        let mut metrics = fresh(folder);
        for row in 1..=10 {
            metrics.append(&json!({"row": row})).unwrap();
        }
        let seal = metrics.sync().unwrap();
        metrics.append(&json!("beyond")).unwrap();
        seal
    }

    #[test]
    fn of_damaged_metrics_the_whole_lines_stay_and_the_others_are_named() {
        for (from, to, gone, left) in [
            ("{\"row\":3}\n", "{\"row\":4}\n", "3", 9),
            ("3}\n{\"row\":4}", "3}\r{\"row\":4}", "3-4", 8),
            ("{\"row\":1}\n", "", "1", 9),
            ("{\"row\":1}\n", "{\"row\n:1}\n", "1", 9),
            (
                "{\"row\":8}\n{\"row\":9}\n{\"row\":10}\n\"beyond\"\n",
                "",
                "8-10",
                7,
            ),
        ] {
            let home = tempfile::tempdir().unwrap();
            let seal = ten(home.path());
            let damaged = text(home.path()).replacen(from, to, 1);
            fs::write(home.path().join(METRICS), &damaged).unwrap();
            let (metrics, warning) = Metrics::rewind(home.path(), Some(&seal)).unwrap();
            let warning = warning.unwrap();
            assert!(
                warning.contains(&format!("of 10 rows, {gone} are gone")),
                "{warning}"
            );
            assert_eq!(read_metrics(home.path()).unwrap().len(), left);
            let aside = home.path().join(DAMAGED);
            assert_eq!(aside.exists(), damaged != text(home.path()));
            let kept = fs::read_to_string(&aside).unwrap_or_default();
            assert!(kept == damaged || damaged == text(home.path()), "{kept}");
            // Until a checkpoint seals what is left the same is found again, and nothing more is lost.
            drop(metrics);
            let (metrics, again) = Metrics::rewind(home.path(), Some(&seal)).unwrap();
            assert_eq!(
                (again, fs::read_to_string(&aside).unwrap_or_default()),
                (Some(warning), kept)
            );
            // Nor is what was set aside replaced by the repaired file with new rows.
            if aside.exists() {
                let before = fs::read(&aside).unwrap();
                let mut more = metrics;
                more.append(&json!("new")).unwrap();
                drop(more);
                Metrics::rewind(home.path(), Some(&seal)).unwrap();
                assert_eq!(fs::read(&aside).unwrap(), before);
            }
            let (metrics, _) = Metrics::rewind(home.path(), Some(&seal)).unwrap();
            let seal = metrics.sync().unwrap();
            assert_eq!(Metrics::rewind(home.path(), Some(&seal)).unwrap().1, None);
        }
    }

    #[test]
    fn metrics_that_cannot_be_read_are_told_from_none() {
        let home = tempfile::tempdir().unwrap();
        assert!(read(home.path()).unwrap().is_empty());
        fs::create_dir(home.path().join(METRICS)).unwrap();
        assert!(matches!(read(home.path()), Err(RunError::Io { .. })));
    }

    #[test]
    fn damaged_metrics_whose_lines_have_no_seals_are_all_set_aside() {
        let home = tempfile::tempdir().unwrap();
        let seal = Seal {
            lines: None,
            ..ten(home.path())
        };
        let whole = text(home.path());
        assert_eq!(Metrics::rewind(home.path(), Some(&seal)).unwrap().1, None);
        fs::write(home.path().join(METRICS), whole.replace("3", "4")).unwrap();
        let warning = Metrics::rewind(home.path(), Some(&seal))
            .unwrap()
            .1
            .unwrap();
        assert!(warning.contains("all rows"), "{warning}");
        assert!(text(home.path()).is_empty());
        assert!(home.path().join(DAMAGED).exists());
    }

    #[test]
    fn a_torn_last_line_is_left_out_and_a_broken_one_is_an_error() {
        let home = tempfile::tempdir().unwrap();
        assert!(read_metrics(home.path()).unwrap().is_empty());
        fs::write(home.path().join(METRICS), "1\n{\"a\":").unwrap();
        assert_eq!(read_metrics(home.path()).unwrap(), [json!(1)]);
        fs::write(home.path().join(METRICS), "1\n{\"a\":\n3\n").unwrap();
        let error = read_metrics(home.path()).unwrap_err();
        assert!(error.to_string().contains("line 2"), "{error}");
    }
}
