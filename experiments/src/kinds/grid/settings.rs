//! The file of a grid.

use crate::error::HarnessError;
use crate::source::{Kind, Source};
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

/// `experiments/rates.toml`, or a file like it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// [`Kind::Grid`].
    pub kind: Kind,
    /// Begins the names of the folders.
    pub name: String,
    /// Heads the table.
    pub title: String,
    /// The experiment that is trained, with its profiles.
    pub table: String,
    /// The setting that differs.
    pub setting: String,
    /// Its values.
    pub values: Vec<Value>,
}

impl Settings {
    /// The grid that a file describes.
    ///
    /// # Errors
    /// A file that is not well-formed or makes no sense.
    pub fn parse(source: &Source) -> Result<Self, HarnessError> {
        let settings: Self = source.parse()?;
        let names: Vec<String> = settings.values.iter().map(folder_name).collect();
        let twice = names
            .iter()
            .enumerate()
            .any(|(i, name)| names[..i].contains(name));
        let problem = match settings.values.len() {
            0 | 1 => Some("`values` are two or more: one is the table itself"),
            _ if twice => Some("`values` differ from each other"),
            _ if settings.setting == "particles" => {
                Some("numbers of particles are compared by `--particles`")
            }
            _ => None,
        };
        source.check(problem)?;
        Ok(settings)
    }

    /// The file of the table with one of the values, which no profile and no method changes. Its runs have folders of its own.
    ///
    /// # Errors
    /// An unknown experiment; a file that is not well-formed, or no table.
    pub fn with(&self, value: &Value) -> Result<Source, HarnessError> {
        let source = Source::find(&self.table)?;
        let is_table = source.kind()? == Kind::Table;
        let problem = format!("`{}` is no table of nets and methods", self.table);
        source.check((!is_table).then_some(problem))?;
        let mut file: Table = source.parse()?;
        let profiles = file.get_mut("profile").and_then(Value::as_table_mut);
        let profiles = profiles
            .into_iter()
            .flat_map(|all| all.iter_mut().map(|(_, own)| own));
        profiles.for_each(|own| self.drop_from(own));
        let methods = file.get_mut("method").and_then(Value::as_array_mut);
        methods
            .into_iter()
            .flatten()
            .for_each(|own| self.drop_from(own));
        let settings = file.get_mut("settings").and_then(Value::as_table_mut);
        if let Some(settings) = settings {
            settings.insert(self.setting.clone(), value.clone());
        }
        let name = format!("{}-{}", self.name, folder_name(value));
        file.insert("name".into(), name.into());
        Ok(Source {
            file: format!("{} with {} = {value}", source.file, self.setting),
            text: toml::to_string(&file).expect("it was read from such a text"),
        })
    }

    fn drop_from(&self, part: &mut Value) {
        let settings = part.get_mut("settings").and_then(Value::as_table_mut);
        settings.map(|settings| settings.remove(&self.setting));
    }
}

/// A value as a part of a folder's name: `3e-4`, `with-replacement`.
fn folder_name(value: &Value) -> String {
    let text = match value {
        Value::Float(x) => format!("{x:e}"),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let allowed = |c: char| {
        if c.is_ascii_alphanumeric() {
            c.to_ascii_lowercase()
        } else {
            '-'
        }
    };
    text.chars().map(allowed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Registry;
    use crate::spec::{Selection, Spec};

    fn edited(from: &str, to: &str) -> Result<Settings, HarnessError> {
        let source = Source::find("rates").unwrap();
        assert!(source.text.contains(from), "{from}");
        let text = source.text.replacen(from, to, 1);
        Settings::parse(&Source { text, ..source })
    }

    #[test]
    fn every_cell_has_the_value_whatever_its_profile_and_method_say() {
        let settings = edited("table = \"table1\"", "table = \"helmholtz\"").unwrap();
        let source = settings.with(&Value::Float(0.125)).unwrap();
        assert!(
            source.file.contains("with learning_rate = 0.125"),
            "{}",
            source.file
        );
        let spec = Spec::parse(&source, &Registry::default()).unwrap();
        assert_eq!(spec.name, "rates-1-25e-1");
        for profile in spec.profile.keys() {
            let cells = spec
                .cells(profile, &Selection::default(), &spec.dataset)
                .unwrap();
            assert!(
                cells
                    .iter()
                    .all(|cell| cell.settings.learning_rate == 0.125),
                "{profile}"
            );
        }
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let bundled = Source::find("rates").unwrap();
        let values = bundled
            .text
            .lines()
            .find(|line| line.starts_with("values"))
            .unwrap();
        for (from, to, part) in [
            (values, "values = [1e-3]", "two or more"),
            (values, "values = [1e-3, 0.001]", "differ from each other"),
            ("\"learning_rate\"", "\"particles\"", "`--particles`"),
        ] {
            let error = edited(from, to).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
        let value = Value::Float(0.1);
        let of = |from: &str, to: &str| edited(from, to).unwrap().with(&value);
        let error = of("\"table1\"", "\"apg-gmm\"").unwrap_err().to_string();
        assert!(error.contains("`apg-gmm` is no table"), "{error}");
        let unknown = of("\"learning_rate\"", "\"rate\"").unwrap();
        let error = Spec::parse(&unknown, &Registry::default())
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("unknown field `rate`") && error.contains("rate = 0.1"),
            "{error}"
        );
    }
}
