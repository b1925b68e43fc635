//! An experiment as data: the TOML file that says which nets, methods, profiles and settings there are.

mod cells;
mod check;
mod equal;
mod profile;
#[cfg(test)]
mod protocols;

pub use cells::Selection;
pub use profile::Profile;

use crate::cell::{Overrides, OwnNet, Settings};
use crate::cell_runner::Score;
use crate::error::HarnessError;
use crate::published::Published;
use crate::registry::Registry;
use crate::source::{Kind, Source};
use helmholtz_estimators::Declaration;
use serde::Deserialize;
use std::collections::BTreeMap;

/// An experiment.
#[derive(Debug, Clone, Deserialize)]
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
    /// Quantity of each run that the table shows, and holds against the published ones.
    #[serde(default)]
    pub shown: Score,
    /// Whether ± is the standard error over seeds, in place of their sample sd.
    #[serde(default)]
    pub standard_error: bool,
    /// Evaluations of f an image and step that every cell makes, in all its stages: its number of particles follows from what
    /// its method declares ([`Declaration::evaluations`]).
    pub evaluations: Option<usize>,
    /// Settings that every cell starts from.
    pub settings: Settings,
    /// The scales at which the experiment can be run.
    pub profile: BTreeMap<String, Profile>,
    /// The nets, in the table's order.
    pub net: Vec<Net>,
    /// The methods, in the table's order: those of the file, then the rest of the catalogue.
    #[serde(default)]
    pub method: Vec<Method>,
    /// Registry that gives the names their meaning.
    #[serde(skip)]
    pub registry: Registry,
}

/// A net: what it is called, and what it is where it has no name of its own.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "NetEntry")]
pub struct Net {
    /// Name that the user types.
    pub name: String,
    /// Label that the table prints; the name if absent.
    pub label: String,
    /// The net; absent: the one of this name that the program knows.
    pub own: Option<OwnNet>,
}

/// [`Net`] as a file has it: without `family`, nothing but `name` and `label`.
#[derive(Deserialize)]
struct NetEntry {
    name: String,
    label: Option<String>,
    family: Option<String>,
    #[serde(flatten)]
    sizes: serde_json::Map<String, serde_json::Value>,
}

impl TryFrom<NetEntry> for Net {
    type Error = String;

    fn try_from(entry: NetEntry) -> Result<Self, String> {
        if let (None, Some((key, _))) = (&entry.family, entry.sizes.iter().next()) {
            return Err(format!(
                "unknown field `{key}`, expected `name` or `label`, or `family` beside the sizes of a net of your own"
            ));
        }
        let label = entry.label.unwrap_or_else(|| entry.name.clone());
        let own = entry.family.map(|family| OwnNet {
            family,
            sizes: entry.sizes,
        });
        Ok(Self {
            name: entry.name,
            label,
            own,
        })
    }
}

/// A method of the catalogue of estimators, and what an experiment changes of it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Method {
    /// Name that the user types: its name in the catalogue.
    pub name: String,
    /// Label that the table prints; the catalogue's label if absent.
    #[serde(default)]
    pub label: String,
    /// The nets on which it runs unless the user names both; all if there are none.
    #[serde(default)]
    pub nets: Vec<String>,
    /// Settings that the method changes, after the profile.
    #[serde(default)]
    pub settings: Overrides,
}

impl Spec {
    /// The tables that come with the program.
    pub(crate) fn bundled(registry: &Registry) -> Vec<Self> {
        let load = |name| {
            let source = Source::find(name).ok()?;
            (source.kind().ok()? == Kind::Table).then(|| Self::parse(&source, registry).ok())?
        };
        Source::bundled().filter_map(load).collect()
    }

    /// The experiment called `request`, or the file of that path when it ends in `.toml`.
    ///
    /// # Errors
    /// An unknown name; a file that cannot be read; and as [`Spec::parse`].
    pub fn load(request: &str) -> Result<Self, HarnessError> {
        Self::parse(&Source::find(request)?, &Registry::default())
    }

    /// The experiment that a file describes.
    ///
    /// # Errors
    /// A file that is not well-formed, holds an unknown key or makes no sense.
    pub fn parse(source: &Source, registry: &Registry) -> Result<Self, HarnessError> {
        let mut spec: Self = source.parse()?;
        spec.registry = registry.clone();
        spec.complete()?;
        match spec.problem() {
            Some(problem) => Err(source.reject(problem)),
            None => Ok(spec),
        }
    }

    /// Labels the methods, and adds those of the registry, and the nets that a program has added, that the file says nothing of.
    fn complete(&mut self) -> Result<(), HarnessError> {
        for method in &mut self.method {
            let entry = self.registry.method(&method.name)?;
            if method.label.is_empty() {
                method.label = entry.label.into();
            }
        }
        for entry in self.registry.methods() {
            if self.method.iter().all(|method| method.name != entry.name) {
                self.method.push(Method {
                    name: entry.name.into(),
                    label: entry.label.into(),
                    nets: Vec::new(),
                    settings: Overrides::default(),
                });
            }
        }
        for (name, own) in self.registry.added_nets() {
            if self.net.iter().all(|net| net.name != name) {
                self.net.push(Net {
                    name: name.into(),
                    label: name.into(),
                    own: Some(own),
                });
            }
        }
        let mut profiles = std::mem::take(&mut self.profile);
        for profile in profiles.values_mut() {
            self.name_all(profile);
        }
        self.profile = profiles;
        Ok(())
    }

