//! Data of one's own, from files.

mod arrays;
mod npy;
#[cfg(feature = "parquet")]
mod parquet;
mod split;
#[cfg(test)]
mod tests;
mod text;

use std::path::{Path, PathBuf};

use crate::content::Content;
use crate::event::Progress;
use crate::load::fingerprint;
use crate::mat::read_matrices;
use crate::{Error, Images, Origin, Splits};

use arrays::{Array, Found};
use split::rows_of_parts;

/// The endings of the files that [`OwnData`] reads; `.gz` may follow but for archives and tables.
pub const ENDINGS: [&str; 6] = [".npy", ".npz", ".amat", ".idx", ".mat", ".parquet"];

/// The most numbers of a data set, 2 GiB of `f32`.
const MOST: usize = 1 << 29;

/// The most bytes of a file, decompressed.
const LARGEST: u64 = 4 * MOST as u64;

/// A data set in files of one's own.
///
/// One file has all rows, divided by [`fractions`](Self::fractions) and [`seed`](Self::seed), or it has the parts as arrays
/// called `train`, `valid` and `test` (`.npz`, `.mat`). Three files are the parts.
///
/// | ending | a row is |
/// |---|---|
/// | `.npy`, `.npz` | what is below an index of the first axis, in C order; numbers of 1 to 8 bytes, or bool |
/// | `.amat` | a line of numbers, with spaces or commas between them |
/// | `.idx`, `…ubyte` | an entry of the first dimension, of bytes |
/// | `.mat` | a row of a real matrix (version 5) |
/// | `.parquet` | a row of the numeric columns (feature `parquet`) |
///
/// An array or column called `labels`, `label` or `y`, of whole numbers, has the class of each row: every part then has every class
/// in its share. Rows of 0 and 1 are bits; those of bytes are grey levels, byte / 255; others are the numbers as they are.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnData {
    /// One file, or those of the training, validation and test data.
    pub files: Vec<PathBuf>,
    /// The shares of the training, validation and test data of one file of all rows, [`FRACTIONS`] where none are given.
    pub fractions: Option<[f64; 3]>,
    /// Names the division of such a file; 1 where none is given.
    pub seed: Option<u64>,
}

/// The shares of the training, validation and test data where none are given.
pub const FRACTIONS: [f64; 3] = [0.8, 0.1, 0.1];

impl OwnData {
    /// The data in these files, divided 0.8 / 0.1 / 0.1 by seed 1 where it is one file of all rows.
    pub fn new(files: Vec<PathBuf>) -> Self {
        Self {
            files,
            fractions: None,
            seed: None,
        }
    }

    /// Whether it says how to divide the rows of one file.
    fn divides(&self) -> bool {
        self.fractions.is_some() || self.seed.is_some()
    }

    /// Whether a word names files, by their endings, with commas between them.
    pub fn is_files(word: &str) -> bool {
        word.split(',')
            .all(|file| format_of(Path::new(file)).is_some())
    }

    /// Reads the data. Their name is made of the first file's and of the fingerprint.
    ///
    /// # Errors
    /// [`Error::Unsuitable`] for files that are not there, for shares or a seed beside parts, or whose arrays are no rows of finite numbers of one width; [`Error::Corrupt`],
    /// [`Error::Truncated`], [`Error::NotGzip`] for damaged ones; [`Error::Io`].
    pub fn load(&self, progress: &mut Progress) -> Result<Splits, Error> {
        let parts = match self.files.as_slice() {
            [file] => match read(file, progress)?.parts(file)? {
                Ok(_) if self.divides() => {
                    let problem =
                        "it has its own `train`, `valid` and `test`: leave out how to divide it";
                    return Err(unsuitable(file, problem.into()));
                }
                Ok(parts) => parts,
                Err((all, labels)) => self.divided(file, &all, labels.as_deref())?,
            },
            [train, _, _] if self.divides() => {
                let problem = "it is one of three parts: leave out how to divide them";
                return Err(unsuitable(train, problem.into()));
            }
            [train, valid, test] => {
                let mut whole = |file: &Path| Ok(read(file, progress)?.whole(file)?.0.images());
                [whole(train)?, whole(valid)?, whole(test)?]
            }
            files => {
                let first = files.first().cloned().unwrap_or_default();
                let problem = format!(
                    "{} files: give one, or three with commas between them, of the training, validation and test data",
                    files.len()
                );
                return Err(Error::Unsuitable {
                    file: first,
                    problem,
                });
            }
        };
        self.checked(parts)
    }

    /// All rows of one file, divided.
    fn divided(
        &self,
        file: &Path,
        all: &Array,
        labels: Option<&[i64]>,
    ) -> Result<[Images; 3], Error> {
        let (fractions, seed) = (self.fractions.unwrap_or(FRACTIONS), self.seed.unwrap_or(1));
        let parts = rows_of_parts(all.rows(), labels, fractions, seed);
        let parts = parts.map_err(|problem| unsuitable(file, problem))?;
        let images = all.images();
        Ok(parts.map(|rows| images.select(&rows)))
    }

