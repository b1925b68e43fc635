//! Which file of a crate imports which, and the circles of rooms.
//!
//! A path is followed to the file that defines what it names, through what modules export again: a `mod.rs` that hands on the names of
//! its files imports none of them. What is compiled for tests alone is left out, and so are the names that macros make.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Attribute, Item, ItemMod, ItemUse, Macro, UseTree, Visibility};

/// A crate's sources: paths below its folder `src`, with `/` between the parts, and texts.
pub type Sources = BTreeMap<String, String>;

/// For each file the files that it imports, with the names that it takes from them.
pub type Imports = BTreeMap<String, BTreeMap<String, BTreeSet<String>>>;

/// The place of a module, from the crate's root.
type Place = Vec<String>;

/// A module's own names and those that it uses.
#[derive(Default)]
struct Module {
    file: String,
    items: BTreeSet<String>,
    /// The path that stands behind a name of a `use`.
    uses: BTreeMap<String, Place>,
    globs: Vec<Place>,
    /// The paths of its code, and of its `use`s that export again with them.
    paths: Vec<Place>,
    exported: Vec<Place>,
}

/// The modules of a crate.
#[derive(Default)]
struct Tree {
    modules: BTreeMap<Place, Module>,
    tests: BTreeSet<Place>,
}

/// The module of a file.
fn place(file: &str) -> Place {
    let stem = file.strip_suffix(".rs").unwrap_or(file);
    let mut parts: Place = stem.split('/').map(str::to_owned).collect();
    if matches!(
        parts.last().map(String::as_str),
        Some("mod" | "lib" | "main")
    ) {
        parts.pop();
    }
    parts
}

/// Whether an item is compiled for tests alone.
fn for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute
                .meta
                .require_list()
                .is_ok_and(|list| list.tokens.to_string() == "test")
    })
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

fn defined(item: &Item) -> Option<&syn::Ident> {
    match item {
        Item::Const(item) => Some(&item.ident),
        Item::Enum(item) => Some(&item.ident),
        Item::Fn(item) => Some(&item.sig.ident),
        Item::Macro(item) => item.ident.as_ref(),
        Item::Static(item) => Some(&item.ident),
        Item::Struct(item) => Some(&item.ident),
        Item::Trait(item) => Some(&item.ident),
        Item::Type(item) => Some(&item.ident),
        _ => None,
    }
}

/// Reads a file into the modules that stand in it.
struct Reader<'a> {
    tree: &'a mut Tree,
    file: &'a str,
    at: Place,
}

impl Reader<'_> {
    fn module(&mut self) -> &mut Module {
        let file = self.file;
        self.tree
            .modules
            .entry(self.at.clone())
            .or_insert_with(|| Module {
                file: file.to_owned(),
                ..Module::default()
            })
    }

    fn used(&mut self, tree: &UseTree, mut before: Place, exported: bool) {
        let (name, path) = match tree {
            UseTree::Path(path) => {
                before.push(path.ident.to_string());
                return self.used(&path.tree, before, exported);
            }
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.used(tree, before.clone(), exported);
                }
                return;
            }
            UseTree::Glob(_) => return self.module().globs.push(before),
            UseTree::Name(name) if name.ident == "self" => {
                (before.last().cloned().unwrap_or_default(), before)
            }
            UseTree::Name(name) => {
                before.push(name.ident.to_string());
                (name.ident.to_string(), before)
            }
            UseTree::Rename(rename) => {
                before.push(rename.ident.to_string());
                (rename.rename.to_string(), before)
            }
        };
        let module = self.module();
        match exported {
            true => module.exported.push(path.clone()),
            false => module.paths.push(path.clone()),
        }
        module.uses.insert(name, path);
    }

    /// The paths in the tokens of a macro's call.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut path = Place::new();
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(ident) => {
                    if colons != 2 {
                        self.end(&mut path);
                    }
                    path.push(ident.to_string());
                    colons = 0;
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' => colons += 1,
                TokenTree::Group(group) => {
                    self.end(&mut path);
                    self.tokens(group.stream());
                }
                _ => self.end(&mut path),
            }
        }
        self.end(&mut path);
    }

    fn end(&mut self, path: &mut Place) {
        let path = std::mem::take(path);
        if path.len() > 1 {
            self.module().paths.push(path);
        }
    }
}

