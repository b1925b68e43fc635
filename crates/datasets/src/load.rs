//! From a data set's name to its images.

use sha2::{Digest, Sha256};

use crate::content::hex;
use crate::declared::Origin;
use crate::event::Progress;
use crate::{
    Data, DatasetName, Error, GreyImages, Images, Kind, Locator, mnist_files, read_idx_images,
    read_idx_labels,
};

/// The three parts of a data set, and what they are.
#[derive(Debug, Clone)]
pub struct Splits<D = Images> {
    /// The data to learn from.
    pub train: D,
    /// The data by which a model is selected.
    pub valid: D,
    /// The data on which results are reported.
    pub test: D,
    /// The data set's name.
    pub name: String,
    /// The data are generated: results on them are not comparable with published ones.
    pub synthetic: bool,
    /// The sha256 of the data in memory: of `train`, `valid` and `test`. Each stands as its number of rows and of numbers in a
    /// row (`u64`, little endian) and its rows, those of images packed. The same data give the same fingerprint, whatever they
    /// came from.
    pub fingerprint: String,
    /// Where the images came from.
    pub origin: Origin,
}

impl<D: Data> Splits<D> {
    /// Data in memory under a name; the fingerprint is of each row's numbers as `f32`, little endian.
    pub fn in_memory(name: &str, train: D, valid: D, test: D) -> Self {
        let mut hash = Sha256::new();
        for data in [&train, &valid, &test] {
            hash.update((data.len() as u64).to_le_bytes());
            hash.update((data.width() as u64).to_le_bytes());
            let mut row = vec![0.0f32; data.width()];
            for i in 0..data.len() {
                data.write_row(i, &mut row);
                row.iter()
                    .for_each(|number| hash.update(number.to_le_bytes()));
            }
        }
        Self {
            train,
            valid,
            test,
            name: name.into(),
            synthetic: false,
            fingerprint: hex(&hash.finalize()),
            origin: Origin::Memory,
        }
    }
}

impl Splits {
    /// The same as data of one's own: the name is made of this stem, of the fingerprint, and of what the values are where they are not
    /// binary.
    pub fn own(self, stem: &str) -> Self {
        let kinds = [&self.train, &self.valid, &self.test].map(Images::kind);
        let kind = match kinds {
            [Kind::Bits, Kind::Bits, Kind::Bits] => "",
            kinds if kinds.contains(&Kind::Numbers) => NUMBERS,
            _ => GREY,
        };
        let name = format!("{OWN}{stem}-{}{kind}", &self.fingerprint[..8]);
        Self { name, ..self }
    }
}

/// What names of own data begin with.
const OWN: &str = "own-";
/// What those of grey levels end with.
const GREY: &str = "-grey";
/// What those of other numbers end with.
const NUMBERS: &str = "-numbers";

/// Whether a data set of this name is of one's own.
pub fn is_own(name: &str) -> bool {
    name.starts_with(OWN)
}

/// What must be said of data of this name wherever numbers on them are shown, if anything. Published data sets state it; of own data it is
/// that their values are not binary, where they are not.
pub fn caution(name: &str) -> Option<&'static str> {
    match name.parse::<DatasetName>() {
        Ok(known) => known.caution(),
        Err(_) if is_own(name) && name.ends_with(GREY) => Some(
            "GREY LEVELS (own data): likelihoods of grey levels as if they were bits, which are no probabilities of data; \
             comparable with no number of binary images.",
        ),
        Err(_) if is_own(name) && name.ends_with(NUMBERS) => Some(
            "NUMBERS (own data): the values are not binary. A net with a Bernoulli likelihood takes them as if they were bits, and its \
             numbers are then no likelihoods of these data.",
        ),
        Err(_) => None,
    }
}

/// Grey-level MNIST: 60,000 training and 10,000 test images with their labels.
#[derive(Debug, Clone)]
pub struct GreyMnist {
    /// The training images, 28x28.
    pub train: GreyImages,
    /// Their labels, 0 to 9.
    pub train_labels: Vec<u8>,
    /// The test images, 28x28.
    pub test: GreyImages,
    /// Their labels, 0 to 9.
    pub test_labels: Vec<u8>,
}

