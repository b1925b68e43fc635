//! The table as data.

use std::collections::BTreeMap;

use crate::error::HarnessError;
use crate::profiles::named;
use crate::published::{LogJoint, LogJoints};
use crate::source::{Kind, Source};
use serde::{Deserialize, Serialize};

/// `experiments/apg-table1.toml`, or a file like it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[allow(dead_code)] // read to choose this type
    kind: Kind,
    name: String,
    title: String,
    profile: BTreeMap<String, Vec<Member>>,
    /// The name of what is published, in `published.toml`.
    published: Option<String>,
}

/// One profile of the table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Settings {
    /// Names the folder.
    pub name: String,
    /// Heads the table.
    pub title: String,
    /// The columns.
    pub members: Vec<Member>,
    /// Published log joints.
    pub published: Vec<LogJoint>,
}

/// A run that is a column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Member {
    /// The experiment's name, or the path of its file.
    pub experiment: String,
    /// Its profile.
    pub profile: String,
    /// Gradient steps instead of the profile's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<u64>,
    /// The sampler whose rows are of this run, in the column of the last run before it that has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<String>,
}

impl Settings {
    /// A profile of a table's file.
    ///
    /// # Errors
    /// A file that is not well-formed, holds an unknown key or makes no sense; an unknown profile, with the choices.
    pub fn parse(source: &Source, profile: &str) -> Result<Self, HarnessError> {
        let file: File = source.parse()?;
        let members = named("profile", profile, &file.profile)?.clone();
        if members.is_empty() {
            return Err(source.reject("a profile needs the run of an experiment"));
        }
        let mut column = None;
        for member in &members {
            match &member.rows {
                None => column = Some(&member.experiment),
                Some(rows) if column != Some(&member.experiment) => {
                    let problem = format!(
                        "`rows = \"{rows}\"` of `{}` needs a run of that experiment before it, whose column they stand in",
                        member.experiment
                    );
                    return Err(source.reject(problem));
                }
                Some(_) => {}
            }
        }
        Ok(Self {
            name: file.name,
            title: file.title,
            members,
            published: match &file.published {
                Some(name) => LogJoints::load(name)?.entry,
                None => Vec::new(),
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_member_of_the_bundled_file_is_an_experiment() {
        let source = Source::find("apg-table1").unwrap();
        for profile in ["quick", "cpu", "cpu-trained", "paper"] {
            let settings = Settings::parse(&source, profile).unwrap();
            for member in &settings.members {
                let kind = Source::find(&member.experiment).unwrap().kind().unwrap();
                assert!(matches!(
                    kind,
                    Kind::ApgGmm | Kind::ApgDmm | Kind::ApgBmnist
                ));
            }
            let known = |published: &LogJoint| {
                let mut members = settings.members.iter();
                members.any(|member| member.experiment == published.experiment)
            };
            assert!(settings.published.iter().all(known));
        }
        let text = Settings::parse(&source, "quik").unwrap_err().to_string();
        assert!(text.contains("Did you mean `quick`?"), "{text}");
    }

    #[test]
    fn rows_of_a_run_need_a_column_to_stand_in() {
        let of = |members: &str| {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("table.toml");
            let text = format!(
                "kind = \"apg-table\"\nname = \"t\"\ntitle = \"T\"\n[profile]\nquick = [{members}]\n"
            );
            std::fs::write(&path, text).unwrap();
            Settings::parse(&Source::find(path.to_str().unwrap()).unwrap(), "quick")
        };
        let column = "{ experiment = \"apg-gmm\", profile = \"quick\" }";
        let rows = "{ experiment = \"apg-gmm\", profile = \"rws\", rows = \"RWS\" }";
        assert!(of(&format!("{column}, {rows}, {rows}")).is_ok());
        let other = "{ experiment = \"apg-dmm\", profile = \"quick\" }";
        for members in [rows.to_string(), format!("{column}, {other}, {rows}")] {
            let text = of(&members).unwrap_err().to_string();
            assert!(
                text.contains("needs a run of that experiment before it"),
                "{text}"
            );
        }
    }
}
