//! An experiment file, those that come with the program, and the kinds of experiment that they may describe.

use crate::error::HarnessError;
use crate::names::lookup;
use crate::ranges;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::path::Path;
use toml::{Table, Value};

/// Files of experiments by their names: name, path and content.
macro_rules! bundled {
    ($($name:literal),* $(,)?) => {
        &[$((
            $name,
            concat!("experiments/", $name, ".toml"),
            include_str!(concat!("../", $name, ".toml")),
        )),*]
    };
}

/// The experiments that come with the program.
pub(crate) const BUNDLED: &[(&str, &str, &str)] = bundled![
    "table1",
    "table2",
    "table3",
    "helmholtz",
    "showdown",
    "arm-toy",
    "arm-table2",
    "arm-table3",
    "arm-fig2",
    "disarm",
    "rodeo",
    "rodeo-3",
    "categorical",
    "counts",
    "apg-gmm",
    "apg-dmm",
    "apg-bmnist",
    "apg-kl",
    "apg-table1",
    "estimators",
    "fig1",
    "fig2",
    "fig3",
    "fig4",
    "fig-disarm",
    "fig-poster",
    "fig-rodeo",
    "fig-table3",
    "table1-samples",
    "rates",
];

/// Kind of experiment that a file describes: its key `kind`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Nets trained by methods, and a table of their NLL ([`Spec`](crate::spec::Spec)); files without the key.
    #[default]
    Table,
    /// The toy experiment of ARM ([`Settings`](crate::kinds::arm_toy::Settings)).
    ArmToy,
    /// Amortized population Gibbs on Gaussian mixtures ([`Settings`](crate::kinds::apg_gmm::Settings)).
    ApgGmm,
    /// Amortized population Gibbs on deep mixtures ([`Settings`](crate::kinds::apg_dmm::Settings)).
    ApgDmm,
    /// Amortized population Gibbs on bouncing digits ([`Settings`](crate::kinds::apg_bmnist::Settings)).
    ApgBmnist,
    /// The mixtures' proposals during training, by sweeps and particles.
    ApgKl,
    /// Table of what amortized population Gibbs reaches on several models.
    ApgTable,
    /// The runs of a table, drawn.
    Curves,
    /// The variance of gradients during training.
    VarianceCurve,
    /// A table at several values of a setting.
    Grid,
    /// The finished runs of a table, evaluated with several numbers of samples.
    Evaluations,
}

/// The text of an experiment file.
#[derive(Debug, Clone, PartialEq)]
pub struct Source {
    /// Name of the file in errors.
    pub file: String,
    /// Content of the file.
    pub text: String,
}

impl Source {
    /// The names of the experiments that come with the program.
    pub fn bundled() -> impl Iterator<Item = &'static str> {
        BUNDLED.iter().map(|(name, ..)| *name)
    }

    /// Key by which runs are shown, given their place: experiments in the order of [`bundled`](Self::bundled), headline first, the
    /// published protocol before other profiles, then by place.
    pub fn shown_at(place: &str) -> (usize, u8, &str) {
        let mut parts = place.split('/');
        let (experiment, profile) = (parts.next(), parts.next().unwrap_or_default());
        let rank = Self::bundled().position(|name| Some(name) == experiment);
        let shorter = match profile {
            "paper" => 0,
            _ if profile.starts_with("paper-") => 1,
            _ => 2,
        };
        (rank.unwrap_or(usize::MAX), shorter, place)
    }

    /// The experiment called `request`, or the file of that path when it ends in `.toml`.
    ///
    /// # Errors
    /// An unknown name; a file that cannot be read.
    pub fn find(request: &str) -> Result<Self, HarnessError> {
        if request.ends_with(".toml") {
            let path = Path::new(request);
            let text = std::fs::read_to_string(path).map_err(|source| HarnessError::Io {
                action: "read",
                path: path.to_path_buf(),
                source,
            })?;
            return Ok(Self {
                file: request.to_string(),
                text,
            });
        }
        let (_, file, text) = lookup("experiment", request, BUNDLED, |(name, ..)| name)?;
        Ok(Self {
            file: file.to_string(),
            text: text.to_string(),
        })
    }

    /// The kind of experiment.
    ///
    /// # Errors
    /// A file that is not well-formed, or names an unknown kind.
    pub fn kind(&self) -> Result<Kind, HarnessError> {
        #[derive(Deserialize)]
        struct Header {
            #[serde(default)]
            kind: Kind,
        }
        Ok(self.parse::<Header>()?.kind)
    }

    /// Refuses what makes no sense.
    ///
    /// # Errors
    /// [`HarnessError::Spec`] with the problem, if there is one.
    pub fn check(&self, problem: Option<impl Into<String>>) -> Result<(), HarnessError> {
        match problem {
            Some(problem) => Err(self.reject(problem)),
            None => Ok(()),
        }
    }

    /// The error of a file that makes no sense.
    pub(crate) fn reject(&self, problem: impl Into<String>) -> HarnessError {
        HarnessError::Spec {
            file: self.file.clone(),
            problem: problem.into(),
        }
    }

    /// The content as a `T`.
    ///
    /// # Errors
    /// A file that is not well-formed, or no `T`; a number out of its range, or a name that cannot be a folder's.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, HarnessError> {
        let malformed = |source| HarnessError::Toml {
            file: self.file.clone(),
            source: Box::new(source),
        };
        let table = self.text.parse::<Table>().map_err(malformed)?;
        self.check(bad_name(&table).or_else(|| ranges::problem(&table)))?;
        toml::from_str(&self.text).map_err(malformed)
    }
}