    /// The parts, of one width and kind, under their name.
    fn checked(&self, parts: [Images; 3]) -> Result<Splits, Error> {
        let file = &self.files[0];
        let widths = parts.each_ref().map(Images::pixels);
        if widths.iter().any(|&width| width != widths[0]) {
            let problem =
                format!("the parts have rows of {widths:?} numbers: they must be as wide");
            return Err(unsuitable(file, problem));
        }
        if parts.iter().any(Images::is_empty) {
            let problem = "training, validation and test data need a row each, at least".into();
            return Err(unsuitable(file, problem));
        }
        let fingerprint = fingerprint(parts.each_ref());
        let [train, valid, test] = parts;
        let splits = Splits {
            train,
            valid,
            test,
            name: String::new(),
            synthetic: false,
            fingerprint,
            origin: Origin::Files(self.files.clone()),
        };
        Ok(splits.own(&stem(file)))
    }
}

/// The first file's name, without its ending, as a part of a folder's name.
fn stem(file: &Path) -> String {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let stem = name.split('.').next().unwrap_or_default().to_lowercase();
    let letters = stem.chars().map(|c| match c {
        'a'..='z' | '0'..='9' => c,
        _ => '-',
    });
    let stem: String = letters.take(40).collect();
    match stem.trim_matches('-') {
        "" => "data".into(),
        stem => stem.into(),
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Format {
    Npy,
    Npz,
    Text,
    Idx,
    Mat,
    Parquet,
}

/// By its ending.
fn format_of(file: &Path) -> Option<Format> {
    let name = file.file_name()?.to_str()?.to_lowercase();
    let plain = name.strip_suffix(".gz").unwrap_or(&name);
    let of = |ending: &str| plain.ends_with(ending);
    let packed = plain.len() != name.len();
    match () {
        () if of(".npy") => Some(Format::Npy),
        () if of(".npz") && !packed => Some(Format::Npz),
        () if of(".amat") => Some(Format::Text),
        () if of(".idx") || of("ubyte") => Some(Format::Idx),
        () if of(".mat") => Some(Format::Mat),
        () if of(".parquet") && !packed => Some(Format::Parquet),
        () => None,
    }
}

/// The arrays of a file.
fn read(file: &Path, progress: &mut Progress) -> Result<Found, Error> {
    let Some(format) = format_of(file) else {
        let problem = format!(
            "its name tells no format: use one of {}",
            ENDINGS.join(", ")
        );
        return Err(unsuitable(file, problem));
    };
    if !file.is_file() {
        let problem = "there is no such file; a path begins in the present folder".into();
        return Err(unsuitable(file, problem));
    }
    let mut content = || Ok(Content::open(file, None, progress)?.of_length(LARGEST));
    let one = |array| Found(vec![(String::new(), array)]);
    match format {
        Format::Npy => Ok(one(npy::read_npy(file, &content()?.rest()?)?)),
        Format::Npz => npy::read_npz(file, content()?.rest()?, LARGEST),
        Format::Text => Ok(one(text::read(file, &content()?.rest()?, MOST)?)),
        Format::Idx => {
            let images = crate::read_idx_images(file, None, progress)?;
            let bytes = (0..images.len()).flat_map(|i| images.row(i));
            let numbers = bytes.map(|&byte| f32::from(byte)).collect();
            Ok(one(Array::of_bytes(images.pixels(), numbers)))
        }
        Format::Mat => {
            let matrices = read_matrices(file, progress)?;
            let arrays = matrices.into_iter().map(|(name, matrix)| {
                let columns = matrix.entries.len() / matrix.rows;
                let at = |i: usize| matrix.entries[i % columns * matrix.rows + i / columns] as f32;
                let numbers = (0..matrix.entries.len()).map(at).collect();
                (name, Array::new(columns, numbers))
            });
            Ok(Found(arrays.collect()))
        }
        #[cfg(feature = "parquet")]
        Format::Parquet => parquet::read(file, content()?.rest()?),
        #[cfg(not(feature = "parquet"))]
        Format::Parquet => {
            let problem = "this program was built without `.parquet`: build it with the feature `parquet`, or convert the file to `.npz`";
            Err(unsuitable(file, problem.into()))
        }
    }
}

fn unsuitable(file: &Path, problem: String) -> Error {
    let file = file.to_owned();
    Error::Unsuitable { file, problem }
}

/// That an array of so many numbers is one that is read, before anything is allocated for it.
fn fits(file: &Path, at: &str, shape: &[u64]) -> Result<usize, Error> {
    let count = shape
        .iter()
        .try_fold(1u64, |product, &n| product.checked_mul(n));
    match count {
        Some(count) if count <= MOST as u64 => Ok(count as usize),
        _ => Err(unsuitable(
            file,
            format!("{at} has the shape {shape:?}; {MOST} numbers are the most"),
        )),
    }
}
