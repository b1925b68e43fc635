//! A state of a folder: every path below it, with the content of files.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

/// Folders (without content) and files by their path; a folder stands before what is in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Image(pub(crate) BTreeMap<PathBuf, Option<Vec<u8>>>);

impl Image {
    /// What is below `root`.
    pub fn of(root: &Path) -> Self {
        let mut image = Self::default();
        image.add(root, root);
        image
    }

    fn add(&mut self, root: &Path, folder: &Path) {
        for entry in fs::read_dir(folder).expect("a folder that can be read") {
            let path = entry.expect("an entry").path();
            let below = path.strip_prefix(root).expect("below the root").to_owned();
            if path.is_dir() {
                self.0.insert(below, None);
                self.add(root, &path);
            } else {
                let bytes = fs::read(&path).expect("a file that can be read");
                self.0.insert(below, Some(bytes));
            }
        }
    }

    /// Writes it to `root`, an empty folder.
    pub fn write(&self, root: &Path) {
        for (path, content) in &self.0 {
            let path = root.join(path);
            match content {
                None => fs::create_dir(path),
                Some(bytes) => fs::write(path, bytes),
            }
            .expect("room for a state");
        }
    }

    pub(crate) fn paths(&self) -> impl Iterator<Item = &Path> {
        self.0.keys().map(PathBuf::as_path)
    }

    /// 128 bits that tell states apart.
    pub(crate) fn digest(&self) -> [u64; 2] {
        [0u8, 1].map(|salt| {
            let mut hasher = DefaultHasher::new();
            (salt, self).hash(&mut hasher);
            hasher.finish()
        })
    }
}
