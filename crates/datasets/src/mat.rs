//! Matrices of numbers in a MATLAB file (`.mat`, version 5).

use std::path::Path;

use matfile::{Array, MatFile, NumericData};
use sha1::{Digest, Sha1};

use crate::Error;
use crate::content::{Content, hex};
use crate::event::Progress;

/// A matrix of real numbers, column-major, as such files hold it.
#[derive(Debug, Clone, PartialEq)]
pub struct Matrix {
    /// Its rows; at least one.
    pub rows: usize,
    /// Its entries, column by column.
    pub entries: Vec<f64>,
}

impl Matrix {
    /// Its columns.
    pub fn columns(&self) -> impl ExactSizeIterator<Item = &[f64]> {
        self.entries.chunks_exact(self.rows)
    }
}

/// Reads the matrices called `names` from a `.mat` file (version 5, compressed or not), plain or `.gz`.
///
/// `git_blob` is the id under which git stores the published content, where there is one to compare with.
///
/// # Errors
/// [`Error::Corrupt`] for what is no such file, or has no matrix of real numbers of a name; [`Error::WrongChecksum`],
/// [`Error::NotGzip`], [`Error::Io`].
pub fn read_mat<const N: usize>(
    path: &Path,
    names: [&str; N],
    git_blob: Option<&str>,
    progress: &mut Progress,
) -> Result<[Matrix; N], Error> {
    let mut content = Content::open(path, None, progress)?;
    let bytes = content.rest()?;
    if let Some(expected) = git_blob {
        let mut hash = Sha1::new();
        hash.update(format!("blob {}\0", bytes.len()));
        hash.update(&bytes);
        let found = hex(&hash.finalize());
        if found != expected {
            return Err(Error::WrongChecksum {
                file: path.to_owned(),
                kind: "git blob id",
                expected: expected.to_owned(),
                found,
            });
        }
    }
    let file = parsed(&content, &bytes)?;
    let mut matrices = Vec::with_capacity(N);
    for name in names {
        match file.find_by_name(name).and_then(matrix) {
            Some(matrix) => matrices.push(matrix),
            None => {
                let known: Vec<_> = file.arrays().iter().map(|array| array.name()).collect();
                let found = format!(
                    "no matrix of real numbers of this name (there are: {})",
                    known.join(", ")
                );
                return Err(content.corrupt(format!("`{name}`"), found));
            }
        }
    }
    Ok(matrices.try_into().expect("one for each name"))
}

/// Every matrix of real numbers of a `.mat` file, by name.
///
/// # Errors
/// As [`read_mat`].
pub(crate) fn read_matrices(
    path: &Path,
    progress: &mut Progress,
) -> Result<Vec<(String, Matrix)>, Error> {
    let mut content = Content::open(path, None, progress)?;
    let bytes = content.rest()?;
    let file = parsed(&content, &bytes)?;
    let arrays = file.arrays().iter();
    let real = arrays.filter_map(|array| Some((array.name().to_owned(), matrix(array)?)));
    Ok(real.collect())
}

/// The file's arrays.
fn parsed(content: &Content, bytes: &[u8]) -> Result<MatFile, Error> {
    // The parser panics at sizes that no matrix has. The published file is recognised before, by its git blob id.
    let parsed = std::panic::catch_unwind(|| MatFile::parse(bytes));
    let parsed = parsed.map_err(|_| {
        let found = "sizes that no matrix has".to_owned();
        content.corrupt("its structure".into(), found)
    })?;
    parsed.map_err(|error| {
        content.corrupt(
            "its structure".into(),
            format!("no MATLAB file of version 5 ({error})"),
        )
    })
}

/// An array as a matrix, if it is one of real numbers.
fn matrix(array: &Array) -> Option<Matrix> {
    let entries = real(array.data())?;
    match *array.size().as_slice() {
        [rows, columns] if rows > 0 && columns > 0 && entries.len() == rows * columns => {
            Some(Matrix { rows, entries })
        }
        _ => None,
    }
}

/// The entries, if they are real.
fn real(data: &NumericData) -> Option<Vec<f64>> {
    macro_rules! widened {
        ($($kind:ident)*) => {
            match data {
                NumericData::Double { real, imag: None } => Some(real.clone()),
                $(NumericData::$kind { real, imag: None } => {
                    Some(real.iter().map(|&entry| f64::from(entry)).collect())
                })*
                _ => None,
            }
        };
    }
    widened!(Single Int8 UInt8 Int16 UInt16 Int32 UInt32)
}

#[cfg(test)]
pub(crate) mod tests {
    use std::fs;
    use std::io::Write;

    use super::*;
    use crate::testing::gzip;

    /// One element of a file: its tag and its bytes, padded to eight.
    fn element(kind: u32, bytes: &[u8]) -> Vec<u8> {
        let mut out = [kind.to_le_bytes(), (bytes.len() as u32).to_le_bytes()].concat();
        out.extend(bytes);
        out.resize(out.len().next_multiple_of(8), 0);
        out
    }

