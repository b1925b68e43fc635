//! An experiment as data: the TOML file that says which nets, methods, profiles and settings there are.

mod cells;
mod check;
mod equal;
mod profile;
#[cfg(test)]
mod protocols;

pub use cells::Selection;
pub use profile::{Change, Profile};

use crate::cell::{Overrides, Settings};
use crate::error::HarnessError;
use crate::names::lookup;
use crate::published::Published;
use crate::source::{Kind, Source};
use helmholtz_estimators::Method as Estimator;
use serde::Deserialize;
use std::collections::BTreeMap;

/// An experiment.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// [`Kind::Table`].
    #[serde(default)]
    pub kind: Kind,
    /// Names the run folders.
    pub name: String,
    /// Heads the plan and the table.
    pub title: String,
    /// The data set, unless the profile or the user names another.
    pub dataset: String,
    /// The table of `published.toml` to compare with, on this data set.
    pub published: Option<String>,
    /// Such tables for other data sets.
    #[serde(default)]
    pub published_on: BTreeMap<String, String>,
    /// Whether the table shows the variational bound and the standard error over test images beside each NLL.
    #[serde(default)]
    pub bounds: bool,
    /// Whether ± is the standard error over seeds, in place of their sample sd.
    #[serde(default)]
    pub standard_error: bool,
    /// Evaluations of f an image and step that every cell makes, in all its stages: its number of particles follows from what
    /// its method declares ([`Estimator::evaluations`]).
    pub evaluations: Option<usize>,
    /// What every cell starts from.
    pub settings: Settings,
    /// The scales at which the experiment can be run.
    pub profile: BTreeMap<String, Profile>,
    /// The nets, in the table's order.
    pub net: Vec<Net>,
    /// The methods, in the table's order: those of the file, then the rest of the catalogue.
    #[serde(default)]
    pub method: Vec<Method>,
}

/// A net: what it is called. The runner knows its layers.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Net {
    /// What the user types, and the runner knows.
    pub name: String,
    /// What the table prints.
    pub label: String,
}

/// A method of the catalogue of estimators, and what an experiment changes of it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Method {
    /// What the user types: its name in the catalogue.
    pub name: String,
    /// What the table prints; the catalogue's label if absent.
    #[serde(default)]
    pub label: String,
    /// The nets on which it runs unless the user names both; all if there are none.
    #[serde(default)]
    pub nets: Vec<String>,
    /// What the method changes, after the profile.
    #[serde(default)]
    pub settings: Overrides,
}

impl Spec {
    /// The experiment called `request`, or the file of that path when it ends in `.toml`.
    ///
    /// # Errors
    /// An unknown name; a file that cannot be read; and as [`Spec::parse`].
    pub fn load(request: &str) -> Result<Self, HarnessError> {
        Self::parse(&Source::find(request)?)
    }

    /// The experiment that a file describes.
    ///
    /// # Errors
    /// A file that is not well-formed, holds an unknown key or makes no sense.
    pub fn parse(source: &Source) -> Result<Self, HarnessError> {
        let mut spec: Self = source.parse()?;
        spec.complete()?;
        match spec.problem() {
            Some(problem) => Err(HarnessError::Spec {
                file: source.file.clone(),
                problem,
            }),
            None => Ok(spec),
        }
    }

    /// Labels the methods, and adds those of the catalogue that the file says nothing of.
    fn complete(&mut self) -> Result<(), HarnessError> {
        for method in &mut self.method {
            let entry = lookup("method", &method.name, &Estimator::CATALOGUE, |e| e.name)?;
            if method.label.is_empty() {
                method.label = entry.label.into();
            }
        }
        for entry in Estimator::CATALOGUE {
            if self.method.iter().all(|method| method.name != entry.name) {
                self.method.push(Method {
                    name: entry.name.into(),
                    label: entry.label.into(),
                    nets: Vec::new(),
                    settings: Overrides::default(),
                });
            }
        }
        Ok(())
    }

    /// The published table to compare with on a data set, if there is one.
    ///
    /// # Errors
    /// A table that is not in `published.toml`.
    pub fn published_for(&self, dataset: &str) -> Result<Option<Published>, HarnessError> {
        let name = match &self.published {
            Some(name) if self.dataset == dataset => Some(name),
            _ => self.published_on.get(dataset),
        };
        name.map(|name| Published::load(name)).transpose()
    }

    /// The label of the net called `name`, or the name itself.
    pub fn net_label<'a>(&'a self, name: &'a str) -> &'a str {
        self.net
            .iter()
            .find(|n| n.name == name)
            .map_or(name, |n| &n.label)
    }

    /// The label of the method called `name`, or the name itself.
    pub fn method_label<'a>(&'a self, name: &'a str) -> &'a str {
        self.method
            .iter()
            .find(|m| m.name == name)
            .map_or(name, |m| &m.label)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn table1() -> Spec {
        Spec::load("table1").unwrap()
    }

    /// Table 1, edited, as a file of the user's.
    pub(super) fn mine(from: &str, to: &str) -> Source {
        let source = Source::find("table1").unwrap();
        Source {
            file: "my.toml".into(),
            text: source.text.replace(from, to),
        }
    }

    #[test]
    fn an_unknown_key_is_named_with_file_line_and_the_known_keys() {
        let source = mine("batch = 50", "batch_size = 50");
        let line = 1 + source
            .text
            .lines()
            .position(|l| l.starts_with("batch_size"))
            .unwrap();
        let error = Spec::parse(&source).unwrap_err().to_string();
        assert!(error.contains("my.toml"), "{error}");
        assert!(error.contains(&format!("line {line}")), "{error}");
        assert!(
            error.contains("unknown field `batch_size`") && error.contains("`batch`"),
            "{error}"
        );

        let source = mine("valid_images = 1000", "valid_image = 1000");
        let error = Spec::parse(&source).unwrap_err().to_string();
        assert!(
            error.contains("unknown field `valid_image`") && error.contains("`valid_images`"),
            "{error}"
        );
    }
}