impl<'a> Visit<'a> for Reader<'_> {
    fn visit_item(&mut self, item: &'a Item) {
        if for_tests(attributes(item)) {
            if let Item::Mod(module) = item {
                let mut place = self.at.clone();
                place.push(module.ident.to_string());
                self.tree.tests.insert(place);
            }
            return;
        }
        if let Some(name) = defined(item) {
            let name = name.to_string();
            self.module().items.insert(name);
        }
        visit::visit_item(self, item);
    }

    fn visit_item_mod(&mut self, module: &'a ItemMod) {
        if let Some((_, items)) = &module.content {
            self.at.push(module.ident.to_string());
            self.module();
            for item in items {
                self.visit_item(item);
            }
            self.at.pop();
        }
    }

    fn visit_item_use(&mut self, item: &'a ItemUse) {
        let exported = !matches!(item.vis, Visibility::Inherited);
        self.used(&item.tree, Place::new(), exported);
    }

    fn visit_path(&mut self, path: &'a syn::Path) {
        let names = path.segments.iter().map(|s| s.ident.to_string()).collect();
        self.module().paths.push(names);
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'a Macro) {
        self.tokens(call.tokens.clone());
        visit::visit_macro(self, call);
    }
}

impl Tree {
    fn of(sources: &Sources) -> syn::Result<Self> {
        let mut tree = Self::default();
        for (file, text) in sources {
            let parsed = syn::parse_file(text)?;
            let mut reader = Reader {
                tree: &mut tree,
                file,
                at: place(file),
            };
            reader.module();
            reader.visit_file(&parsed);
        }
        let tests = std::mem::take(&mut tree.tests);
        tree.modules
            .retain(|place, _| !tests.iter().any(|test| place.starts_with(test)));
        Ok(tree)
    }

    /// The file that defines what a path names, read in the module at `from`. Nothing for a module, and for another crate's.
    fn file(&self, from: &[String], path: &[String], depth: usize) -> Option<&str> {
        let (first, rest) = path.split_first()?;
        // What is exported in a circle, or of another crate under the same name.
        if depth == 0 {
            return None;
        }
        match first.as_str() {
            "crate" => self.below(&[], rest, depth),
            "self" => self.below(from, rest, depth),
            "super" => {
                let parent = &from[..from.len().checked_sub(1)?];
                match rest.first().map(String::as_str) {
                    Some("super") => self.file(parent, rest, depth),
                    _ => self.below(parent, rest, depth),
                }
            }
            _ => self.below(from, path, depth),
        }
    }

    /// The same for a path whose first name stands in the module at `here`.
    fn below(&self, here: &[String], path: &[String], depth: usize) -> Option<&str> {
        let (name, rest) = path.split_first()?;
        let module = self.modules.get(here)?;
        if module.items.contains(name) {
            return Some(&module.file);
        }
        let child = [here, std::slice::from_ref(name)].concat();
        if self.modules.contains_key(&child) && !rest.is_empty() {
            return self.below(&child, rest, depth);
        }
        if let Some(target) = module.uses.get(name) {
            return self.file(here, &[target, rest].concat(), depth - 1);
        }
        module
            .globs
            .iter()
            .find_map(|glob| self.file(here, &[glob, path].concat(), depth - 1))
    }
}

/// The imports between the files of a crate.
///
/// # Errors
///
/// A file that is no Rust.
pub fn imports(sources: &Sources) -> syn::Result<Imports> {
    const DEPTH: usize = 16;
    let tree = Tree::of(sources)?;
    let mut found = Imports::new();
    for (place, module) in &tree.modules {
        let face = |path: &&Place| {
            let mut at = place.clone();
            for name in path.iter() {
                match name.as_str() {
                    "self" => {}
                    "crate" => at.clear(),
                    _ => at.push(name.clone()),
                }
            }
            at.starts_with(place)
        };
        let handed_on = module.exported.iter().filter(|path| !face(path));
        for path in module.paths.iter().chain(handed_on) {
            let Some(file) = tree.file(place, path, DEPTH) else {
                continue;
            };
            if file != module.file {
                found
                    .entry(module.file.clone())
                    .or_default()
                    .entry(file.to_owned())
                    .or_default()
                    .extend(path.last().cloned());
            }
        }
    }
    Ok(found)
}