/// The first name of a file, of its profiles and of its nets that cannot be a folder's, in words.
fn bad_name(file: &Table) -> Option<String> {
    let named = |table: &'_ Table| table.get("name").and_then(Value::as_str).map(String::from);
    let nets = file.get("net").and_then(Value::as_array);
    let nets = nets.into_iter().flatten().filter_map(Value::as_table);
    let profiles = file.get("profile").and_then(Value::as_table);
    let profiles = profiles.into_iter().flat_map(|all| all.keys().cloned());
    let mut names = named(file)
        .into_iter()
        .chain(nets.filter_map(named))
        .chain(profiles);
    let name = names.find(|name| !is_folder_name(name))?;
    Some(format!(
        "`{name}` names a folder: use lower-case letters, digits and hyphens"
    ))
}

/// Whether a name of an experiment file can be that of a folder anywhere.
pub(crate) fn is_folder_name(name: &str) -> bool {
    !name.is_empty()
        && name
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bundled_file_has_a_kind_and_bears_its_name() {
        for (name, file, _) in BUNDLED {
            let source = Source::find(name).unwrap();
            assert!(source.kind().is_ok());
            assert!(source.text.contains(&format!("name = \"{name}\"")));
            assert_eq!(*file, format!("experiments/{name}.toml"));
        }
        assert_eq!(Source::find("table1").unwrap().kind().unwrap(), Kind::Table);
        assert_eq!(
            Source::find("arm-toy").unwrap().kind().unwrap(),
            Kind::ArmToy
        );
    }

    #[test]
    fn names_of_files_profiles_and_nets_are_those_of_folders() {
        for (text, name) in [
            ("name = \"KL\"", "KL"),
            ("name = \"x\"\n[profile.\"../quick\"]", "../quick"),
            ("[profile]\n\"../paper\" = []", "../paper"),
            ("[[net]]\nname = \"a/b\"", "a/b"),
        ] {
            let source = Source {
                file: "my.toml".into(),
                text: text.into(),
            };
            let error = source.parse::<Table>().unwrap_err().to_string();
            assert!(
                error.contains(&format!("my.toml: `{name}` names a folder")),
                "{error}"
            );
        }
    }

    /// A number that TOML does not have hides nothing else: it is refused itself.
    #[test]
    fn a_number_beyond_those_of_toml_is_refused_with_its_line() {
        let source = Source {
            file: "my.toml".into(),
            text: "name = \"../escaped\"\nseeds = [18446744073709551615]".into(),
        };
        let text = source.parse::<Table>().unwrap_err().to_string();
        assert!(
            text.contains("my.toml is not a valid") && text.contains("line 2"),
            "{text}"
        );
    }

    #[test]
    fn an_unknown_kind_or_name_is_answered_with_the_choices() {
        let source = Source {
            file: "my.toml".into(),
            text: "name = \"x\"\nkind = \"arm\"".into(),
        };
        let text = source.kind().unwrap_err().to_string();
        assert!(
            text.contains("my.toml") && text.contains("line 2"),
            "{text}"
        );
        assert!(
            text.contains("`table`") && text.contains("`arm-toy`"),
            "{text}"
        );
        let text = Source::find("arm").unwrap_err().to_string();
        assert!(
            text.contains("Did you mean `arm-toy`?") && text.contains("table1"),
            "{text}"
        );
    }
}
