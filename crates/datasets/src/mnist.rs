//! MNIST: binarised once at random, by a threshold, or with its grey levels.

use crate::data_file::file;
use crate::declared::{Declared, Origin, Parts};
use crate::event::Progress;
use crate::{DataFile, Error, GreyImages, Images, Locator, read_amat, read_idx_images};

pub(crate) const BINARIZED: Declared = Declared {
    name: "binarized-mnist",
    train_images: 50_000,
    synthetic: false,
    caution: None,
    parts: binarized,
};

pub(crate) const THRESHOLD: Declared = Declared {
    name: "threshold-mnist",
    train_images: 55_000,
    synthetic: false,
    caution: None,
    parts: |locator, progress| grey(locator, progress, |images, rows| images.binarise(rows, 128)),
};

pub(crate) const GREY: Declared = Declared {
    name: "grey-mnist",
    train_images: 55_000,
    synthetic: false,
    caution: Some(
        "GREY PIXELS: likelihoods of grey levels as if they were bits, for a comparison with published runs that probably \
         used them so; comparable with no number of binary images.",
    ),
    parts: |locator, progress| grey(locator, progress, GreyImages::levels),
};

fn binarized(locator: &Locator, progress: &mut Progress) -> Result<Parts, Error> {
    let files = binarized_mnist_files();
    let mut paths = Vec::new();
    for file in &files {
        paths.push(locator.find(file, progress)?);
    }
    let mut read = |i: usize| read_amat(&paths[i], 28 * 28, Some(&files[i]), progress);
    Ok(([read(0)?, read(1)?, read(2)?], Origin::Files(paths)))
}

/// The grey images made into what `of` makes of some rows; the first 5,000 training images validate.
fn grey(
    locator: &Locator,
    progress: &mut Progress,
    of: fn(&GreyImages, std::ops::Range<usize>) -> Images,
) -> Result<Parts, Error> {
    let [train, _, test, _] = mnist_files();
    let paths = vec![
        locator.find(&train, progress)?,
        locator.find(&test, progress)?,
    ];
    let grey = read_idx_images(&paths[0], Some(&train), progress)?;
    let test = read_idx_images(&paths[1], Some(&test), progress)?;
    let parts = [
        of(&grey, 5_000..grey.len()),
        of(&grey, 0..5_000),
        of(&test, 0..test.len()),
    ];
    Ok((parts, Origin::Files(paths)))
}

/// Fixed binarised MNIST: training, validation and test images.
///
/// Salakhutdinov and Murray, 2008, in the split of Larochelle and Murray, 2011. Home: Hugo Larochelle's page; the mirror
/// is the copy in the repository of van den Berg et al., 2018 (the same bytes).
pub fn binarized_mnist_files() -> [DataFile; 3] {
    const HOMES: [&str; 2] = [
        "http://www.cs.toronto.edu/~larocheh/public/datasets/binarized_mnist/",
        "https://raw.githubusercontent.com/riannevdberg/sylvester-flows/32dde9b7d696fee94f946a338182e542779eecfe/data/MNIST_static/",
    ];
    [
        (
            "binarized_mnist_train.amat",
            78_400_000,
            "ad693b29f94c14277b095f5238ddefbbdaaae0939789dd2f4f0205278cee3e4d",
        ),
        (
            "binarized_mnist_valid.amat",
            15_680_000,
            "1de3d397c40fe8eeb33dafd4099a1f665ec01e96d9be234aaeeac8a34930e2e2",
        ),
        (
            "binarized_mnist_test.amat",
            15_680_000,
            "e6687bfea3f820c174f33b7865140b2a2dd2930ef786f35d45795fc193b5ab2c",
        ),
    ]
    .map(|(name, length, sha256)| file(name, length, sha256, &HOMES, ""))
}

/// Grey-level MNIST: training images, training labels, test images, test labels (LeCun, Cortes and Burges, 1998).
pub fn mnist_files() -> [DataFile; 4] {
    const HOMES: [&str; 3] = [
        "http://yann.lecun.com/exdb/mnist/",
        "https://ossci-datasets.s3.amazonaws.com/mnist/",
        "https://storage.googleapis.com/cvdf-datasets/mnist/",
    ];
    [
        (
            "train-images-idx3-ubyte",
            47_040_016,
            "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
        ),
        (
            "train-labels-idx1-ubyte",
            60_008,
            "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
        ),
        (
            "t10k-images-idx3-ubyte",
            7_840_016,
            "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
        ),
        (
            "t10k-labels-idx1-ubyte",
            10_008,
            "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
        ),
    ]
    .map(|(name, length, sha256)| file(name, length, sha256, &HOMES, ".gz"))
}
