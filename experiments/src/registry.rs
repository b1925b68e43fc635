//! Registry of what the program knows by name: estimators and nets, those that come with it and those that a program adds.

use crate::cell::OwnNet;
use crate::error::HarnessError;
use crate::names::lookup;
use crate::nets::{self, Net, NetConfig};
use helmholtz_datasets::{DatasetName, Error, Splits};
use helmholtz_estimators::{Entry, Method};
use std::fmt::{self, Debug, Formatter};
use std::sync::{Arc, LazyLock};

/// Estimators and nets by name. A copy is the same registry.
#[derive(Clone)]
pub struct Registry(Arc<Known>);

#[derive(Clone)]
struct Known {
    /// Estimators, in the order of tables: those that come with the program, then those that a program adds.
    methods: Vec<Entry>,
    nets: Vec<(String, Net)>,
    /// Number of nets that come with the program.
    built_in: usize,
    families: Vec<nets::AnyFamily>,
    data: Vec<(String, Loader)>,
}

/// The family of the nets that a program adds, in configurations.
const ADDED: &str = "added";

/// Loads a data set.
pub(crate) type Loader = Arc<dyn Fn() -> Result<Splits, Error> + Send + Sync>;

static BUILT_IN: LazyLock<Registry> = LazyLock::new(|| {
    let families = nets::families();
    let named = families.iter().flat_map(|family| (family.named)());
    let nets: Vec<_> = named.map(|(name, net)| (name.into(), net)).collect();
    Registry(Arc::new(Known {
        methods: Method::CATALOGUE.to_vec(),
        built_in: nets.len(),
        nets,
        families,
        data: Vec::new(),
    }))
});

/// Names that come with the program.
impl Default for Registry {
    fn default() -> Self {
        BUILT_IN.clone()
    }
}

impl Debug for Registry {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.method_names())
            .entries(self.net_names())
            .finish()
    }
}

impl Registry {
    /// The estimators, in the order of tables.
    pub fn methods(&self) -> &[Entry] {
        &self.0.methods
    }

