//! What a program did to its files, with files and folders as numbers.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use crate::image::Image;

/// A file or folder, whatever its names.
pub(crate) type Node = usize;

/// The folder that the log is about.
pub(crate) const ROOT: Node = 0;

/// One change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// A file or folder gets its first name.
    Create {
        /// The folder.
        parent: usize,
        /// The name in it.
        name: String,
        /// What gets it.
        node: usize,
        /// Whether it is a folder.
        folder: bool,
    },
    /// A name in a folder is replaced by another, atomically.
    Rename {
        /// The folder.
        parent: usize,
        /// The old name.
        from: String,
        /// The new name.
        to: String,
        /// What has it.
        node: usize,
    },
    /// A name goes.
    Remove {
        /// The folder.
        parent: usize,
        /// The name.
        name: String,
    },
    /// Bytes at an offset.
    Write {
        /// The file.
        node: usize,
        /// The offset.
        at: u64,
        /// The bytes.
        bytes: Vec<u8>,
    },
    /// The file has this length from now on.
    SetLength {
        /// The file.
        node: usize,
        /// The length.
        length: u64,
    },
    /// The file's content, or the folder's names, are durable.
    Sync {
        /// Which.
        node: usize,
    },
    /// The program has told somebody that it will go on from here, or later.
    Promise {
        /// How far it was.
        progress: u64,
    },
}

/// The changes of a run, in order, from a state of the disk on.
#[derive(Clone, Debug)]
pub struct Log {
    pub(crate) start: Image,
    /// Each with the path at the time, for people and twins.
    pub(crate) changes: Vec<(Change, PathBuf)>,
    pub(crate) volatile: Vec<Node>,
}

impl Log {
    /// How many changes there are, promises included.
    pub fn len(&self) -> usize {
        self.changes.len()
    }

    /// Whether nothing was changed.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// The changes, each with the path at its time.
    pub fn changes(&self) -> &[(Change, PathBuf)] {
        &self.changes
    }

    /// The changes before the first promise: of a program that goes on after a crash, its recovery.
    pub fn recovery(mut self) -> Self {
        let promise = |(change, _): &(Change, PathBuf)| matches!(change, Change::Promise { .. });
        if let Some(first) = self.changes.iter().position(promise) {
            self.changes.truncate(first);
        }
        self
    }
}

/// Turns paths into nodes while the log is made.
#[derive(Debug)]
pub(crate) struct Names {
    root: PathBuf,
    /// The names in each folder; none for a file.
    pub(crate) nodes: Vec<BTreeMap<String, Node>>,
}

impl Names {
    /// Of the folder `root`, in which `start` is.
    pub fn new(root: &Path, start: &Image) -> Self {
        let mut names = Self {
            root: root.into(),
            nodes: vec![BTreeMap::new()],
        };
        for path in start.paths() {
            let (parent, name) = names.parent(&root.join(path)).expect("folders come first");
            names.add(parent, name);
        }
        names
    }

    fn add(&mut self, parent: Node, name: String) -> Node {
        let node = self.nodes.len();
        self.nodes.push(BTreeMap::new());
        self.nodes[parent].insert(name, node);
        node
    }

    /// The path below the root; `None` for one outside.
    pub fn below(&self, path: &Path) -> Option<PathBuf> {
        path.strip_prefix(&self.root).ok().map(Path::to_owned)
    }

    pub fn node(&self, path: &Path) -> Option<Node> {
        let below = self.below(path)?;
        below.components().try_fold(ROOT, |node, part| match part {
            Component::Normal(name) => self.nodes[node].get(name.to_str()?).copied(),
            _ => Some(node),
        })
    }

    fn parent(&self, path: &Path) -> Option<(Node, String)> {
        let name = path.file_name()?.to_str()?.to_owned();
        Some((self.node(path.parent()?)?, name))
    }

    pub fn create(&mut self, path: &Path, folder: bool) -> Option<Change> {
        let (parent, name) = self.parent(path)?;
        let node = self.add(parent, name.clone());
        Some(Change::Create {
            parent,
            name,
            node,
            folder,
        })
    }

    pub fn rename(&mut self, from: &Path, to: &Path) -> Option<Change> {
        let (parent, from) = self.parent(from)?;
        let (into, to) = self.parent(to)?;
        assert_eq!(
            parent, into,
            "a rename from folder to folder is not modelled"
        );
        let node = self.nodes[parent].remove(&from)?;
        self.nodes[parent].insert(to.clone(), node);
        Some(Change::Rename {
            parent,
            from,
            to,
            node,
        })
    }

    pub fn remove(&mut self, path: &Path) -> Option<Change> {
        let (parent, name) = self.parent(path)?;
        self.nodes[parent].remove(&name)?;
        Some(Change::Remove { parent, name })
    }
}
