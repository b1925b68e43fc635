//! The data sets by name.

use std::fmt;
use std::str::FromStr;

use crate::Error;

/// A data set of binary images.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DatasetName {
    /// `binarized-mnist`: MNIST, binarised once at random, 50,000 / 10,000 / 10,000 (Salakhutdinov and Murray, 2008;
    /// Larochelle and Murray, 2011).
    BinarizedMnist,
    /// `threshold-mnist`: MNIST, a pixel on where its byte is at least 128, 55,000 / 5,000 / 10,000; the first 5,000
    /// training images are the validation images.
    ThresholdMnist,
    /// `glyphs`: generated digit-like images, 5,000 / 1,000 / 1,000; needs no file.
    Glyphs,
}

impl DatasetName {
    /// Every data set.
    pub const ALL: [Self; 3] = [Self::BinarizedMnist, Self::ThresholdMnist, Self::Glyphs];

    /// The name that [`FromStr`] accepts.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::BinarizedMnist => "binarized-mnist",
            Self::ThresholdMnist => "threshold-mnist",
            Self::Glyphs => "glyphs",
        }
    }

    /// Whether the images are generated rather than real.
    pub fn is_synthetic(self) -> bool {
        self == Self::Glyphs
    }

    /// All names, for an error text.
    pub(crate) fn choices() -> String {
        Self::ALL.map(|name| format!("`{name}`")).join(", ")
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
            "`glyphs`",
        ] {
            assert!(text.contains(part), "{text}");
        }
    }
}