    /// The names of all estimators.
    pub(crate) fn method_names(&self) -> impl Iterator<Item = &'static str> {
        self.methods().iter().map(|entry| entry.name)
    }

    /// The estimators that a program has added.
    #[cfg(feature = "cpu")]
    pub(crate) fn added_methods(&self) -> &[Entry] {
        &self.methods()[Method::CATALOGUE.len()..]
    }

    /// The estimator called `name`.
    ///
    /// # Errors
    /// [`HarnessError::Unknown`].
    pub fn method(&self, name: &str) -> Result<Entry, HarnessError> {
        lookup("method", name, self.methods(), |entry| entry.name).copied()
    }

    /// The names of all nets.
    pub fn net_names(&self) -> impl Iterator<Item = &str> {
        self.0.nets.iter().map(|(name, _)| name.as_str())
    }

    /// The net called `name`, or the one that a file describes under that name.
    ///
    /// # Errors
    /// [`HarnessError::Unknown`], of a name or a family; sizes that no net of the family has.
    pub(crate) fn net(&self, name: &str, own: Option<&OwnNet>) -> Result<Net, HarnessError> {
        let Some(own) = own.filter(|own| own.family != ADDED) else {
            let (_, net) = lookup("net", name, &self.0.nets, |(name, _)| name)?;
            return Ok(net.clone());
        };
        let family = lookup("family", &own.family, &self.0.families, |family| {
            family.name
        })?;
        (family.describe)(&own.sizes).map_err(|problem| HarnessError::Spec {
            file: format!("net {name}, family {}", own.family),
            problem,
        })
    }

    /// The names of the nets that a program has added, with what configurations record of them.
    pub(crate) fn added_nets(&self) -> impl Iterator<Item = (&str, OwnNet)> {
        self.0.nets[self.0.built_in..].iter().map(|(name, net)| {
            let sizes = [("net".to_owned(), format!("{net:?}").into())];
            let own = OwnNet {
                family: ADDED.into(),
                sizes: sizes.into_iter().collect(),
            };
            (name.as_str(), own)
        })
    }

    /// The families whose nets an option of the settings changes, in words.
    pub(crate) fn families_with(&self, option: &str) -> String {
        let families = self.0.families.iter();
        let names = families.filter(|family| family.options.contains(&option));
        let names: Vec<String> = names.map(|family| format!("`{}`", family.name)).collect();
        names.join(" and ")
    }

    /// The data that a program has added under a name, named with their fingerprint.
    ///
    /// # Errors
    /// [`Error::UnknownDataset`]; what loading them reports.
    pub(crate) fn data(&self, name: &str) -> Result<Splits, Error> {
        let found = self.0.data.iter().find(|(known, _)| known == name);
        let Some((name, load)) = found else {
            let known = DatasetName::ALL.iter().map(|known| known.as_str());
            let choices = known.chain(self.data_names());
            let choices: Vec<_> = choices.map(|name| format!("`{name}`")).collect();
            return Err(Error::UnknownDataset {
                found: name.to_owned(),
                choices: choices.join(", "),
            });
        };
        Ok(load()?.own(name))
    }

    /// The name under which a program has added data, from that of the data themselves.
    pub(crate) fn added_data(&self, full: &str) -> Option<&str> {
        self.data_names()
            .find(|name| full.starts_with(&format!("own-{name}-")))
    }

    /// The names of the data that a program has added.
    pub(crate) fn data_names(&self) -> impl Iterator<Item = &str> {
        self.0.data.iter().map(|(name, _)| name.as_str())
    }

    /// The same with one more data set.
    ///
    /// # Errors
    /// As [`with_method`](Self::with_method).
    pub(crate) fn with_data(mut self, name: &str, load: Loader) -> Result<Self, HarnessError> {
        let known = DatasetName::ALL.iter().map(|known| known.as_str());
        free("data set", name, known.chain(self.data_names()))?;
        let data = &mut Arc::make_mut(&mut self.0).data;
        data.push((name.into(), load));
        Ok(self)
    }

    /// The same with one more estimator.
    ///
    /// # Errors
    /// A name that there is already, or that names no folder.
    pub(crate) fn with_method(mut self, method: Method) -> Result<Self, HarnessError> {
        let entry = Entry::from(method);
        free("method", entry.name, self.method_names())?;
        Arc::make_mut(&mut self.0).methods.push(entry);
        Ok(self)
    }

    /// The same with one more net.
    ///
    /// # Errors
    /// As [`with_method`](Self::with_method).
    pub(crate) fn with_net(
        mut self,
        name: &str,
        net: impl NetConfig,
    ) -> Result<Self, HarnessError> {
        free("net", name, self.net_names())?;
        let nets = &mut Arc::make_mut(&mut self.0).nets;
        nets.push((name.into(), Net::new(net)));
        Ok(self)
    }
}

/// Checks that a name can name a folder, and names nothing else yet.
fn free<'a>(
    what: &'static str,
    name: &str,
    mut known: impl Iterator<Item = &'a str>,
) -> Result<(), HarnessError> {
    let problem = if !crate::source::is_folder_name(name) {
        "names a folder: use lower-case letters, digits and hyphens"
    } else if known.any(|known| known == name) {
        "is there already: choose another name"
    } else {
        return Ok(());
    };
    Err(HarnessError::Unusable(format!(
        "the {what} `{name}` {problem}"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_a_net_and_others_are_answered_with_the_nearest() {
        let registry = Registry::default();
        let names: Vec<&str> = registry.net_names().collect();
        assert_eq!(names.len(), 18);
        for name in names {
            assert!(registry.net(name, None).is_ok(), "{name}");
        }
        let error = registry.net("structure", None).unwrap_err().to_string();
        assert!(
            error.contains("Did you mean `structured`?") && error.contains("two-layers"),
            "{error}"
        );
    }

    #[test]
    fn a_name_is_given_once_and_names_a_folder() {
        let jsa = Registry::default().method("jsa").unwrap().method;
        let error = Registry::default()
            .with_method(jsa)
            .unwrap_err()
            .to_string();
        assert!(error.contains("`jsa` is there already"), "{error}");
        let net = helmholtz_sbn::SbnConfig::named("linear").unwrap();
        let add = |name| Registry::default().with_net(name, net.clone());
        let error = add("../up").unwrap_err().to_string();
        assert!(error.contains("`../up` names a folder"), "{error}");
        let more = add("mine").unwrap();
        assert!(more.net("mine", None).is_ok());
    }
}