    /// A matrix of doubles as an element, compressed as MATLAB writes it, or not.
    fn matrix(name: &str, size: [usize; 2], entries: &[f64], compressed: bool) -> Vec<u8> {
        const MATRIX: u32 = 14;
        const COMPRESSED: u32 = 15;
        let size = size.map(|n| (n as i32).to_le_bytes()).concat();
        let numbers: Vec<u8> = entries.iter().flat_map(|e| e.to_le_bytes()).collect();
        let body = [
            element(6, &[6, 0, 0, 0, 0, 0, 0, 0]), // flags: class double
            element(5, &size),
            element(1, name.as_bytes()),
            element(9, &numbers),
        ];
        let whole = element(MATRIX, &body.concat());
        if !compressed {
            return whole;
        }
        let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), Default::default());
        zlib.write_all(&whole).unwrap();
        let packed = zlib.finish().unwrap();
        let mut out = [COMPRESSED, packed.len() as u32]
            .map(u32::to_le_bytes)
            .concat();
        out.extend(packed);
        out
    }

    /// A file with these matrices: name, rows, entries column by column.
    pub(crate) fn mat(matrices: &[(&str, usize, &[f64])], compressed: bool) -> Vec<u8> {
        let matrices = matrices.iter().map(|(name, rows, entries)| {
            matrix(name, [*rows, entries.len() / rows], entries, compressed)
        });
        file(matrices)
    }

    fn file(matrices: impl Iterator<Item = Vec<u8>>) -> Vec<u8> {
        let mut file = format!("{:124}", "MATLAB 5.0 MAT-file").into_bytes();
        file.extend([0, 1, b'I', b'M']);
        file.extend(matrices.flatten());
        file
    }

    fn read(name: &str, bytes: &[u8], blob: Option<&str>) -> Result<[Matrix; 2], Error> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        read_mat(&path, ["data", "testdata"], blob, &mut |_| {})
    }

    const DATA: [f64; 6] = [0.0, 0.25, 0.5, 0.75, 1.0, 0.125];

    #[test]
    fn matrices_are_read_by_name_compressed_or_not_and_gzipped() {
        let matrices: [(&str, usize, &[f64]); 3] = [
            ("testdata", 2, &DATA[..2]),
            ("other", 1, &DATA),
            ("data", 2, &DATA),
        ];
        for compressed in [false, true] {
            let plain = mat(&matrices, compressed);
            for (name, bytes) in [("a.mat", plain.clone()), ("a.mat.gz", gzip(&plain))] {
                let [data, test] = read(name, &bytes, None).unwrap();
                assert_eq!((data.rows, data.entries.as_slice()), (2, &DATA[..]));
                let columns: Vec<_> = data.columns().collect();
                assert_eq!(columns, [[0.0, 0.25], [0.5, 0.75], [1.0, 0.125]]);
                assert_eq!(test.columns().len(), 1);
            }
        }
    }

    #[test]
    fn a_missing_matrix_and_a_file_of_another_kind_are_corrupt() {
        let text = |bytes: &[u8]| {
            let error = read("a.mat", bytes, None).unwrap_err();
            assert!(matches!(error, Error::Corrupt { .. }), "{error}");
            error.to_string()
        };
        let other = mat(&[("data", 1, &DATA), ("target", 1, &DATA)], false);
        let error = text(&other);
        assert!(
            error.contains("`testdata`") && error.contains("data, target"),
            "{error}"
        );
        assert!(text(b"MATLAB 7.3").contains("version 5"));
        let whole = mat(&[("data", 1, &DATA), ("testdata", 1, &DATA)], true);
        assert!(text(&whole[..whole.len() - 20]).contains("a.mat"));
    }

    /// `printf 'blob 5\0hello' | sha1sum`, what `git hash-object` says of the same five bytes.
    #[test]
    fn the_published_content_is_known_by_its_git_blob_id() {
        let id = "b6fc4c620b67d95f953a5c1c1230aaab5db5a1b0";
        let error = read("a.mat", b"hello", Some(id)).unwrap_err();
        assert!(
            matches!(error, Error::Corrupt { .. }),
            "it is the content: {error}"
        );
        let error = read("a.mat", b"hellO", Some(id)).unwrap_err().to_string();
        assert!(
            error.contains("git blob id b6fc4c62") && error.contains("a.mat"),
            "{error}"
        );
    }

    #[test]
    fn a_matrix_without_rows_or_columns_is_none() {
        for (size, entries) in [([0, 3], 0), ([3, 0], 0), ([0, 0], 0), ([2, 2], 3)] {
            let empty = matrix("data", size, &DATA[..entries], false);
            let whole = matrix("testdata", [1, 6], &DATA, false);
            let error = read("a.mat", &file([empty, whole].into_iter()), None).unwrap_err();
            assert!(matches!(error, Error::Corrupt { .. }), "{size:?}: {error}");
        }
    }
}