    /// Puts every estimator that is defined for a profile's nets where its methods begin with `all`, but for those that follow with a
    /// minus. What is not known stays in the list.
    fn name_all(&self, profile: &mut Profile) {
        let mut listed = profile.methods.iter();
        if listed.next().is_none_or(|first| first != "all") {
            return;
        }
        let nets = self
            .net
            .iter()
            .filter(|net| profile.nets.contains(&net.name));
        let nets = nets.filter_map(|net| self.registry.net(&net.name, net.own.as_ref()).ok());
        let nets: Vec<_> = nets.collect();
        let (mut out, mut rest) = (Vec::new(), Vec::new());
        for name in listed {
            let without = name.strip_prefix('-').unwrap_or_default();
            match self.registry.method(without) {
                Ok(entry) => out.push(entry.name),
                Err(_) => rest.push(name.clone()),
            }
        }
        let defined = self.registry.methods().iter().filter(|entry| {
            let domain = entry.method.domain();
            nets.iter().all(|net| domain.takes(net.latents())) && !out.contains(&entry.name)
        });
        let all: Vec<String> = defined.map(|entry| entry.name.into()).collect();
        profile.methods = [all, rest].concat();
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
    fn all_are_the_estimators_that_are_defined_for_the_nets_but_for_those_with_a_minus() {
        let named = |name: &str, own: &str, methods: &str| {
            let source = Source::find(name).unwrap();
            let text = source.text.replace(own, methods);
            let source = Source { text, ..source };
            let spec = Spec::parse(&source, &Registry::default()).unwrap();
            spec.profile["quick"].methods.clone()
        };
        let of_bits = |methods: &str| named("table1", "[\"jsa\", \"rws\", \"rloo\"]", methods);
        let bits = of_bits("[\"all\"]");
        assert!(
            ["rloo", "arm"]
                .iter()
                .all(|name| bits.contains(&name.to_string()))
        );
        assert!(!bits.contains(&"finite-2".to_string()));
        let own = "[\"straight-through\", \"finite-2\", \"finite-3\", \"rloo\"]";
        let counts = named("counts", own, "[\"all\"]");
        assert!(counts.contains(&"finite-2".to_string()) && !counts.contains(&"arm".to_string()));
        let fewer = of_bits("[\"all\", \"-arm\", \"-rloo\"]");
        let left_out = bits.iter().filter(|name| !fewer.contains(name));
        assert_eq!(Vec::from_iter(left_out), ["rloo", "arm"]);
    }

    #[test]
    fn a_net_of_ones_own_is_a_few_lines_of_the_file() {
        let from = "name = \"linear\"";
        let own =
            "name = \"3x100\"\nfamily = \"sbn\"\nlatent = [100, 100, 100]\nlearned_prior = true";
        let source = mine(from, own);
        let source = Source {
            text: source.text.replace("\"linear\"", "\"3x100\""),
            ..source
        };
        let spec = Spec::parse(&source, &Registry::default()).unwrap();
        let wanted = Selection {
            nets: vec!["3x100".into()],
            ..Selection::default()
        };
        let cell = spec.cells("quick", &wanted, "x").unwrap().remove(0);
        let net = Registry::default().trial(&cell).unwrap().net;
        let config = net.config::<helmholtz_sbn::SbnConfig>().unwrap();
        assert_eq!(
            (&config.latent[..], config.learned_prior),
            (&[100; 3][..], true)
        );
        // The configuration of its runs says what the net is.
        let json = serde_json::to_value(&cell).unwrap();
        let sizes =
            serde_json::json!({"family": "sbn", "latent": [100, 100, 100], "learned_prior": true});
        assert_eq!(json["own_net"], sizes);
        assert_eq!(
            serde_json::from_value::<crate::cell::Cell>(json).unwrap(),
            cell
        );
        for (to, part) in [
            (
                "name = \"mine\"\nfamily = \"sbn\"\nlatent = [0]",
                "`latent` has a layer of 0 units",
            ),
            ("name = \"mine\"\nlatent = [9]", "`family` beside the sizes"),
            ("name = \"two-layers\"\nfamily = \"sbn\"", "there twice"),
            (
                "name = \"categorical\"\nfamily = \"sbn\"",
                "give yours another name",
            ),
            (
                "name = \"mine\"\nfamily = \"sbn\"\nlatent = [1000000]",
                "8192 at most",
            ),
        ] {
            let error = Spec::parse(&mine(from, to), &Registry::default()).unwrap_err();
            assert!(error.to_string().contains(part), "{error}");
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
        let error = Spec::parse(&source, &Registry::default())
            .unwrap_err()
            .to_string();
        assert!(error.contains("my.toml"), "{error}");
        assert!(error.contains(&format!("line {line}")), "{error}");
        assert!(
            error.contains("unknown field `batch_size`") && error.contains("`batch`"),
            "{error}"
        );

        let source = mine("valid_images = 1000", "valid_image = 1000");
        let error = Spec::parse(&source, &Registry::default())
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("unknown field `valid_image`") && error.contains("`valid_images`"),
            "{error}"
        );
    }
}
