//! Profiles of an experiment file: what each changes of the file's own keys.

use crate::error::HarnessError;
use crate::names::unknown;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use toml::{Table, Value};

/// Reads what the file of this name and content describes by a profile, and the profile's gradient steps: the keys of `profile.<name>` are laid over the
/// file's own, table by table. With `like = "other"` they are laid over those of another profile first.
///
/// # Errors
/// A file that holds an unknown key or lacks one; an unknown profile, with the choices; a profile without steps.
pub fn profile<T: DeserializeOwned>(
    name: &str,
    mut file: Table,
    profile: &str,
) -> Result<(T, u64), HarnessError> {
    let reject = |problem: String| HarnessError::Spec {
        file: name.into(),
        problem,
    };
    let Some(Value::Table(mut profiles)) = file.remove("profile") else {
        return Err(reject("a table `profile` is missing".into()));
    };
    let Some(own) = profiles.get(profile).cloned() else {
        return Err(unknown(
            "profile",
            profile,
            profiles.into_iter().map(|(name, _)| name),
        ));
    };
    let Value::Table(mut own) = own else {
        return Err(reject(format!("`profile.{profile}` must be a table")));
    };
    if let Some(of) = own.remove("like") {
        let of = of.as_str().and_then(|of| profiles.remove(of));
        let Some(Value::Table(mut whole)) = of.filter(|of| of.get("like").is_none()) else {
            return Err(reject(format!(
                "`profile.{profile}` is like what is no profile, or like another itself"
            )));
        };
        overlay(&mut whole, own);
        own = whole;
    }
    let steps = own.remove("steps").and_then(|steps| steps.as_integer());
    let steps = steps.ok_or_else(|| {
        reject(format!(
            "`profile.{profile}` needs `steps`, a number of gradient steps"
        ))
    })?;
    overlay(&mut file, own);
    let described = T::deserialize(Value::Table(file));
    let described = described.map_err(|error| reject(format!("by profile {profile}: {error}")))?;
    Ok((described, steps.unsigned_abs()))
}

/// The entry of a file's table called `name`.
///
/// # Errors
/// [`HarnessError::Unknown`], with the choices.
pub fn named<'a, T>(
    what: &'static str,
    name: &str,
    all: &'a BTreeMap<String, T>,
) -> Result<&'a T, HarnessError> {
    let found = all.get(name);
    found.ok_or_else(|| unknown(what, name, all.keys().cloned()))
}

fn overlay(table: &mut Table, other: Table) {
    for (key, value) in other {
        match (table.get_mut(&key), value) {
            (Some(Value::Table(own)), Value::Table(value)) => overlay(own, value),
            (_, value) => {
                table.insert(key, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Model {
        width: usize,
        depth: usize,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct File {
        model: Model,
        sizes: Vec<usize>,
    }

    fn parse(text: &str, name: &str) -> Result<(File, u64), HarnessError> {
        profile("my.toml", text.parse().unwrap(), name)
    }

    const TEXT: &str = "sizes = [1, 2]\n[model]\nwidth = 3\ndepth = 4\n[profile.quick]\nsteps = 5\n\
                        [profile.wide]\nsteps = 6\nsizes = [7]\nmodel = { width = 8 }\n\
                        [profile.deep]\nlike = \"wide\"\nmodel = { depth = 9 }\n";

    #[test]
    fn a_profile_changes_the_keys_that_it_names() {
        let file = |width, sizes: &[usize]| File {
            model: Model { width, depth: 4 },
            sizes: sizes.to_vec(),
        };
        assert_eq!(parse(TEXT, "quick").unwrap(), (file(3, &[1, 2]), 5));
        assert_eq!(parse(TEXT, "wide").unwrap(), (file(8, &[7]), 6));
        let mut deep = file(8, &[7]);
        deep.model.depth = 9;
        assert_eq!(parse(TEXT, "deep").unwrap(), (deep, 6));
    }

    #[test]
    fn what_makes_no_sense_says_where() {
        for (from, to, name, part) in [
            ("", "", "quik", "Did you mean `quick`?"),
            ("steps = 5\n", "", "quick", "`profile.quick` needs `steps`"),
            ("width = 8", "widht = 8", "wide", "widht"),
            ("\"wide\"", "\"wode\"", "deep", "`profile.deep` is like"),
            ("\"wide\"", "\"deep\"", "deep", "`profile.deep` is like"),
            ("profile", "profiles", "quick", "`profile` is missing"),
        ] {
            let text = parse(&TEXT.replace(from, to), name)
                .unwrap_err()
                .to_string();
            assert!(text.contains(part), "{from} -> {to}: {text}");
        }
    }
}
