//! The build of all mutants at once, which tells those that do not compile.

use std::collections::{BTreeMap, BTreeSet};
use std::iter::successors;
use std::path::PathBuf;

use serde_json::Value;

use crate::checkout::Checkout;
use crate::results::{Results, Verdict};
use crate::site::{Kind, Site};
use crate::switch::{self, Arm};

/// A test binary, and the folder of its package.
pub struct Binary {
    pub path: PathBuf,
    pub folder: PathBuf,
}

/// Plants all mutants that compile, and builds the tests; of those that have no switch only `constant`, a site and a place
/// there. Mutants that don't compile get their verdict.
pub fn program(
    checkout: &Checkout,
    sites: &[Site],
    constant: Option<(usize, usize)>,
    results: &mut Results,
) -> Result<Vec<Binary>, String> {
    let mut files: BTreeMap<&str, Vec<(usize, &Site)>> = BTreeMap::new();
    for (index, site) in sites.iter().enumerate() {
        files.entry(&site.file).or_default().push((index, site));
    }
    let count: usize = sites.iter().map(|site| site.mutants.len()).sum();
    let of_crate = |file: &str| {
        file.split_once("/src/")
            .map(|(folder, _)| folder.to_owned())
    };
    let crates: BTreeSet<String> = files.keys().filter_map(|file| of_crate(file)).collect();
    let sources: BTreeMap<&str, String> = files
        .keys()
        .map(|&file| Ok((file, checkout.read(file)?)))
        .collect::<Result<_, String>>()?;
    for folder in crates {
        let root = format!("{folder}/src/lib.rs");
        let module = switch::MODULE.replace("MUTANTS", &count.to_string());
        checkout.write(&format!("{folder}/src/mutant.rs"), &module)?;
        let lib = sources.get(root.as_str()).cloned();
        let lib = lib.map_or_else(|| checkout.read(&root), Ok)?;
        checkout.write(&root, &format!("{lib}\nmod mutant;\n"))?;
    }
    loop {
        let mut arms: BTreeMap<&str, Vec<Arm>> = BTreeMap::new();
        for (file, sites_of_file) in &files {
            let kept = |site: usize, mutant: usize| {
                let switch = sites[site].kind != Kind::Constant;
                (switch || constant == Some((site, mutant)))
                    && !results.is_unviable(&sites[site].mutants[mutant])
            };
            let (mut text, of_file) = switch::switched(&sources[file], sites_of_file, kept);
            if file.ends_with("/src/lib.rs") {
                text.push_str("\nmod mutant;\n");
            }
            checkout.write(file, &text)?;
            arms.insert(file, of_file);
        }
        let (errors, binaries) = cargo(checkout)?;
        if errors.is_empty() {
            return Ok(binaries);
        }
        let mut unviable = BTreeSet::new();
        for error in &errors {
            unviable.extend(guilty(error, &arms).map(|arm| (arm.site, arm.mutant)));
        }
        if let (true, Some((site, mutant))) = (unviable.is_empty(), constant) {
            // Another value of a constant can be refused far from it.
            results.add(&sites[site].mutants[mutant], Verdict::Unviable, 0.0)?;
            return Ok(Vec::new());
        }
        if unviable.is_empty() {
            let text: String = errors.iter().map(rendered).collect();
            return Err(format!("the sound program does not compile:\n{text}"));
        }
        eprintln!("{} mutants do not compile; again without", unviable.len());
        for (site, mutant) in unviable {
            results.add(&sites[site].mutants[mutant], Verdict::Unviable, 0.0)?;
        }
    }
}

