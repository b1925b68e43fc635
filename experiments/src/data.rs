//! Which data a request runs on: what was asked for, or the profile's substitute, or a refusal.

use crate::error::HarnessError;
use crate::spec::Profile;
use helmholtz_datasets::{DatasetName, Error, Splits};
use std::sync::Arc;

/// The sizes of a data set's three parts, in images.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    /// Training images.
    pub train: u64,
    /// Validation images.
    pub valid: u64,
    /// Test images.
    pub test: u64,
}

impl Sizes {
    /// Of this data set.
    pub fn of(splits: &Splits) -> Self {
        let [train, valid, test] = [&splits.train, &splits.valid, &splits.test];
        let [train, valid, test] = [train, valid, test].map(|images| images.len() as u64);
        Self { train, valid, test }
    }
}

/// The images that a request runs on.
#[derive(Debug, Clone)]
pub struct Data {
    /// The images.
    pub splits: Arc<Splits>,
    /// The data set they take the place of, and why it could not be had.
    pub instead_of: Option<(DatasetName, String)>,
}

impl Data {
    /// The sizes of the three parts.
    pub fn sizes(&self) -> Sizes {
        Sizes::of(&self.splits)
    }
}

/// Decides on what to run, `loaded` being the outcome of loading the data set that the experiment is about, or the
/// one that the user `requested`.
///
/// Only data that are not to be had (no file, no download) are substituted, only when the user named none, and only
/// in a profile that names a substitute. Data that are there and bad are never passed over.
///
/// # Errors
/// [`HarnessError::NoSubstitute`] or [`HarnessError::Data`], with the remedy.
pub fn resolve_dataset(
    profile_name: &str,
    profile: &Profile,
    requested: Option<DatasetName>,
    wanted: DatasetName,
    loaded: Result<Splits, Error>,
    load: impl FnOnce(DatasetName) -> Result<Splits, Error>,
) -> Result<Data, HarnessError> {
    let error = match loaded {
        Ok(splits) => {
            return Ok(Data {
                splits: Arc::new(splits),
                instead_of: None,
            });
        }
        Err(error) => error,
    };
    if !error.is_missing() || requested.is_some() {
        return Err(error.into());
    }
    match &profile.substitute {
        Some(substitute) => Ok(Data {
            splits: Arc::new(load(substitute.parse()?)?),
            instead_of: Some((wanted, error.to_string())),
        }),
        None => Err(HarnessError::NoSubstitute {
            profile: profile_name.to_string(),
            source: error,
        }),
    }
}

/// The banner of substituted data, in lines of at most 78 characters.
pub fn banner(name: DatasetName, wanted: DatasetName) -> Vec<String> {
    let others = match name.is_synthetic() {
        true => "GENERATED",
        false => "OTHER",
    };
    let mut lines = vec![
        format!(
            "{} IS NOT HERE: RUNNING ON {others} IMAGES ({name})",
            wanted.as_str().to_uppercase()
        ),
        String::new(),
    ];
    let text = format!(
        "There was no file and no download. {} Results are kept apart from those on {wanted}.",
        name.caution().unwrap_or_default()
    );
    lines.extend(
        textwrap::wrap(&text, 72)
            .iter()
            .map(|line| line.trim().to_string()),
    );
    let rule = "█".repeat(78);
    let framed = lines.into_iter().map(|line| format!("█  {line:<72}  █"));
    std::iter::once(rule.clone())
        .chain(framed)
        .chain([rule])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::tests::table1;
    use helmholtz_datasets::{Locator, load};

    fn nowhere() -> Locator {
        Locator {
            environment_dir: None,
            cache_dir: None,
            ..Locator::new(None).offline()
        }
    }

    fn load_nowhere(name: DatasetName) -> Result<Splits, Error> {
        load(name, &nowhere(), &mut |_| {})
    }

    fn resolve(
        profile: &str,
        requested: Option<DatasetName>,
        loaded: Result<Splits, Error>,
    ) -> Result<Data, HarnessError> {
        let spec = table1();
        let wanted = DatasetName::BinarizedMnist;
        resolve_dataset(
            profile,
            spec.profile(profile).unwrap(),
            requested,
            wanted,
            loaded,
            load_nowhere,
        )
    }

    #[test]
    fn what_was_loaded_is_used() {
        let data = resolve(
            "paper",
            Some(DatasetName::Glyphs),
            load_nowhere(DatasetName::Glyphs),
        )
        .unwrap();
        assert!(data.instead_of.is_none() && data.splits.synthetic);
        assert_eq!(data.sizes().train, data.splits.train.len() as u64);
    }

    #[test]
    fn quick_falls_back_to_glyphs_and_says_so() {
        let data = resolve("quick", None, load_nowhere(DatasetName::BinarizedMnist)).unwrap();
        assert!(data.splits.synthetic && data.splits.name == "glyphs");
        let (wanted, why) = data.instead_of.unwrap();
        assert_eq!(wanted, DatasetName::BinarizedMnist);
        assert!(why.contains("binarized_mnist_train.amat"), "{why}");
    }

    #[test]
    fn paper_refuses_with_the_remedy() {
        let error = resolve("paper", None, load_nowhere(DatasetName::BinarizedMnist))
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("`paper`") && error.contains("--data-dir"),
            "{error}"
        );
    }

    #[test]
    fn data_that_were_asked_for_by_name_are_never_substituted() {
        let wanted = DatasetName::BinarizedMnist;
        assert!(matches!(
            resolve("quick", Some(wanted), load_nowhere(wanted)),
            Err(HarnessError::Data(_))
        ));
    }

    #[test]
    fn data_that_are_there_and_bad_are_never_substituted() {
        let bad = Error::NotGzip {
            file: "x.gz".into(),
            found: "00".into(),
        };
        assert!(matches!(
            resolve("quick", None, Err(bad)),
            Err(HarnessError::Data(_))
        ));
    }

    #[test]
    fn the_banner_is_a_box_that_fits_a_terminal() {
        for (name, wanted, part) in [
            (
                DatasetName::Glyphs,
                DatasetName::BinarizedMnist,
                "GENERATED IMAGES",
            ),
            (
                DatasetName::OmniglotReduced,
                DatasetName::Omniglot,
                "OTHER IMAGES",
            ),
        ] {
            let lines = banner(name, wanted);
            assert!(
                lines.iter().all(|line| line.chars().count() == 78),
                "{lines:#?}"
            );
            assert!(lines[1].contains(part) && lines[1].contains(name.as_str()));
        }
    }
}
