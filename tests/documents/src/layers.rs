//! The layers of `ARCHITECTURE.md`, and the crates that know one above them.

use std::collections::BTreeMap;
use std::path::Path;
use std::{fs, io};

use toml::{Table, Value};

/// Each folder of a crate that the table of rooms names, with its line there.
fn lines(architecture: &str) -> Vec<(String, usize)> {
    let rooms = architecture
        .split("\n## ")
        .find(|part| part.starts_with("Rooms"));
    let table = rooms
        .unwrap_or_default()
        .lines()
        .filter(|line| line.starts_with('|'));
    let of_line = |(line, text): (usize, &str)| {
        let cell = text.split('|').nth(2).unwrap_or_default().to_owned();
        let names = cell.split('`').skip(1).step_by(2).map(str::to_owned);
        names.map(|name| (name, line)).collect::<Vec<_>>()
    };
    table.enumerate().flat_map(of_line).collect()
}

/// The line of a crate's folder: its own name's before that of all crates of a folder, `crates/models/*`.
fn line_of(folder: &str, lines: &[(String, usize)]) -> Option<usize> {
    let own = lines.iter().find(|(name, _)| name == folder);
    let all = || {
        let inside = |name: &str| {
            let above = name.strip_suffix("/*");
            above.is_some_and(|above| Path::new(folder).parent() == Some(Path::new(above)))
        };
        lines.iter().find(|(name, _)| inside(name))
    };
    own.or_else(all).map(|(_, line)| *line)
}

/// The crates that a manifest needs always: neither for tests alone, nor for a feature.
fn needs(manifest: &Table) -> Vec<&str> {
    let own = manifest.get("dependencies").and_then(Value::as_table);
    let always = |need: &Value| need.get("optional").and_then(Value::as_bool) != Some(true);
    let own = own.into_iter().flatten();
    own.filter(|(_, need)| always(need))
        .map(|(name, _)| name.as_str())
        .collect()
}

/// What is wrong with the arrows: a line each.
///
/// # Errors
/// A file that cannot be read.
pub fn problems(root: &Path) -> io::Result<Vec<String>> {
    let lines = lines(&fs::read_to_string(root.join("ARCHITECTURE.md"))?);
    let (mut folders, mut manifests) = (BTreeMap::new(), Vec::new());
    for path in crate::tree::files(root, "toml")? {
        let folder = path
            .parent()
            .and_then(|folder| folder.strip_prefix(root).ok());
        let folder = folder.map(|folder| folder.to_string_lossy().replace('\\', "/"));
        let is_manifest = path.file_name().is_some_and(|name| name == "Cargo.toml");
        let Some(folder) = folder.filter(|folder| is_manifest && folder.starts_with("crates/"))
        else {
            continue;
        };
        let manifest: Table = fs::read_to_string(&path)?
            .parse()
            .map_err(io::Error::other)?;
        let name = manifest["package"]["name"].as_str().unwrap_or_default();
        folders.insert(name.to_owned(), folder.clone());
        manifests.push((folder, manifest));
    }
    let mut problems = Vec::new();
    for (folder, manifest) in &manifests {
        let Some(line) = line_of(folder, &lines) else {
            problems.push(format!("{folder} stands in no line of the rooms"));
            continue;
        };
        for other in needs(manifest).iter().filter_map(|name| folders.get(*name)) {
            if line_of(other, &lines).is_some_and(|above| above < line) {
                problems.push(format!("{folder} knows {other}, which stands above it"));
            }
        }
    }
    Ok(problems)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_crate_knows_one_above_it() {
        let problems = problems(&crate::tree::workspace()).unwrap();
        assert!(problems.is_empty(), "{}", problems.join("\n"));
    }

    #[test]
    fn an_arrow_upwards_and_a_crate_without_a_line_are_found() {
        let home = tempfile::tempdir().unwrap();
        let write = |place: &str, text: &str| {
            let path = home.path().join(place);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let rooms = "# A\n\n## Rooms\n\n| layer | crates |\n|---|---|\n| x | `crates/a` |\n| y | `crates/m/*` |\n\n## Z\n";
        write("ARCHITECTURE.md", rooms);
        let manifest = |name: &str, needs: &str| format!("[package]\nname = \"{name}\"\n{needs}");
        write(
            "crates/a/Cargo.toml",
            &manifest(
                "helmholtz-a",
                "\n[dependencies]\nhelmholtz-b.workspace = true\n",
            ),
        );
        let upwards = "\n[dependencies]\nhelmholtz-a.workspace = true\n";
        write("crates/m/b/Cargo.toml", &manifest("helmholtz-b", upwards));
        let allowed = "\n[dependencies]\nhelmholtz-a = { workspace = true, optional = true }\n\n[dev-dependencies]\nhelmholtz-a.workspace = true\n";
        write("crates/m/c/Cargo.toml", &manifest("helmholtz-c", allowed));
        write("crates/d/Cargo.toml", &manifest("helmholtz-d", ""));
        assert_eq!(
            problems(home.path()).unwrap(),
            [
                "crates/d stands in no line of the rooms",
                "crates/m/b knows crates/a, which stands above it"
            ]
        );
    }
}
