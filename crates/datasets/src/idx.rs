//! The idx format of MNIST: a big-endian header, then one unsigned byte an entry.
//!
//! Header: two zero bytes, `0x08` for unsigned bytes, the number of dimensions, then each dimension as a `u32`.

use std::path::Path;

use crate::content::{Content, describe};
use crate::event::Progress;
use crate::{DataFile, Error, GreyImages};

/// Bytes read at a time; a header's promise is not believed with memory.
const CHUNK: usize = 1 << 18;

/// Reads grey images (three dimensions: images, rows, columns) from an idx file, plain or `.gz`.
///
/// # Errors
///
/// [`Error::Corrupt`] for a header of another kind or entries beyond it; [`Error::Truncated`],
/// [`Error::WrongChecksum`], [`Error::NotGzip`], [`Error::Io`].
pub fn read_idx_images(
    path: &Path,
    published: Option<&DataFile>,
    progress: &mut Progress,
) -> Result<GreyImages, Error> {
    let ([_, rows, columns], bytes) = read(path, published, progress)?;
    Ok(GreyImages::new(rows, columns, bytes))
}

/// Reads labels (one dimension) from an idx file, plain or `.gz`.
///
/// # Errors
///
/// As [`read_idx_images`].
pub fn read_idx_labels(
    path: &Path,
    published: Option<&DataFile>,
    progress: &mut Progress,
) -> Result<Vec<u8>, Error> {
    let ([_], bytes) = read(path, published, progress)?;
    Ok(bytes)
}

/// The dimensions, each at least one, and the entries.
fn read<const D: usize>(
    path: &Path,
    published: Option<&DataFile>,
    progress: &mut Progress,
) -> Result<([usize; D], Vec<u8>), Error> {
    let mut content = Content::open(path, published, progress)?;
    let header_error = |content: &Content, found| content.corrupt("the header".to_owned(), found);

    let mut header = vec![0; 4 + 4 * D];
    let filled = content.fill(&mut header)?;
    let magic = [0, 0, 8, D as u8];
    if !header[..filled.min(4)].starts_with(&magic[..filled.min(4)]) {
        let found = describe(&header[..filled.min(4)]);
        let kind = format!(
            "{found} where idx bytes of {D} dimension(s) start with `\\x00\\x00\\x08\\x{D:02x}`"
        );
        return Err(header_error(&content, kind));
    }
    if filled < header.len() {
        return Err(content.truncated(format!("{filled} bytes of the header")));
    }
    let mut dimensions = [0; D];
    for (dimension, bytes) in dimensions.iter_mut().zip(header[4..].as_chunks::<4>().0) {
        *dimension = u32::from_be_bytes(*bytes) as usize;
    }
    let entries = dimensions
        .iter()
        .try_fold(1, |product: usize, &n| product.checked_mul(n))
        .filter(|&n| n > 0);
    let Some(entries) = entries else {
        return Err(header_error(
            &content,
            format!("impossible dimensions {dimensions:?}"),
        ));
    };

    let mut bytes = Vec::new();
    loop {
        let start = bytes.len();
        bytes.resize(entries.min(start + CHUNK), 0);
        let filled = content.fill(&mut bytes[start..])?;
        if start + filled < bytes.len() {
            let found = format!("{} of {entries} entries", start + filled);
            return Err(content.truncated(found));
        }
        if bytes.len() == entries {
            break;
        }
    }
    if content.fill(&mut [0])? > 0 {
        let found = format!("more than the {entries} entries of its header");
        return Err(content.corrupt("the end".to_owned(), found));
    }
    content.finish()?;
    Ok((dimensions, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{gzip, published};
    use std::fs;

    /// An idx file of these dimensions with the entries 0, 1, 2 …
    fn idx(dimensions: &[u32]) -> Vec<u8> {
        let mut bytes = vec![0, 0, 8, dimensions.len() as u8];
        bytes.extend(dimensions.iter().flat_map(|n| n.to_be_bytes()));
        bytes.extend((0..dimensions.iter().product()).map(|i: u32| i as u8));
        bytes
    }

    fn images(name: &str, bytes: &[u8], published: Option<&DataFile>) -> Result<GreyImages, Error> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        read_idx_images(&path, published, &mut |_| {})
    }

    #[test]
    fn images_and_labels_are_read_plain_and_gzipped() {
        let bytes = idx(&[3, 2, 4]);
        let file = published("a", &bytes);
        for (name, packed) in [("a", bytes.clone()), ("a.gz", gzip(&bytes))] {
            let images = images(name, &packed, Some(&file)).unwrap();
            assert_eq!((images.len(), images.rows(), images.columns()), (3, 2, 4));
            assert_eq!(images.row(1), [8, 9, 10, 11, 12, 13, 14, 15]);
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("labels");
        fs::write(&path, idx(&[7])).unwrap();
        let labels = read_idx_labels(&path, None, &mut |_| {}).unwrap();
        assert_eq!(labels, [0, 1, 2, 3, 4, 5, 6]);
    }

    #[test]
    fn more_entries_than_a_chunk_are_read() {
        let images = images("a", &idx(&[1000, 28, 28]), None).unwrap();
        assert_eq!(images.len(), 1000);
        assert_eq!(images.row(999)[783], (1000 * 784 - 1) as u8);
    }

    #[test]
    fn every_cut_is_a_truncated_file() {
        let bytes = idx(&[3, 2, 4]);
        for len in 0..bytes.len() {
            let error = images("a", &bytes[..len], None).unwrap_err();
            assert!(matches!(error, Error::Truncated { .. }), "{len}: {error}");
        }
    }

    #[test]
    fn a_wrong_header_is_corrupt_and_costs_no_memory() {
        let huge = [&[0, 0, 8, 3][..], &[0xff; 12]].concat();
        let none = [&[0, 0, 8, 3][..], &[0; 12]].concat();
        for (bytes, expected) in [
            (idx(&[7]), "3 dimension(s)"),
            (b"<!DOCTYPE html>".to_vec(), "`<!DO`"),
            (huge, "impossible dimensions"),
            (none, "impossible dimensions"),
        ] {
            let error = images("a", &bytes, None).unwrap_err();
            assert!(matches!(error, Error::Corrupt { .. }), "{error}");
            assert!(error.to_string().contains(expected), "{error}");
        }
        let promises_much = [0, 0, 8, 3, 0, 0xff, 0, 0, 0, 0, 0x10, 0, 0, 0, 0x10, 0, 1];
        let error = images("a", &promises_much, None).unwrap_err();
        assert!(matches!(error, Error::Truncated { .. }), "{error}");
    }

    #[test]
    fn entries_beyond_the_header_are_corrupt() {
        let mut bytes = idx(&[3, 2, 4]);
        bytes.push(0);
        let error = images("a", &bytes, None).unwrap_err();
        assert!(
            error.to_string().contains("more than the 24 entries"),
            "{error}"
        );
    }
}
