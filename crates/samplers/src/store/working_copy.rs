//! The states of a mapped store as they are now: a file without a name, mapped.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read, Seek, Write};
use std::path::Path;

use memmap2::{MmapMut, MmapOptions};

use super::image::{DESCRIBED, Shape, check_seal};
use super::log::io;
use crate::SamplerError;

const NAME: &str = "working-copy";
const CHUNK: usize = 1 << 18;

/// Copies the header and the body of the image in `base` to a new file in `folder`, and maps that: the system may write
/// changed pages out whenever it likes, and need not keep them in memory. The file ends with its mapping, even by a kill.
///
/// # Errors
/// Unless the image is of this shape and generation, and undamaged.
pub(super) fn map_copy(
    folder: &Path,
    base: &Path,
    shape: &Shape,
    generation: u64,
) -> Result<MmapMut, SamplerError> {
    let mut source = File::open(base).map_err(io("open", base))?;
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

    // SAFETY: the file has no name any more, or a name that is this store's, whose folder belongs to one process at a
    // time; so nothing but this mapping changes it.
    let map = unsafe { MmapOptions::new().map_mut(&file) }.map_err(io("map", &path))?;
    // Rows are visited in random order, so their neighbours would be read in vain. Without the advice all still works.
    #[cfg(unix)]
    let _ = map.advise(memmap2::Advice::Random);
    Ok(map)
}

/// A new file, which loses its name at once where the system allows that of an open file. Where not, the next copy
/// takes its place.
fn create(path: &Path) -> std::io::Result<File> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create_new(true)
        .open(path)?;
    if cfg!(unix) {
        fs::remove_file(path)?;
    }
    Ok(file)
}
