//! The shape of the sources: rooms that import each other in a circle, and functions that are too long.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Block, ImplItemFn, ItemFn, Signature, TraitItemFn};

use crate::imports::{self, Sources};
use crate::tree;

/// The most lines of a function, its braces with it.
pub const MOST_LINES: usize = 80;

/// The sources of each crate of the workspace, by its folder.
pub fn crates(root: &Path) -> io::Result<BTreeMap<PathBuf, Sources>> {
    let mut found: BTreeMap<PathBuf, Sources> = BTreeMap::new();
    for path in tree::files(root, "rs")? {
        let Some(home) = path
            .ancestors()
            .find(|folder| folder.join("Cargo.toml").exists())
        else {
            continue;
        };
        if let Ok(place) = path.strip_prefix(home.join("src")) {
            let place = place.to_string_lossy().replace('\\', "/");
            let home = home.strip_prefix(root).unwrap_or(home).to_path_buf();
            found
                .entry(home)
                .or_default()
                .insert(place, fs::read_to_string(&path)?);
        }
    }
    Ok(found)
}

/// The functions of a file that are longer than so many lines.
struct Long {
    most: usize,
    found: Vec<(String, usize, usize)>,
}

impl Long {
    /// Takes a function with its signature and its body.
    fn take(&mut self, signature: &Signature, body: &Block) {
        let first = signature.span().start().line;
        let lines = body.span().end().line - first + 1;
        if lines > self.most {
            self.found.push((signature.ident.to_string(), first, lines));
        }
    }
}

impl<'a> Visit<'a> for Long {
    fn visit_item_fn(&mut self, function: &'a ItemFn) {
        self.take(&function.sig, &function.block);
        visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, function: &'a ImplItemFn) {
        self.take(&function.sig, &function.block);
        visit::visit_impl_item_fn(self, function);
    }

    fn visit_trait_item_fn(&mut self, function: &'a TraitItemFn) {
        if let Some(body) = &function.default {
            self.take(&function.sig, body);
        }
        visit::visit_trait_item_fn(self, function);
    }
}

/// The functions of a text that are longer than so many lines: name, first line and lines.
///
/// # Errors
///
/// A text that is no Rust.
pub fn long_functions(text: &str, most: usize) -> syn::Result<Vec<(String, usize, usize)>> {
    let mut long = Long {
        most,
        found: Vec::new(),
    };
    long.visit_file(&syn::parse_file(text)?);
    Ok(long.found)
}

/// Whether a file is a room's or of a room inside it.
fn within(file: &str, room: &str) -> bool {
    file.strip_prefix(room)
        .is_some_and(|rest| rest.starts_with(['.', '/']))
}

/// What is wrong with the sources of the workspace.
///
/// # Errors
///
/// Files that cannot be read, and files that are no Rust.
pub fn problems(root: &Path) -> io::Result<Vec<String>> {
    let mut problems = Vec::new();
    for (home, sources) in crates(root)? {
        let home = home.display();
        let imports = imports::imports(&sources).map_err(io::Error::other)?;
        for circle in imports::circles(&imports) {
            let ties = imports
                .iter()
                .flat_map(|(file, of)| of.iter().map(move |(other, names)| (file, other, names)));
            let ties: Vec<String> = ties
                .filter(|(file, other, _)| {
                    let room = |file: &str| circle.iter().find(|room| within(file, room));
                    room(file).zip(room(other)).is_some_and(|(a, b)| a != b)
                })
                .map(|(file, other, names)| {
                    let names: Vec<&str> = names.iter().map(String::as_str).collect();
                    format!("\n    {file} takes {} from {other}", names.join(", "))
                })
                .collect();
            problems.push(format!("{home}: a circle of imports:{}", ties.concat()));
        }
    }
    for path in tree::files(root, "rs")? {
        let name = path.strip_prefix(root).unwrap_or(&path).display();
        let text = fs::read_to_string(&path)?;
        for (function, line, lines) in
            long_functions(&text, MOST_LINES).map_err(io::Error::other)?
        {
            problems.push(format!(
                "{name}:{line}: `{function}` has {lines} lines, more than {MOST_LINES}"
            ));
        }
    }
    Ok(problems)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sources_of_the_workspace_have_no_circle_and_no_long_function() {
        let problems = problems(&tree::workspace()).unwrap();
        assert!(problems.is_empty(), "{}", problems.join("\n"));
    }

    #[test]
    fn a_function_of_a_line_too_many_is_found() {
        let function = |lines: usize| {
            format!(
                "\n/// fn doc() {{\npub fn long<T>(x: &'a T) {{\n{}    '{{';\n}}\n",
                "    \"}\";\n".repeat(lines - 3)
            )
        };
        assert!(long_functions(&function(10), 10).unwrap().is_empty());
        assert_eq!(
            long_functions(&function(11), 10).unwrap(),
            [("long".into(), 3, 11)]
        );
        assert!(
            long_functions("trait T { fn declared(&self); }", 0)
                .unwrap()
                .is_empty()
        );
        assert!(long_functions("fn", 1).is_err());
    }
}
