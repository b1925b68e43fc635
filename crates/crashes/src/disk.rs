//! What is durable, and what is not yet.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::image::Image;
use crate::log::{Change, Node, ROOT};

/// A change of names in one folder, whole or not at all.
#[derive(Clone, Debug)]
pub(crate) struct NameChange(Vec<(String, Option<Node>)>);

/// A change of a file's content.
#[derive(Clone, Debug)]
pub(crate) enum ContentChange {
    Write { at: u64, bytes: Vec<u8> },
    SetLength(u64),
}

/// What has become of a change of content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Lost,
    Whole,
    FirstHalf,
    Zeros,
}

#[derive(Clone, Debug)]
enum Item {
    Folder {
        names: BTreeMap<String, Node>,
        pending: Vec<NameChange>,
    },
    File {
        bytes: Vec<u8>,
        pending: Vec<ContentChange>,
    },
}

/// The disk between two changes.
#[derive(Clone, Debug)]
pub(crate) struct Disk {
    items: Vec<Item>,
    pub promised: u64,
}

/// Something that a crash may do or leave undone.
#[derive(Clone, Debug)]
pub(crate) enum Open {
    Name {
        folder: Node,
        index: usize,
    },
    Content {
        file: Node,
        index: usize,
        fates: Vec<Fate>,
    },
    /// All unsynced content of a file whose content hardly matters.
    Volatile {
        file: Node,
    },
}

impl Open {
    /// In how many ways it can go.
    pub fn ways(&self) -> usize {
        match self {
            Self::Name { .. } | Self::Volatile { .. } => 2,
            Self::Content { fates, .. } => fates.len(),
        }
    }
}

impl Disk {
    pub fn new(start: &Image) -> Self {
        let folder = |names| Item::Folder {
            names,
            pending: Vec::new(),
        };
        let mut disk = Self {
            items: vec![folder(BTreeMap::new())],
            promised: 0,
        };
        let mut nodes: BTreeMap<PathBuf, Node> = [(PathBuf::new(), ROOT)].into();
        for (path, content) in &start.0 {
            let node = disk.items.len();
            disk.items.push(match content {
                None => folder(BTreeMap::new()),
                Some(bytes) => Item::File {
                    bytes: bytes.clone(),
                    pending: Vec::new(),
                },
            });
            let parent = nodes[path.parent().expect("a path below the root")];
            let name = path.file_name().and_then(|name| name.to_str());
            if let (Item::Folder { names, .. }, Some(name)) = (&mut disk.items[parent], name) {
                names.insert(name.into(), node);
            }
            nodes.insert(path.clone(), node);
        }
        disk
    }

    pub fn apply(&mut self, change: &Change) {
        match change {
            Change::Create {
                parent,
                name,
                node,
                folder,
            } => {
                assert_eq!(*node, self.items.len(), "nodes are numbered in order");
                self.items.push(match folder {
                    true => Item::Folder {
                        names: BTreeMap::new(),
                        pending: Vec::new(),
                    },
                    false => Item::File {
                        bytes: Vec::new(),
                        pending: Vec::new(),
                    },
                });
                self.rename(*parent, vec![(name.clone(), Some(*node))]);
            }
            Change::Rename {
                parent,
                from,
                to,
                node,
            } => self.rename(
                *parent,
                vec![(from.clone(), None), (to.clone(), Some(*node))],
            ),
            Change::Remove { parent, name } => self.rename(*parent, vec![(name.clone(), None)]),
            Change::Write { node, at, bytes } => self.alter(
                *node,
                ContentChange::Write {
                    at: *at,
                    bytes: bytes.clone(),
                },
            ),
            Change::SetLength { node, length } => {
                self.alter(*node, ContentChange::SetLength(*length));
            }
            Change::Sync { node } => match &mut self.items[*node] {
                Item::Folder { names, pending } => {
                    for change in pending.drain(..) {
                        keep(names, &change);
                    }
                }
                Item::File { bytes, pending } => {
                    for change in pending.drain(..) {
                        put(bytes, &change, Fate::Whole);
                    }
                }
            },
            Change::Promise { progress } => self.promised = *progress,
        }
    }

    fn rename(&mut self, folder: Node, change: Vec<(String, Option<Node>)>) {
        if let Item::Folder { pending, .. } = &mut self.items[folder] {
            pending.push(NameChange(change));
        }
    }

