//! Licences, sources and duplicates of all dependencies, by the rules of `deny.toml`: what `cargo deny check licenses bans sources` says,
//! without installing it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// What `cargo metadata` tells of the workspace, every feature and target included.
fn metadata() -> Value {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let output = Command::new(env!("CARGO"))
        .args([
            "metadata",
            "--format-version",
            "1",
            "--all-features",
            "--locked",
        ])
        .current_dir(root)
        .output()
        .expect("cargo");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn rules() -> toml::Table {
    include_str!("../../../deny.toml").parse().expect("TOML")
}

fn allowed() -> BTreeSet<String> {
    let allowed = rules()["licenses"]["allow"]
        .as_array()
        .expect("a list")
        .clone();
    let allowed = allowed
        .iter()
        .map(|name| name.as_str().expect("a name").into());
    allowed.collect()
}

/// Whether a licence expression (SPDX, or `A/B` as older manifests have it) can be fulfilled by allowed licences.
fn is_allowed(expression: &str, allowed: &BTreeSet<String>) -> bool {
    let spaced = expression
        .replace('/', " OR ")
        .replace('(', " ( ")
        .replace(')', " ) ");
    // An exception belongs to its licence.
    let spaced = spaced.replace(" WITH ", "~");
    let tokens: Vec<String> = spaced
        .split_whitespace()
        .map(|t| t.replace('~', " WITH "))
        .collect();
    let mut left = tokens.iter().map(String::as_str).peekable();
    let value = any(&mut left, allowed);
    value && left.next().is_none()
}

fn any<'a, I: Iterator<Item = &'a str>>(
    left: &mut std::iter::Peekable<I>,
    allowed: &BTreeSet<String>,
) -> bool {
    let mut value = all(left, allowed);
    while left.next_if_eq(&"OR").is_some() {
        value |= all(left, allowed);
    }
    value
}

fn all<'a, I: Iterator<Item = &'a str>>(
    left: &mut std::iter::Peekable<I>,
    allowed: &BTreeSet<String>,
) -> bool {
    let mut value = one(left, allowed);
    while left.next_if_eq(&"AND").is_some() {
        value &= one(left, allowed);
    }
    value
}

fn one<'a, I: Iterator<Item = &'a str>>(
    left: &mut std::iter::Peekable<I>,
    allowed: &BTreeSet<String>,
) -> bool {
    match left.next() {
        Some("(") => {
            let value = any(left, allowed);
            value && left.next() == Some(")")
        }
        Some(name) => allowed.contains(name),
        None => false,
    }
}

#[test]
fn expressions_are_read_as_spdx_has_them() {
    let allowed = ["MIT", "Apache-2.0", "Apache-2.0 WITH LLVM-exception"]
        .map(String::from)
        .into();
    for (expression, expected) in [
        ("MIT", true),
        ("GPL-3.0", false),
        ("GPL-3.0 OR MIT", true),
        ("GPL-3.0/MIT", true),
        ("GPL-3.0 AND MIT", false),
        ("(MIT OR GPL-3.0) AND Apache-2.0", true),
        ("MIT AND (GPL-3.0 OR LGPL-2.1)", false),
        ("Apache-2.0 WITH LLVM-exception", true),
        ("Apache-2.0 WITH Other-exception", false),
        ("", false),
        ("(MIT", false),
    ] {
        assert_eq!(is_allowed(expression, &allowed), expected, "{expression}");
    }
}

#[test]
fn every_dependency_has_an_allowed_licence_and_comes_from_the_registry() {
    let (metadata, allowed) = (metadata(), allowed());
    let packages = metadata["packages"].as_array().expect("packages");
    let (mut foreign, mut wrong) = (0, Vec::new());
    for package in packages {
        let name = package["name"].as_str().expect("a name");
        let licence = package["license"].as_str().unwrap_or("none");
        if !is_allowed(licence, &allowed) {
            wrong.push(format!("{name}: licence {licence}"));
        }
        if let Some(source) = package["source"].as_str() {
            foreign += 1;
            if source != "registry+https://github.com/rust-lang/crates.io-index" {
                wrong.push(format!("{name}: source {source}"));
            }
        }
        for dependency in package["dependencies"].as_array().expect("dependencies") {
            let of_path = dependency["path"].is_string();
            if package["source"].is_null() && !of_path && dependency["req"] == "*" {
                wrong.push(format!("{name}: any version of {}", dependency["name"]));
            }
        }
    }
    println!("{foreign} crates from the registry");
    assert!(foreign > 100);
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_workspace_names_one_version_of_each_dependency() {
    let metadata = metadata();
    let packages = metadata["packages"].as_array().expect("packages");
    let mut asked: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for package in packages
        .iter()
        .filter(|package| package["source"].is_null())
    {
        for dependency in package["dependencies"].as_array().expect("dependencies") {
            let text = |key: &str| dependency[key].as_str().expect("a text");
            if !dependency["path"].is_string() {
                asked.entry(text("name")).or_default().insert(text("req"));
            }
        }
    }
    asked.retain(|_, versions| versions.len() > 1);
    assert!(asked.is_empty(), "{asked:#?}");
}
