//! What must hold of any data file whatever: called by a test here, and by a fuzzer.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use helmholtz_datasets::{read_amat, read_idx_images, read_idx_labels, read_mat};

/// A file in memory where there is such a place.
fn scratch() -> &'static Path {
    static FOLDER: OnceLock<(tempfile::TempDir, PathBuf)> = OnceLock::new();
    let make = || {
        let memory = Path::new("/dev/shm");
        let folder = match memory.is_dir() {
            true => tempfile::tempdir_in(memory),
            false => tempfile::tempdir(),
        };
        let folder = folder.expect("a folder");
        let path = folder.path().join("data");
        (folder, path)
    };
    &FOLDER.get_or_init(make).1
}

fn idx(dimensions: &[u32]) -> Vec<u8> {
    let mut bytes = vec![0, 0, 8, dimensions.len() as u8];
    bytes.extend(dimensions.iter().flat_map(|n| n.to_be_bytes()));
    bytes.extend((0..dimensions.iter().product()).map(|i: u32| i as u8));
    bytes
}

/// A file of version 5 with a matrix of 2 x 2 numbers called `data`.
fn mat() -> Vec<u8> {
    let mut file = b"MATLAB 5.0 MAT-file".to_vec();
    file.resize(116, b' ');
    file.extend([0; 8]);
    file.extend([0x00, 0x01, b'I', b'M']);
    let mut matrix: Vec<u8> = Vec::new();
    let mut element = |kind: u32, content: &[u8]| {
        matrix.extend(kind.to_le_bytes());
        matrix.extend((content.len() as u32).to_le_bytes());
        matrix.extend(content);
        matrix.resize(matrix.len().next_multiple_of(8), 0);
    };
    element(6, &[6, 0, 0, 0, 0, 0, 0, 0]);
    element(5, &[2, 0, 0, 0, 2, 0, 0, 0]);
    element(1, b"data");
    element(9, &[1.0f64, 0.5, 0.25, 0.0].map(f64::to_le_bytes).concat());
    file.extend(14u32.to_le_bytes());
    file.extend((matrix.len() as u32).to_le_bytes());
    file.extend(matrix);
    file
}

/// Makes a data file from bytes, reads it as every format, and returns whether one of them took it.
///
/// The bytes are: the file that is edited | edits, each an operation, a place (two bytes) and a byte.
///
/// # Panics
/// If a reader does.
pub fn check(bytes: &[u8]) -> bool {
    let (which, edits) = bytes.split_first().unwrap_or((&0, &[]));
    let mut content = match which % 5 {
        0 => idx(&[3, 2, 2]),
        1 => idx(&[5]),
        2 => b"0 1 1 0\n1 0 0 1\n0 0 0 0\n".to_vec(),
        3 => mat(),
        _ => edits.to_vec(),
    };
    for edit in edits.as_chunks::<4>().0 {
        let [operation, high, low, byte] = *edit;
        let at = usize::from(u16::from_be_bytes([high, low])) % (content.len() + 1);
        match operation % 5 {
            0 | 1 if at < content.len() => content[at] = byte,
            2 if byte < 64 => content.truncate(at),
            3 => content.insert(at, byte),
            4 => {
                let end = (at + 4).min(content.len());
                content.splice(at..end, [255; 4]);
            }
            _ => {}
        }
    }
    let path = scratch();
    fs::write(path, &content).expect("room");
    let progress = &mut |_| {};
    let said = |error: &dyn std::fmt::Display| {
        assert!(error.to_string().len() > 20, "{error}");
        false
    };
    let images = read_idx_images(path, None, progress).map_or_else(|e| said(&e), |_| true);
    let labels = read_idx_labels(path, None, progress).map_or_else(|e| said(&e), |_| true);
    let lines = read_amat(path, 4, None, progress).map_or_else(|e| said(&e), |_| true);
    let matrix = read_mat(path, ["data"], None, progress).map_or_else(|e| said(&e), |_| true);
    images || labels || lines || matrix
}