    fn alter(&mut self, file: Node, change: ContentChange) {
        if let Item::File { bytes, pending } = &mut self.items[file] {
            // A cut to the length that the file has is no change.
            if let (ContentChange::SetLength(length), true) = (&change, pending.is_empty())
                && *length == bytes.len() as u64
            {
                return;
            }
            pending.push(change);
        }
    }

    /// Everything that is not durable, of files and folders that a crash can leave a name.
    pub fn open(&self, volatile: &[Node]) -> Vec<Open> {
        let mut open = Vec::new();
        let (mut seen, mut next) = (BTreeSet::from([ROOT]), vec![ROOT]);
        while let Some(node) = next.pop() {
            match &self.items[node] {
                Item::Folder { names, pending } => {
                    let named = pending.iter().flat_map(|change| &change.0);
                    let named = named.filter_map(|(_, node)| *node);
                    for child in names.values().copied().chain(named) {
                        if seen.insert(child) {
                            next.push(child);
                        }
                    }
                    let names = (0..pending.len()).map(|index| Open::Name {
                        folder: node,
                        index,
                    });
                    open.extend(names);
                }
                Item::File { pending, .. } if volatile.contains(&node) => {
                    if !pending.is_empty() {
                        open.push(Open::Volatile { file: node });
                    }
                }
                Item::File { pending, .. } => {
                    for (index, change) in pending.iter().enumerate() {
                        let fates = match change {
                            ContentChange::Write { bytes, .. } if bytes.len() > 1 => {
                                vec![Fate::Whole, Fate::Lost, Fate::FirstHalf, Fate::Zeros]
                            }
                            _ => vec![Fate::Whole, Fate::Lost],
                        };
                        open.push(Open::Content {
                            file: node,
                            index,
                            fates,
                        });
                    }
                }
            }
        }
        open
    }

    /// The state that a crash leaves when of each of `open` that way is gone; way 0 is as the program did it.
    pub fn crashed(&self, open: &[Open], ways: &[usize]) -> Image {
        let mut lost: BTreeSet<(Node, usize)> = BTreeSet::new();
        let mut fates: BTreeMap<(Node, usize), Fate> = BTreeMap::new();
        let mut empty: BTreeSet<Node> = BTreeSet::new();
        for (item, &way) in open.iter().zip(ways) {
            match item {
                Open::Name { folder, index } if way == 1 => {
                    lost.insert((*folder, *index));
                }
                Open::Content {
                    file,
                    index,
                    fates: possible,
                } => {
                    fates.insert((*file, *index), possible[way]);
                }
                Open::Volatile { file } if way == 1 => {
                    empty.insert(*file);
                }
                _ => {}
            }
        }
        let mut image = Image::default();
        let mut next = vec![(ROOT, PathBuf::new())];
        while let Some((node, path)) = next.pop() {
            match &self.items[node] {
                Item::Folder { names, pending } => {
                    let mut names = names.clone();
                    for (index, change) in pending.iter().enumerate() {
                        if !lost.contains(&(node, index)) {
                            keep(&mut names, change);
                        }
                    }
                    if path != Path::new("") {
                        image.0.insert(path.clone(), None);
                    }
                    let below = names
                        .into_iter()
                        .map(|(name, node)| (node, path.join(name)));
                    next.extend(below);
                }
                Item::File { bytes, pending } => {
                    let mut bytes = bytes.clone();
                    for (index, change) in pending.iter().enumerate() {
                        let fate = match empty.contains(&node) {
                            true => Fate::Lost,
                            false => fates.get(&(node, index)).copied().unwrap_or(Fate::Whole),
                        };
                        put(&mut bytes, change, fate);
                    }
                    image.0.insert(path, Some(bytes));
                }
            }
        }
        image
    }
}

fn keep(names: &mut BTreeMap<String, Node>, change: &NameChange) {
    for (name, node) in &change.0 {
        match node {
            Some(node) => names.insert(name.clone(), *node),
            None => names.remove(name),
        };
    }
}

fn put(file: &mut Vec<u8>, change: &ContentChange, fate: Fate) {
    match (change, fate) {
        (_, Fate::Lost) => {}
        (ContentChange::SetLength(length), _) => file.resize(*length as usize, 0),
        (ContentChange::Write { at, bytes }, fate) => {
            let at = *at as usize;
            let bytes = match fate {
                Fate::FirstHalf => bytes[..bytes.len() / 2].to_vec(),
                Fate::Zeros => vec![0; bytes.len()],
                _ => bytes.clone(),
            };
            if file.len() < at + bytes.len() {
                file.resize(at + bytes.len(), 0);
            }
            file[at..at + bytes.len()].copy_from_slice(&bytes);
        }
    }
}