/// The mutants that a compiler error points at: where it says so first, or else anywhere.
fn guilty<'a>(
    error: &'a Value,
    arms: &'a BTreeMap<&str, Vec<Arm>>,
) -> impl Iterator<Item = &'a Arm> {
    let spans = |of: &'a Value, primary: bool| {
        let spans = of["spans"].as_array().into_iter().flatten();
        spans.filter(move |span| span["is_primary"] == primary)
    };
    let locate = move |span: &'a Value| {
        let file = span["file_name"].as_str()?;
        let (start, end) = (span["byte_start"].as_u64()?, span["byte_end"].as_u64()?);
        let place = start as usize..end as usize;
        let mut arms = arms.get(file)?.iter();
        arms.find(|arm| arm.range.start <= place.start && place.end <= arm.range.end)
    };
    // Inside of a macro, where that was called.
    let outside = |span: &&'a Value| {
        let outside = &span["expansion"]["span"];
        outside.is_object().then_some(outside)
    };
    let find = move |span: &'a Value| successors(Some(span), outside).find_map(locate);
    let children = error["children"].as_array().into_iter().flatten();
    let first: Vec<&Arm> = spans(error, true).filter_map(find).collect();
    let others = spans(error, false).chain(children.flat_map(move |child| spans(child, true)));
    let others: Vec<&Arm> = match first.is_empty() {
        true => others.filter_map(find).collect(),
        false => Vec::new(),
    };
    first.into_iter().chain(others)
}

fn rendered(error: &Value) -> String {
    error["rendered"].as_str().unwrap_or("").to_owned()
}

/// Builds the tests: the compiler's errors, and the test binaries.
fn cargo(checkout: &Checkout) -> Result<(Vec<Value>, Vec<Binary>), String> {
    let mut arguments = vec![
        "test",
        "--no-run",
        "--no-fail-fast",
        "--message-format=json",
        "--lib",
    ];
    for package in checkout.scope.packages {
        arguments.extend(["--package", package]);
    }
    for test in checkout.scope.tests {
        arguments.extend(["--test", test]);
    }
    let mut command = checkout.cargo(&arguments);
    let output = command.output();
    let output = output.map_err(|error| format!("no cargo: {error}"))?;
    let (mut errors, mut binaries) = (Vec::new(), Vec::new());
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let Ok(message) = serde_json::from_str::<Value>(line) else {
            continue;
        };
        if message["message"]["level"] == "error" {
            errors.push(message["message"].clone());
        }
        let path = |value: &Value| value.as_str().map(PathBuf::from);
        if let (Some(binary), Some(manifest)) = (
            path(&message["executable"]),
            path(&message["manifest_path"]),
        ) && message["profile"]["test"] == true
        {
            let folder = manifest.parent().map(PathBuf::from).unwrap_or_default();
            binaries.push(Binary {
                path: binary,
                folder,
            });
        }
    }
    // Said at the end of a crate that has others.
    errors.retain(|error| !error["spans"].as_array().is_none_or(Vec::is_empty));
    if errors.is_empty() && !output.status.success() {
        let problem = String::from_utf8_lossy(&output.stderr);
        return Err(format!("`cargo test --no-run` fails:\n{problem}"));
    }
    Ok((errors, binaries))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// `vec![…]` in a mutant: the compiler points into the macro, and says where that was called.
    #[test]
    fn an_error_inside_of_a_macro_is_of_the_mutant_that_calls_it() {
        let arm = |range, mutant| Arm {
            range,
            site: 3,
            mutant,
        };
        let arms = BTreeMap::from([("src/a.rs", vec![arm(0..10, 0), arm(10..40, 1)])]);
        let own = json!({"file_name": "src/a.rs", "byte_start": 14, "byte_end": 20});
        let inside = json!({
            "file_name": "std/macros.rs", "byte_start": 2, "byte_end": 5, "is_primary": true,
            "expansion": {"span": own},
        });
        let found = |span: Value| -> Vec<usize> {
            let error = json!({"spans": [span]});
            guilty(&error, &arms).map(|arm| arm.mutant).collect()
        };
        assert_eq!(found(inside), [1]);
        let elsewhere = json!({"file_name": "std/macros.rs", "byte_start": 2, "byte_end": 5, "is_primary": true});
        assert!(found(elsewhere).is_empty());
    }
}
