//! The same program with a defect, made from its log.

use std::path::{Path, PathBuf};

use crate::log::{Change, Log};

/// A defect in the order or the number of operations. Paths are told by how they end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Twin {
    /// Files and folders whose path ends so are never synced.
    Unsynced(&'static str),
    /// Folders whose path is exactly this are never synced.
    UnsyncedFolder(&'static str),
    /// What is renamed to a path that ends so gets that name right after it was created, before its content is written.
    RenamedFirst(&'static str),
    /// The folder that is renamed to a path that ends so has its manifest and its name before the files in it are written.
    ManifestFirst(&'static str),
}

impl Twin {
    /// The log of the twin, from the log of the sound program.
    pub fn of(self, log: &Log) -> Log {
        let mut log = log.clone();
        match self {
            Self::Unsynced(end) => drop_syncs(&mut log, |path| ends(path, end)),
            Self::UnsyncedFolder(exact) => drop_syncs(&mut log, |path| path == Path::new(exact)),
            Self::RenamedFirst(end) => publish_early(&mut log, end, |_, _| false),
            Self::ManifestFirst(end) => publish_early(&mut log, end, |path, change| {
                ends(path, "manifest.json") && !matches!(change, Change::Rename { .. })
            }),
        }
        log
    }
}

fn ends(path: &Path, end: &str) -> bool {
    path.to_string_lossy().ends_with(end)
}

fn drop_syncs(log: &mut Log, which: impl Fn(&Path) -> bool) {
    log.changes
        .retain(|(change, path)| !(matches!(change, Change::Sync { .. }) && which(path)));
}

/// Moves each rename to a path that ends in `end`, and the sync of its folder, to an earlier place. That is right behind the
/// creation of what is renamed and behind those changes of `with_it` that lie between.
fn publish_early(log: &mut Log, end: &str, with_it: impl Fn(&Path, &Change) -> bool) {
    let mut at = 0;
    while at < log.changes.len() {
        let (change, path) = &log.changes[at];
        let Change::Rename { node, parent, .. } = *change else {
            at += 1;
            continue;
        };
        let created = log.changes[..at].iter().rposition(
            |(change, _)| matches!(change, Change::Create { node: other, .. } if *other == node),
        );
        let Some(created) = created.filter(|_| ends(path, end)) else {
            at += 1;
            continue;
        };
        let synced = log.changes[at..]
            .iter()
            .position(|(change, _)| *change == Change::Sync { node: parent });
        let mut moved: Vec<(Change, PathBuf)> = Vec::new();
        let mut index = created + 1;
        let mut last = at;
        while index < last {
            let (change, path) = &log.changes[index];
            if with_it(path, change) {
                moved.push(log.changes.remove(index));
                last -= 1;
            } else {
                index += 1;
            }
        }
        let start = last;
        if let Some(synced) = synced {
            let sync = log.changes.remove(start + synced);
            moved.push(log.changes.remove(start));
            moved.push(sync);
        } else {
            moved.push(log.changes.remove(start));
        }
        let count = moved.len();
        renumber(&mut log.changes, &mut moved, created);
        log.changes.splice(created + 1..created + 1, moved);
        at += 1;
        debug_assert!(count > 0);
    }
}

/// Nodes are numbered in the order of their creation: a creation that moves forward takes the first number behind it.
fn renumber(changes: &mut [(Change, PathBuf)], moved: &mut [(Change, PathBuf)], behind: usize) {
    let created = |(change, _): &(Change, PathBuf)| match change {
        Change::Create { node, .. } => Some(*node),
        _ => None,
    };
    let early: Vec<usize> = moved.iter().filter_map(created).collect();
    let late: Vec<usize> = changes[behind + 1..].iter().filter_map(created).collect();
    let mut numbers: Vec<usize> = early.iter().chain(&late).copied().collect();
    numbers.sort_unstable();
    let to = |node: usize| {
        let place = early.iter().chain(&late).position(|other| *other == node);
        place.map_or(node, |place| numbers[place])
    };
    for (change, _) in changes.iter_mut().chain(moved) {
        match change {
            Change::Create { node, parent, .. } | Change::Rename { node, parent, .. } => {
                (*node, *parent) = (to(*node), to(*parent));
            }
            Change::Remove { parent, .. } => *parent = to(*parent),
            Change::Write { node, .. } | Change::SetLength { node, .. } | Change::Sync { node } => {
                *node = to(*node);
            }
            Change::Promise { .. } => {}
        }
    }
}