/// Loads a data set.
///
/// Files are looked for, and downloaded, as `locator` says; each is checked by its sha256 in the pass that reads it.
///
/// # Errors
///
/// [`Error::Missing`] when a file is not to be had ([`Error::is_missing`]); every other error is about a file that is
/// there and bad, or a system that refuses.
pub fn load(
    name: DatasetName,
    locator: &Locator,
    progress: &mut Progress,
) -> Result<Splits, Error> {
    let ([train, valid, test], origin) = (name.declared().parts)(locator, progress)?;
    let fingerprint = fingerprint([&train, &valid, &test]);
    Ok(Splits {
        train,
        valid,
        test,
        name: name.to_string(),
        synthetic: name.is_synthetic(),
        fingerprint,
        origin,
    })
}

impl GreyMnist {
    /// The sha256 of the images and labels in memory, as [`Splits::fingerprint`] is of other images.
    pub fn fingerprint(&self) -> String {
        let mut hash = Sha256::new();
        for (images, labels) in [
            (&self.train, &self.train_labels),
            (&self.test, &self.test_labels),
        ] {
            hash.update((images.len() as u64).to_le_bytes());
            hash.update((images.pixels() as u64).to_le_bytes());
            (0..images.len()).for_each(|i| hash.update(images.row(i)));
            hash.update(labels);
        }
        hex(&hash.finalize())
    }
}

/// Loads grey-level MNIST with its labels.
///
/// # Errors
///
/// As [`load`].
pub fn load_grey_mnist(locator: &Locator, progress: &mut Progress) -> Result<GreyMnist, Error> {
    let files = mnist_files();
    let mut paths = Vec::new();
    for file in &files {
        paths.push(locator.find(file, progress)?);
    }
    Ok(GreyMnist {
        train: read_idx_images(&paths[0], Some(&files[0]), progress)?,
        train_labels: read_idx_labels(&paths[1], Some(&files[1]), progress)?,
        test: read_idx_images(&paths[2], Some(&files[2]), progress)?,
        test_labels: read_idx_labels(&paths[3], Some(&files[3]), progress)?,
    })
}

