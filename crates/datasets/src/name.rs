//! The data sets by name.

use std::fmt;
use std::str::FromStr;

use crate::declared::Declared;
use crate::{Error, dynamic, glyphs, mnist, omniglot};

/// A data set of images as a model sees them: binary ones, but for those whose names begin with `grey`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DatasetName {
    /// `binarized-mnist`: MNIST, binarised once at random, 50,000 / 10,000 / 10,000 (Salakhutdinov and Murray, 2008;
    /// Larochelle and Murray, 2011).
    BinarizedMnist,
    /// `threshold-mnist`: MNIST, a pixel on where its byte is at least 128, 55,000 / 5,000 / 10,000; the first 5,000
    /// training images are the validation images.
    ThresholdMnist,
    /// `grey-mnist`: MNIST with its grey levels, byte / 255, in the split of `threshold-mnist`. No data of a model of bits: for
    /// a comparison with published runs that probably used them so.
    GreyMnist,
    /// `omniglot`: OMNIGLOT at 28x28 from `chardata.mat` (Burda, Grosse and Salakhutdinov, 2016), binarised once at random,
    /// 23,000 / 1,345 / 8,070.
    Omniglot,
    /// `omniglot-105-to-28`: the original OMNIGLOT drawings, made smaller here, 23,045 / 1,345 / 8,070. Not the data of
    /// published numbers: another resampling and another split.
    OmniglotReduced,
    /// `dynamic-mnist`: MNIST, 50,000 / 10,000 / 10,000 in the order of its files, each pixel of a training image on with
    /// probability byte / 255, drawn afresh whenever the image is read.
    DynamicMnist,
    /// `dynamic-mnist-once`: the same, the training images drawn once, for a comparison with runs that do so.
    DynamicMnistOnce,
    /// `grey-mnist-50000`: MNIST with its grey levels, byte / 255, in the split of `dynamic-mnist`, for densities of real numbers.
    GreyMnist50000,
    /// `dynamic-fashion-mnist`: Fashion-MNIST (Xiao, Rasul and Vollgraf, 2017), split and drawn as `dynamic-mnist`.
    DynamicFashionMnist,
    /// `grey-fashion-mnist`: Fashion-MNIST with its grey levels, in the same split.
    GreyFashionMnist,
    /// `dynamic-omniglot`: OMNIGLOT from `chardata.mat` in the order of the file, the last 1,345 training images to validate,
    /// drawn as `dynamic-mnist`.
    DynamicOmniglot,
    /// `glyphs`: generated digit-like images, 5,000 / 1,000 / 1,000; needs no file.
    Glyphs,
}

impl DatasetName {
    /// Every data set.
    pub const ALL: [Self; 12] = [
        Self::BinarizedMnist,
        Self::ThresholdMnist,
        Self::GreyMnist,
        Self::Omniglot,
        Self::OmniglotReduced,
        Self::DynamicMnist,
        Self::DynamicMnistOnce,
        Self::GreyMnist50000,
        Self::DynamicFashionMnist,
        Self::GreyFashionMnist,
        Self::DynamicOmniglot,
        Self::Glyphs,
    ];

    /// What it states of itself.
    pub(crate) fn declared(self) -> &'static Declared {
        match self {
            Self::BinarizedMnist => &mnist::BINARIZED,
            Self::ThresholdMnist => &mnist::THRESHOLD,
            Self::GreyMnist => &mnist::GREY,
            Self::Omniglot => &omniglot::DECLARED,
            Self::OmniglotReduced => &omniglot::REDUCED,
            Self::DynamicMnist => &dynamic::MNIST,
            Self::DynamicMnistOnce => &dynamic::MNIST_ONCE,
            Self::GreyMnist50000 => &dynamic::MNIST_GREY,
            Self::DynamicFashionMnist => &dynamic::FASHION,
            Self::GreyFashionMnist => &dynamic::FASHION_GREY,
            Self::DynamicOmniglot => &dynamic::OMNIGLOT,
            Self::Glyphs => &glyphs::DECLARED,
        }
    }

    /// The name that [`FromStr`] accepts.
    pub fn as_str(self) -> &'static str {
        self.declared().name
    }

    /// Whether the images are generated rather than real.
    pub fn is_synthetic(self) -> bool {
        self.declared().synthetic
    }

    /// The number of training images.
    pub fn train_images(self) -> usize {
        self.declared().train_images
    }

    /// What must be said wherever numbers of this data set are shown, if anything.
    pub fn caution(self) -> Option<&'static str> {
        self.declared().caution
    }
}

impl fmt::Display for DatasetName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for DatasetName {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        Self::ALL
            .into_iter()
            .find(|known| known.as_str() == name)
            .ok_or_else(|| Error::UnknownDataset {
                found: name.to_owned(),
                choices: Self::ALL.map(|name| format!("`{name}`")).join(", "),
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_parses_to_itself() {
        for name in DatasetName::ALL {
            assert_eq!(name.to_string().parse::<DatasetName>().unwrap(), name);
        }
    }

    #[test]
    fn an_unknown_name_lists_the_choices() {
        let text = "mnist-binary"
            .parse::<DatasetName>()
            .unwrap_err()
            .to_string();
        for part in [
            "`mnist-binary`",
            "`binarized-mnist`",
            "`threshold-mnist`",
            "`omniglot-105-to-28`",
            "`glyphs`",
        ] {
            assert!(text.contains(part), "{text}");
        }
    }
}
