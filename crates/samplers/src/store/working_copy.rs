//! The states of a mapped store as they are now: a file without a name, mapped.

use std::fs::File;
use std::io::{ErrorKind, Read, Seek, Write};
use std::ops::Range;
use std::path::Path;

use helmholtz_files::remove;
use memmap2::{MmapMut, MmapOptions};

use super::image::{DESCRIBED, Shape, check_seal};
use super::log::io;
use crate::SamplerError;

const NAME: &str = "working-copy";
const CHUNK: usize = 1 << 18;

/// A body of fewer bytes is taken to stay in memory by itself.
const SMALL: usize = 1 << 26;

/// The body of a store, changed in place. The system may write changed pages out whenever it likes, and need not keep
/// them in memory. The file ends with its mapping, even by a kill.
#[derive(Debug)]
pub(super) struct WorkingCopy {
    map: MmapMut,
    body: Range<usize>,
}

impl WorkingCopy {
    /// Copies the image in `base` to a new file in `folder`, and maps that.
    ///
    /// # Errors
    /// Unless the image is of this shape and generation, and undamaged.
    pub fn new(
        folder: &Path,
        base: &Path,
        shape: &Shape,
        generation: u64,
    ) -> Result<Self, SamplerError> {
        let file = copy(folder, base, shape, generation)?;
        // SAFETY: `copy` made the file by exclusive creation and, on Unix, took its name away at once, so no other process can
        // open it; elsewhere the store's lock keeps other stores out. Nothing but this mapping reads or changes it, it is
        // never cut, and its length covers `body_range`.
        let map = unsafe { MmapOptions::new().map_mut(&file) };
        let copy = Self {
            map: map.map_err(io("map", &folder.join(NAME)))?,
            body: shape.body_range(),
        };
        copy.read_ahead(false);
        Ok(copy)
    }

    pub fn body(&self) -> &[u8] {
        &self.map[self.body.clone()]
    }

    pub fn body_mut(&mut self) -> &mut [u8] {
        &mut self.map[self.body.clone()]
    }

    /// Whether what follows a page is to be read with it: in vain for rows in random order, well for the whole body.
    pub fn read_ahead(&self, yes: bool) {
        #[cfg(unix)]
        {
            use memmap2::Advice::{Random, Sequential};
            // Where the system takes no advice, all still works.
            let _ = self.map.advise(if yes { Sequential } else { Random });
        }
        #[cfg(not(unix))]
        let _ = yes;
    }

    /// Has the states of these rows, `bytes` each, read together, and not one after the other as each is missed.
    pub fn fetch(&self, rows: &[u32], bytes: usize) {
        #[cfg(unix)]
        if self.body.len() >= SMALL {
            for &row in rows {
                let at = self.body.start + row as usize * bytes;
                let _ = self.map.advise_range(memmap2::Advice::WillNeed, at, bytes);
            }
        }
        #[cfg(not(unix))]
        let _ = (rows, bytes, SMALL);
    }
}

/// Copies header and body of the image in `base` to a new file.
fn copy(folder: &Path, base: &Path, shape: &Shape, generation: u64) -> Result<File, SamplerError> {
    let source = helmholtz_files::File::open(base);
    let mut source = source.map_err(io("open", base))?.into_system();
    let len = source.metadata().map_err(io("read", base))?.len();
    let mut head = Vec::new();
    (&source)
        .take(shape.header_len().max(DESCRIBED) as u64)
        .read_to_end(&mut head)
        .and_then(|_| source.rewind())
        .map_err(io("read", base))?;
    // Before anything is copied: what an image of another shape claims costs neither memory nor disk.
    shape.check_header(&head, len, generation)?;

    let path = folder.join(NAME);
    let mut file = create(&path).map_err(io("create", &path))?;
    let (mut checksum, mut chunk) = (crc32fast::Hasher::new(), vec![0; CHUNK]);
    let mut left = shape.body_range().end;
    while left > 0 {
        let chunk = &mut chunk[..left.min(CHUNK)];
        source.read_exact(chunk).map_err(io("read", base))?;
        checksum.update(chunk);
        file.write_all(chunk).map_err(io("write", &path))?;
        left -= chunk.len();
    }
    let mut seal = [0; 4];
    source.read_exact(&mut seal).map_err(io("read", base))?;
    check_seal(checksum.finalize(), seal)?;
    Ok(file)
}

/// A new file, which loses its name at once where the system allows that of an open file. Where not, the next copy
/// takes its place.
fn create(path: &Path) -> std::io::Result<File> {
    match remove(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let file = helmholtz_files::File::create_new(path)?.into_system();
    if cfg!(unix) {
        remove(path)?;
    }
    Ok(file)
}