/// See [`Splits::fingerprint`].
pub(crate) fn fingerprint(parts: [&Images; 3]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update((part.pixels() as u64).to_le_bytes());
        hash.update(part.bytes());
    }
    hex(&hash.finalize())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::binarized_mnist_files;
    use crate::omniglot::{CHARDATA, CHARDATA_BLOB};
    use std::fs;

    #[test]
    fn a_fingerprint_depends_on_every_pixel_and_on_the_split() {
        let images = |n, k| Images::from_fn(n, 9, |i, j| i * 9 + j == k);
        let of = |a, b, c| fingerprint([&a, &b, &c]);
        let base = of(images(2, 3), images(1, 0), images(1, 0));
        assert_eq!(base, of(images(2, 3), images(1, 0), images(1, 0)));
        assert_ne!(base, of(images(2, 4), images(1, 0), images(1, 0)));
        assert_ne!(base, of(images(2, 3), images(1, 0), images(1, 8)));
        assert_ne!(base, of(images(1, 3), images(2, 9), images(1, 0)));
    }

    #[test]
    fn a_missing_file_of_omniglot_is_named_with_its_home_and_what_to_use_instead() {
        let folder = tempfile::tempdir().unwrap();
        let missing = |name| {
            let locator = Locator::only_in(folder.path());
            let error = load(name, &locator, &mut |_| {}).unwrap_err();
            assert!(error.is_missing());
            error.to_string()
        };
        let text = missing(DatasetName::Omniglot);
        for part in [
            "chardata.mat",
            "yburda/iwae",
            CHARDATA_BLOB,
            "omniglot-105-to-28",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
        fs::write(folder.path().join("images_background.zip"), "").unwrap();
        let text = missing(DatasetName::OmniglotReduced);
        assert!(
            text.contains("images_evaluation.zip is") || text.contains("images_evaluation.zip (or"),
            "{text}"
        );
        assert!(text.contains("brendenlake/omniglot"), "{text}");
    }

    #[test]
    fn another_chardata_is_refused_and_stays() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(CHARDATA), "no MATLAB file").unwrap();
        let locator = Locator::only_in(folder.path());
        let error = load(DatasetName::Omniglot, &locator, &mut |_| {}).unwrap_err();
        assert!(matches!(error, Error::WrongChecksum { .. }), "{error}");
        assert!(folder.path().join(CHARDATA).is_file());
    }

    #[test]
    fn a_bad_file_is_an_error_that_is_not_missing_and_the_file_stays() {
        let folder = tempfile::tempdir().unwrap();
        let locator = Locator::only_in(folder.path());
        let error = load(DatasetName::BinarizedMnist, &locator, &mut |_| {}).unwrap_err();
        assert!(error.is_missing());
        for file in binarized_mnist_files() {
            fs::write(folder.path().join(&file.name), "0 1 0 1").unwrap();
        }
        let error = load(DatasetName::BinarizedMnist, &locator, &mut |_| {}).unwrap_err();
        assert!(matches!(error, Error::Truncated { .. }), "{error}");
        assert!(!error.is_missing());
        assert!(error.to_string().contains("binarized_mnist_train.amat"));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
    }

    const GLYPHS: &str = "42626f11530e9bacac7b393ff33c5f8d7a1c266c3ac3d49f9e6d3999afcba130";

    #[test]
    fn glyphs_need_no_file_and_say_that_they_are_synthetic() {
        let nowhere = Locator::only_in("no-such-folder");
        let mut events = Vec::new();
        let splits = load(DatasetName::Glyphs, &nowhere, &mut |e| events.push(e)).unwrap();
        assert!(splits.synthetic);
        assert_eq!(
            (splits.name.as_str(), &splits.origin),
            ("glyphs", &Origin::Generated)
        );
        let sizes = [&splits.train, &splits.valid, &splits.test].map(Images::len);
        assert_eq!(sizes, [5_000, 1_000, 1_000]);
        assert_eq!(events.len(), 1);
        assert_eq!(
            splits.fingerprint, GLYPHS,
            "the same images on every machine"
        );
    }

    #[test]
    fn own_data_say_what_their_values_are() {
        let bits = || Images::from_fn(2, 2, |i, j| i == j);
        let grey = || Images::grey(2, vec![0, 51]);
        let numbers = || Images::of_numbers(2, &[0.0, 3.5]);
        let named = |train, valid, test| {
            let splits = Splits {
                fingerprint: "0123456789".into(),
                ..Splits::in_memory("", train, valid, test)
            };
            splits.own("a").name
        };
        assert_eq!(named(bits(), bits(), bits()), "own-a-01234567");
        assert_eq!(named(bits(), grey(), bits()), "own-a-01234567-grey");
        assert_eq!(named(grey(), numbers(), bits()), "own-a-01234567-numbers");
        assert!(is_own("own-a-01234567") && !is_own("glyphs"));
        assert!(caution("own-a-01234567-grey").unwrap().starts_with("GREY"));
        let text = caution("own-a-01234567-numbers").unwrap();
        assert!(text.starts_with("NUMBERS"));
        assert_eq!((caution("own-a-01234567"), caution("a-grey")), (None, None));
        assert_eq!(caution("binarized-mnist"), None);
        assert!(caution("glyphs").unwrap().starts_with("GENERATED"));
    }

    #[test]
    fn a_fingerprint_of_labelled_images_depends_on_each_byte() {
        let of = |change: usize| {
            let mut bytes = [[1, 2], [3, 4], [5, 6], [7, 8]];
            bytes[change / 2][change % 2] += u8::from(change < 8);
            let [train, train_labels, test, test_labels] = bytes.map(|b| b.to_vec());
            GreyMnist {
                train: GreyImages::new(1, 1, train),
                train_labels,
                test: GreyImages::new(1, 1, test),
                test_labels,
            }
            .fingerprint()
        };
        let all: std::collections::HashSet<String> = (0..8).map(of).collect();
        assert!(all.len() == 8 && all.iter().all(|text| text.len() == 64));
    }
}
