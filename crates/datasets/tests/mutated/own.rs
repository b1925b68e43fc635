//! What must hold of any file of own data whatever: called by a test here, and by a fuzzer.

use std::fs;
use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use helmholtz_datasets::OwnData;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// A folder in memory where there is such a place.
fn folder() -> &'static Path {
    static FOLDER: OnceLock<tempfile::TempDir> = OnceLock::new();
    let make = || match Path::new("/dev/shm").is_dir() {
        true => tempfile::tempdir_in("/dev/shm").expect("a folder"),
        false => tempfile::tempdir().expect("a folder"),
    };
    FOLDER.get_or_init(make).path()
}

/// Forty rows of four numbers as NumPy writes them.
fn npy(kind: &str, number: impl Fn(usize) -> Vec<u8>) -> Vec<u8> {
    let header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': (40, 4), }}\n");
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((header.len() as u16).to_le_bytes());
    file.extend(header.into_bytes());
    file.extend((0..160).flat_map(number));
    file
}

/// An archive of one array, edited before it is put in.
fn npz(array: &[u8], method: CompressionMethod) -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(method);
    archive.start_file("data.npy", options).expect("memory");
    archive.write_all(array).expect("memory");
    archive.finish().expect("memory").into_inner()
}

fn amat() -> Vec<u8> {
    (0..40)
        .flat_map(|row| format!("{} 1 0 {}\n", row % 2, row / 2 % 2).into_bytes())
        .collect()
}

/// Overwrites, cuts and lengthens: each edit is an operation, a place (two bytes) and a byte.
fn edited(mut content: Vec<u8>, edits: &[u8]) -> Vec<u8> {
    for edit in edits.as_chunks::<4>().0 {
        let [operation, high, low, byte] = *edit;
        let at = usize::from(u16::from_be_bytes([high, low])) % (content.len() + 1);
        match operation % 6 {
            0 | 1 if at < content.len() => content[at] = byte,
            2 if byte < 64 => content.truncate(at),
            3 => content.insert(at, byte),
            4 => {
                let end = (at + 4).min(content.len());
                content.splice(at..end, [255; 4]);
            }
            // Another number in place of one digit: sizes beyond anything.
            5 => {
                let digit = (at..content.len()).find(|&at| content[at].is_ascii_digit());
                if let Some(at) = digit {
                    content.splice(at..=at, *b"1099511627776");
                }
            }
            _ => {}
        }
    }
    content
}

/// Makes a file of own data from bytes and loads it. Returns whether it was taken.
///
/// The bytes are: the format | edits.
///
/// # Panics
/// If the reader does.
pub fn check(bytes: &[u8]) -> bool {
    let (which, edits) = bytes.split_first().unwrap_or((&0, &[]));
    let bits = || npy("|u1", |i| vec![(i * i / 7 % 2) as u8]);
    let reals = || npy("<f4", |i| ((i * i / 7 % 2) as f32).to_le_bytes().to_vec());
    let (ending, content) = match which % 9 {
        0 => ("npy", edited(bits(), edits)),
        1 => ("npy", edited(reals(), edits)),
        2 => (
            "npz",
            edited(npz(&bits(), CompressionMethod::Stored), edits),
        ),
        3 => (
            "npz",
            npz(&edited(bits(), edits), CompressionMethod::Stored),
        ),
        4 => (
            "npz",
            npz(&edited(reals(), edits), CompressionMethod::Deflated),
        ),
        5 => (
            "npz",
            edited(npz(&reals(), CompressionMethod::Deflated), edits),
        ),
        6 => ("amat", edited(amat(), edits)),
        7 => ("idx", edits.to_vec()),
        _ => ("npy", edits.to_vec()),
    };
    let path: PathBuf = folder().join(format!("data.{ending}"));
    fs::write(&path, &content).expect("room");
    match OwnData::new(vec![path]).load(&mut |_| {}) {
        Ok(_) => true,
        Err(error) => {
            assert!(error.to_string().len() > 20, "{error}");
            false
        }
    }
}
