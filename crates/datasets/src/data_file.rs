//! The published files: names, lengths, checksums, homes.

/// A published file that can be found, checked and downloaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataFile {
    /// Its name, without `.gz`.
    pub name: String,
    /// Bytes of its decompressed content.
    pub length: u64,
    /// The sha256 of its decompressed content, in lower-case hexadecimal.
    pub sha256: String,
    /// Where it can be downloaded from, its home first; an address that ends in `.gz` gives it gzipped.
    pub urls: Vec<String>,
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

fn file(name: &str, length: u64, sha256: &str, homes: &[&str], suffix: &str) -> DataFile {
    DataFile {
        name: name.to_owned(),
        length,
        sha256: sha256.to_owned(),
        urls: homes
            .iter()
            .map(|home| format!("{home}{name}{suffix}"))
            .collect(),
    }
}
