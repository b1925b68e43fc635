//! Errors of a run folder, and what to do about them.

use std::io;
use std::path::PathBuf;

/// An error of this crate. Every text names the folder or file and the remedy.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A live run holds the folder.
    #[error(
        "run folder {} is in use by {}; wait for that run or stop it (a run that was killed holds nothing)",
        .folder.display(),
        holder(.host.as_deref(), *.pid, .since.as_deref())
    )]
    Locked {
        /// The run folder.
        folder: PathBuf,
        /// The process that holds it, where its lock file could be read.
        pid: Option<u32>,
        /// When that run was opened (RFC 3339, UTC).
        since: Option<String>,
        /// The machine that it runs on, where that is known.
        host: Option<String>,
    },

    /// The lock was taken over while this process was suspended, or its file was removed.
    #[error(
        "run folder {} was taken over by {} while this process did not renew its lock; nothing more is written here. \
         Let that run go on, or stop it and give the same command again",
        .folder.display(),
        holder(.host.as_deref(), *.pid, None)
    )]
    LockLost {
        /// The run folder.
        folder: PathBuf,
        /// The process that took over, where it is known.
        pid: Option<u32>,
        /// The machine that it runs on, where that is known.
        host: Option<String>,
    },

    /// A link lies where a file or folder of a run belongs.
    #[error("{} is a link, and links in run folders are not followed; what it leads to was not touched: remove the link, or choose another folder", .path.display())]
    Link {
        /// The link.
        path: PathBuf,
    },

    /// The folder belongs to a run with another configuration.
    #[error(
        "run folder {} was made with another configuration: {}. Ask for the same settings, choose another folder, \
         or start over (`--fresh` keeps this one aside)",
        .folder.display(),
        first(.differences, 8)
    )]
    OtherConfig {
        /// The run folder.
        folder: PathBuf,
        /// One line for each key that differs: `settings.epochs: 20 in the folder, 30 asked for`.
        differences: Vec<String>,
    },

    /// The run was begun on other data.
    #[error(
        "run folder {} was begun on other data: their fingerprint is {}, that of the data found now is {}. Give the \
         old data by `--data-dir`, or their own file by `--dataset`, choose another run folder, or start over (`--fresh` keeps this one aside)",
        .folder.display(),
        short(.stored),
        short(.asked)
    )]
    OtherData {
        /// The run folder.
        folder: PathBuf,
        /// The fingerprint of the data that the run was begun on.
        stored: String,
        /// The fingerprint of the data that were found.
        asked: String,
    },

    /// The folder was written in another format.
    #[error(
        "run folder {} has format {found}, this program reads format {supported}; use the program that wrote it, \
         choose another folder, or start over (`--fresh` keeps this one aside)",
        .folder.display()
    )]
    OtherVersion {
        /// The run folder.
        folder: PathBuf,
        /// The format the folder states.
        found: u64,
        /// The format this crate reads and writes.
        supported: u64,
    },

    /// The path is something else: nothing in it is touched.
    #[error("{} is not a run folder ({why}); nothing there was touched, choose another folder", .path.display())]
    NotARunFolder {
        /// The path asked for.
        path: PathBuf,
        /// Reason: what was found instead.
        why: String,
    },

    /// A file without which the folder makes no sense is unreadable.
    #[error("{} is damaged ({what}); {remedy}", .file.display())]
    Damaged {
        /// The damaged file.
        file: PathBuf,
        /// Problem of the file.
        what: String,
        /// Remedy.
        remedy: &'static str,
    },

    /// There are checkpoints, and none of them is whole.
    #[error(
        "run folder {} has no usable checkpoint: {}; restore it from a copy, or start over (`--fresh` keeps it aside)",
        .folder.display(),
        first(.problems, 8)
    )]
    NoUsableCheckpoint {
        /// The run folder.
        folder: PathBuf,
        /// Problem of each checkpoint, newest first.
        problems: Vec<String>,
    },

    /// The disk, a quota or a file-size limit is exhausted.
    #[error(
        "no space left for run folder {} (writing {}: {source}); what it saved before is whole: free some space and \
         give the same command again, it resumes",
        .folder.display(),
        .file.display()
    )]
    DiskFull {
        /// The run folder.
        folder: PathBuf,
        /// The file that could not be written.
        file: PathBuf,
        /// The system's error.
        source: io::Error,
    },

    /// A checkpoint part has a name that cannot be a file name.
    #[error(
        "checkpoint part {name:?} {why}; name each part once, in letters, digits, `-`, `_` and `.`"
    )]
    PartName {
        /// The part's name.
        name: String,
        /// Problem of the name.
        why: &'static str,
    },

    /// The operating system refused something else.
    #[error("cannot {action} {}: {source}; {}", .path.display(), helmholtz_files::remedy(.source))]
    Io {
        /// Action that was tried, such as `create`.
        action: &'static str,
        /// On which file or folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

fn holder(host: Option<&str>, pid: Option<u32>, since: Option<&str>) -> String {
    let process = match (pid, since) {
        (Some(pid), Some(since)) => format!("process {pid} since {since}"),
        (Some(pid), None) => format!("process {pid}"),
        (None, _) => "another process".into(),
    };
    match host {
        Some(host) => format!("{process} on {host}"),
        None => process,
    }
}

/// The first digits of a fingerprint.
fn short(fingerprint: &str) -> String {
    fingerprint.chars().take(16).collect()
}

fn first(lines: &[String], most: usize) -> String {
    let mut text = lines[..lines.len().min(most)].join("; ");
    if lines.len() > most {
        text += &format!("; and {} more", lines.len() - most);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_are_cut_and_counted() {
        let lines: Vec<String> = (0..10).map(|i| i.to_string()).collect();
        assert_eq!(first(&lines, 2), "0; 1; and 8 more");
        assert_eq!(first(&lines[..2], 2), "0; 1");
        assert_eq!(first(&[], 2), "");
    }

    #[test]
    fn locked_names_what_is_known_of_the_holder() {
        assert_eq!(holder(None, Some(7), Some("now")), "process 7 since now");
        assert_eq!(holder(None, Some(7), None), "process 7");
        assert_eq!(holder(None, None, None), "another process");
        let text = holder(Some("node-1"), Some(7), Some("now"));
        assert_eq!(text, "process 7 since now on node-1");
    }
}
