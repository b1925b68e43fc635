//! Data of a request: what was asked for, or the profile's substitute, or a refusal.

use crate::cell::Cell;
use crate::error::HarnessError;
use crate::registry::Registry;
use crate::spec::Profile;
use helmholtz_datasets::{DatasetName, Error, Event, FRACTIONS, Locator, OwnData, Splits, is_own};
use helmholtz_report::files::write_text;
use serde_json::{Value, json};
use std::convert::Infallible;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
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
    /// Returns the sizes of this data set.
    pub fn of(splits: &Splits) -> Self {
        let [train, valid, test] = [&splits.train, &splits.valid, &splits.test];
        let [train, valid, test] = [train, valid, test].map(|images| images.len() as u64);
        Self { train, valid, test }
    }
}

/// The data that a user asks for.
#[derive(Debug, Clone, PartialEq)]
pub enum Wanted {
    /// A data set that the program knows.
    Known(DatasetName),
    /// Files.
    Own(OwnData),
    /// Data that a program has added under this name.
    Added(String),
}

/// A known name, files by their endings, or a name that a program may have added.
impl FromStr for Wanted {
    type Err = Infallible;

    fn from_str(word: &str) -> Result<Self, Infallible> {
        Ok(match word.parse() {
            Ok(name) => Self::Known(name),
            // No name has these characters: what has no ending that is known is refused as a file.
            Err(_) if OwnData::is_files(word) || word.contains(['.', '/', ',']) => {
                Self::Own(OwnData::new(word.split(',').map(PathBuf::from).collect()))
            }
            Err(_) => Self::Added(word.into()),
        })
    }
}

impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Known(name) => name.fmt(f),
            Self::Own(own) => {
                let files: Vec<_> = own
                    .files
                    .iter()
                    .map(|file| file.to_string_lossy())
                    .collect();
                f.write_str(&files.join(","))
            }
            Self::Added(name) => f.write_str(name),
        }
    }
}

/// The file beside the runs on own data that tells where these came from.
const REMEMBERED: &str = "data.json";

impl Wanted {
    /// The same, divided in these shares and by this seed, where they are given.
    ///
    /// # Errors
    /// Shares or a seed for what is not one file.
    pub fn divided(self, shares: Option<&[f64]>, seed: Option<u64>) -> Result<Self, HarnessError> {
        let rejected = |problem: &str| Err(HarnessError::Unusable(problem.into()));
        match (self, shares) {
            (wanted, None) if seed.is_none() => Ok(wanted),
            (Self::Own(own), shares) if own.files.len() == 1 => {
                let fractions = match shares {
                    None => own.fractions,
                    Some(&[train, valid, test]) => Some([train, valid, test]),
                    Some(_) => {
                        return rejected(
                            "`--split` takes three shares, such as `--split 0.8,0.1,0.1`",
                        );
                    }
                };
                let seed = seed.or(own.seed);
                Ok(Self::Own(OwnData {
                    fractions,
                    seed,
                    ..own
                }))
            }
            _ => rejected(
                "`--split` and `--split-seed` divide one file: name it with `--dataset FILE`",
            ),
        }
    }

    /// The data of a run: those asked for, else those that it names, or that the file beside it does.
    ///
    /// # Errors
    /// Own data that nothing leads to any more.
    pub fn of_run(
        cell: &Cell,
        registry: &Registry,
        folder: &Path,
        asked: Option<Self>,
    ) -> Result<Self, HarnessError> {
        let name = &cell.dataset;
        let known = || name.parse().ok().map(Self::Known);
        let added = || Some(Self::Added(registry.added_data(name)?.into()));
        let found = asked
            .or_else(known)
            .or_else(added)
            .or_else(|| remembered(folder));
        found.ok_or_else(|| {
            HarnessError::Unusable(format!(
                "the run is on `{name}`, data of your own: name their file with `--dataset FILE`, divided as they were"
            ))
        })
    }

    /// Writes where the program finds these data again, for [`of_run`](Self::of_run): a file in the folder of the runs on them.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn remember(&self, folder: &Path) -> Result<(), HarnessError> {
        let Self::Own(own) = self else {
            return Ok(());
        };
        let files = own.files.iter().map(|file| file.canonicalize());
        let files = files.map(|path| path.map(|path| path.to_string_lossy().into_owned()));
        let files: Vec<String> = files.filter_map(Result::ok).collect();
        let told = json!({"files": files, "split": own.fractions, "split_seed": own.seed});
        let told = format!("{told:#}\n");
        let known = std::fs::read_to_string(folder.join(REMEMBERED));
        if known.ok().as_ref() != Some(&told) {
            write_text(folder, REMEMBERED, &told)?;
        }
        Ok(())
    }
}