/// The rooms that import each other in a circle. The rooms of a folder are its files and folders, `x.rs` and `x/` together being one;
/// what a room shares with the rooms inside it, in `x.rs` or `x/mod.rs`, they take from above. Each circle once: the largest set of
/// rooms each of which leads to every other.
pub fn circles(imports: &Imports) -> BTreeSet<BTreeSet<String>> {
    let mut leads: BTreeMap<Place, BTreeSet<Place>> = BTreeMap::new();
    for (file, others) in imports {
        let from = place(file);
        for other in others.keys() {
            let to = place(other);
            let level = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
            // A room and one inside it.
            if level < from.len() && level < to.len() {
                let to = to[..=level].to_vec();
                leads.entry(from[..=level].to_vec()).or_default().insert(to);
            }
        }
    }
    let reach = |from: &Place| {
        let mut seen = BTreeSet::new();
        let mut next = vec![from];
        while let Some(room) = next.pop() {
            for other in leads.get(room).into_iter().flatten() {
                if seen.insert(other) {
                    next.push(other);
                }
            }
        }
        seen
    };
    let reached: BTreeMap<&Place, BTreeSet<&Place>> =
        leads.keys().map(|room| (room, reach(room))).collect();
    reached
        .iter()
        .filter(|(room, others)| others.contains(**room))
        .map(|(room, others)| {
            let back =
                |other: &&&Place| reached.get(**other).is_some_and(|back| back.contains(room));
            others
                .iter()
                .filter(back)
                .map(|room| room.join("/"))
                .collect()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(of: &[(&str, &str)]) -> Vec<Vec<String>> {
        let sources = of
            .iter()
            .map(|(file, text)| (file.to_string(), text.to_string()))
            .collect();
        let imports = imports(&sources).unwrap();
        circles(&imports)
            .into_iter()
            .map(|rooms| rooms.into_iter().collect())
            .collect()
    }

    const MADE_UP: [(&str, &str); 6] = [
        (
            "lib.rs",
            "mod a; mod b; mod c; mod d; pub use b::inner::X; pub use a::Z;",
        ),
        ("a.rs", "use crate::{d, X}; pub struct Z;"),
        ("b/mod.rs", "mod inner; pub use inner::X;"),
        (
            "b/inner.rs",
            "pub struct X; fn f() { assert!(crate::c::g()) }",
        ),
        ("c.rs", "use super::*; pub fn g() -> bool { Z::h() }"),
        (
            "d.rs",
            "// crate::a::Z\npub const A: &str = \"crate::a::Z\";",
        ),
    ];

    #[test]
    fn a_circle_of_three_files_is_found_through_what_is_exported_again() {
        assert_eq!(found(&MADE_UP), [["a", "b", "c"]]);
        // Without one of its arrows there is none.
        let mut broken = MADE_UP;
        broken[4].1 = "pub fn g() -> bool { true }\n#[cfg(test)]\nmod tests {\n    use super::super::a::Z;\n}";
        assert!(found(&broken).is_empty());
    }

    #[test]
    fn rooms_inside_a_room_make_circles_of_their_own() {
        let inside = [
            (
                "a/mod.rs",
                "mod b; mod c; pub use c::Y; pub struct Z; fn f(_: b::X) {}",
            ),
            ("a/b.rs", "use super::{Y, Z}; pub struct X(Y, Z);"),
            ("a/c.rs", "pub struct Y(super::b::X);"),
        ];
        assert_eq!(found(&inside), [["a/b", "a/c"]]);
        // What a room's own file shares with the rooms inside it is no circle.
        let mut above = inside;
        above[2].1 = "pub struct Y(super::Z);";
        assert!(found(&above).is_empty());
    }

    #[test]
    fn what_is_a_test_makes_no_circle() {
        let made_up = [
            ("lib.rs", "mod a; mod b;"),
            (
                "a/mod.rs",
                "#[cfg(test)]\npub(crate) mod fake;\nuse crate::b::g; pub fn f() { g() }",
            ),
            ("a/fake.rs", "use crate::b::g;"),
            ("b.rs", "#[cfg(test)]\nuse crate::a::f;\npub fn g() {}"),
        ];
        assert!(found(&made_up).is_empty());
    }
}
