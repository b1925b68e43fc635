//! Log of the starts of a task: a line when it starts, another when it ends by itself. A start without an end was killed.

use super::io;
use crate::error::HarnessError;
use serde::{Deserialize, Serialize};
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

/// A line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Line {
    /// The task started.
    Started {
        /// When, in seconds since 1970.
        at: u64,
        /// The machine.
        host: String,
        /// Number of times that the job was started before.
        restart: u32,
    },
    /// The task ended by itself.
    Ended {
        /// When, in seconds since 1970.
        at: u64,
        /// End of the task.
        how: How,
        /// Folders of runs that failed for good.
        failed: Vec<PathBuf>,
    },
}

/// End of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum How {
    /// All its runs are done, or others are at work on them.
    Done,
    /// A run failed for good.
    Failed,
    /// At the time limit, after a checkpoint.
    TimeLimit,
    /// Asked to end, by pre-emption or by a user, after a checkpoint.
    Terminated,
    /// Its node is at fault.
    Fault,
}

/// The lines of a task.
#[derive(Debug, Clone, Default)]
pub struct Attempts {
    path: PathBuf,
    lines: Vec<Line>,
}

impl Attempts {
    /// Reads the lines of a task of the sweep in `folder`. Lines that were cut off by a crash are passed over.
    ///
    /// # Errors
    /// A file that is there and cannot be read.
    pub fn read(folder: &Path, task: usize) -> Result<Self, HarnessError> {
        let path = folder.join("attempts").join(format!("{task}.jsonl"));
        let text = match std::fs::read_to_string(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            read => read.map_err(io("read", &path))?,
        };
        let lines = text
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok());
        let lines = lines.collect();
        Ok(Self { path, lines })
    }

    /// Starts that ended by a fault of the node, or not by themselves.
    pub fn faults(&self) -> usize {
        let count = |is: fn(&Line) -> bool| self.lines.iter().filter(|line| is(line)).count();
        let started = count(|line| matches!(line, Line::Started { .. }));
        let well = count(|line| matches!(line, Line::Ended { how, .. } if *how != How::Fault));
        started.saturating_sub(well)
    }

    /// Whether the run in `folder` failed for good in an earlier start.
    pub fn has_failed(&self, folder: &Path) -> bool {
        let failed = |line: &Line| match line {
            Line::Ended { failed, .. } => failed.iter().any(|own| own == folder),
            Line::Started { .. } => false,
        };
        self.lines.iter().any(failed)
    }

    /// Appends a line.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn push(&mut self, line: Line) -> Result<(), HarnessError> {
        let folder = self.path.parent().unwrap_or(Path::new(""));
        std::fs::create_dir_all(folder).map_err(io("create", folder))?;
        let mut text = serde_json::to_string(&line).expect("a line is plain data");
        text.push('\n');
        let file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&self.path);
        file.and_then(|mut file| file.write_all(text.as_bytes()))
            .map_err(io("write", &self.path))?;
        self.lines.push(line);
        Ok(())
    }
}

/// Seconds since 1970.
pub fn now() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_of_a_task_that_cannot_be_read_are_an_error_and_no_lines_are_none() {
        let dir = tempfile::tempdir().unwrap();
        assert!(Attempts::read(dir.path(), 3).unwrap().lines.is_empty());
        std::fs::create_dir_all(dir.path().join("attempts/3.jsonl")).unwrap();
        assert!(Attempts::read(dir.path(), 3).is_err());
    }

    #[test]
    fn now_is_seconds_since_1970() {
        let since = std::time::UNIX_EPOCH.elapsed().unwrap().as_secs();
        assert!(since.abs_diff(now()) < 100);
    }

    fn ended(how: How) -> Line {
        let failed = match how {
            How::Failed => vec!["runs/x".into()],
            _ => Vec::new(),
        };
        Line::Ended { at: 0, how, failed }
    }

    #[test]
    fn a_start_without_an_end_is_a_fault_and_an_orderly_end_is_none() {
        let dir = tempfile::tempdir().unwrap();
        let mut attempts = Attempts::read(dir.path(), 3).unwrap();
        for (end, faults) in [
            (Some(How::TimeLimit), 0),
            (None, 1),
            (Some(How::Fault), 2),
            (Some(How::Terminated), 2),
            (Some(How::Failed), 2),
        ] {
            let (at, host, restart) = (0, "n1".into(), 0);
            attempts.push(Line::Started { at, host, restart }).unwrap();
            if let Some(how) = end {
                attempts.push(ended(how)).unwrap();
            }
            assert_eq!(Attempts::read(dir.path(), 3).unwrap().faults(), faults);
        }
        assert!(attempts.has_failed("runs/x".as_ref()) && !attempts.has_failed("runs/y".as_ref()));
        assert_eq!(Attempts::read(dir.path(), 4).unwrap().faults(), 0);
    }
}