/// Reads what [`Wanted::remember`] has left in a folder above that of a run.
fn remembered(folder: &Path) -> Option<Wanted> {
    let folder = folder.canonicalize().ok()?;
    let text = folder.ancestors().take(6).find_map(|above| {
        let text = std::fs::read_to_string(above.join(REMEMBERED));
        text.ok()
    })?;
    let told: Value = serde_json::from_str(&text).ok()?;
    let files: Vec<PathBuf> = serde_json::from_value(told["files"].clone()).ok()?;
    // Where nothing was asked, earlier programs told what they took: the same division, and none of a file with its own parts.
    let fractions: Option<[f64; 3]> = serde_json::from_value(told["split"].clone()).ok()?;
    Some(Wanted::Own(OwnData {
        files,
        fractions: fractions.filter(|fractions| *fractions != FRACTIONS),
        seed: told["split_seed"].as_u64().filter(|&seed| seed != 1),
    }))
}

/// Loads what is wanted.
///
/// # Errors
/// As [`helmholtz_datasets::load`] and [`OwnData::load`]; a name that nothing has.
pub fn load(
    wanted: &Wanted,
    registry: &Registry,
    locator: &Locator,
    progress: &mut dyn FnMut(Event),
) -> Result<Splits, Error> {
    match wanted {
        Wanted::Known(name) => {
            helmholtz_datasets::load(*name, locator, &mut |event| progress(event))
        }
        Wanted::Own(own) => own.load(&mut |event| progress(event)),
        Wanted::Added(name) => registry.data(name),
    }
}

/// The test images of a data set of this name, where the program finds them without a download.
pub(crate) fn is_findable(dataset: &str) -> bool {
    !is_own(dataset)
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
    requested: Option<&Wanted>,
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
    use helmholtz_datasets::load;

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
            requested.map(Wanted::Known).as_ref(),
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
    fn a_word_is_a_name_or_files_and_one_file_is_divided_as_asked() {
        let of = |word: &str| word.parse::<Wanted>().unwrap();
        assert_eq!(of("glyphs"), Wanted::Known(DatasetName::Glyphs));
        assert_eq!(of("spikes"), Wanted::Added("spikes".into()));
        assert_eq!(of("a.npy,b.npy,c.npy").to_string(), "a.npy,b.npy,c.npy");
        let Ok(Wanted::Own(own)) = of("x.npz").divided(Some(&[0.5, 0.25, 0.25]), Some(7)) else {
            panic!("own data")
        };
        assert_eq!(
            (own.fractions, own.seed),
            (Some([0.5, 0.25, 0.25]), Some(7))
        );
        for (word, shares) in [
            ("glyphs", &[0.5, 0.3, 0.2][..]),
            ("a.npy,b.npy,c.npy", &[0.5, 0.3, 0.2]),
            ("x.npz", &[0.5, 0.5]),
        ] {
            let error = of(word)
                .divided(Some(shares), None)
                .unwrap_err()
                .to_string();
            assert!(error.contains("--split"), "{error}");
        }
        let error = super::load(&of("mnist"), &Registry::default(), &nowhere(), &mut |_| {});
        let error = error.unwrap_err().to_string();
        assert!(
            error.contains("`mnist`") && error.contains("`glyphs`"),
            "{error}"
        );
    }

    #[test]
    fn own_data_are_found_again_from_a_run_on_them() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("x.npz");
        std::fs::write(&file, "").unwrap();
        let cell = Cell {
            dataset: "own-x-12345678".into(),
            ..crate::cell::tests::cell("linear", "jsa", 1)
        };
        let run = dir.path().join("runs/own-x-12345678/linear/jsa/seed-1");
        std::fs::create_dir_all(&run).unwrap();
        let error = Wanted::of_run(&cell, &Registry::default(), &run, None)
            .unwrap_err()
            .to_string();
        assert!(error.contains("--dataset FILE"), "{error}");
        let wanted: Wanted = file.to_string_lossy().parse().unwrap();
        let wanted = wanted.divided(Some(&[0.6, 0.2, 0.2]), Some(3)).unwrap();
        wanted
            .remember(&dir.path().join("runs/own-x-12345678"))
            .unwrap();
        let found = Wanted::of_run(&cell, &Registry::default(), &run, None).unwrap();
        let Wanted::Own(own) = &found else {
            panic!("own data")
        };
        assert_eq!(
            (own.files[0].clone(), own.seed),
            (file.canonicalize().unwrap(), Some(3))
        );
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
