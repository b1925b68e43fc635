//! The shape of the sources: rooms that import each other in a circle, and functions that are too long.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::tree;

/// The most lines of a function, its braces with it.
pub const MOST_LINES: usize = 80;

/// A crate's sources: paths below its folder `src`, with `/` between the parts, and texts.
pub type Sources = BTreeMap<String, String>;

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

/// A text whose comments, strings and characters are blank; lines stay where they are.
pub fn bare(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let end = match &bytes[at..] {
            [b'/', b'/', ..] => find(bytes, at, b"\n"),
            [b'/', b'*', ..] => find(bytes, at + 2, b"*/") + 2,
            [b'r', b'"' | b'#', ..] if raw(bytes, at) => raw_end(bytes, at),
            [b'"', ..] => string_end(bytes, at),
            [b'\'', b'\\', ..] => find(bytes, at + 3, b"'") + 1,
            // A character of any width, but no lifetime.
            [b'\'', ..] => match text[at + 1..].chars().next().map(char::len_utf8) {
                Some(wide) if bytes.get(at + 1 + wide) == Some(&b'\'') => at + wide + 2,
                _ => at,
            },
            _ => at,
        };
        let end = end.min(bytes.len());
        for byte in &mut out[at..end] {
            *byte = if *byte == b'\n' { b'\n' } else { b' ' };
        }
        at = end.max(at + 1);
    }
    String::from_utf8(out).expect("whole characters were made blank")
}

/// Where `what` next stands, or the end.
fn find(bytes: &[u8], from: usize, what: &[u8]) -> usize {
    let from = from.min(bytes.len());
    let found = bytes[from..].windows(what.len()).position(|w| w == what);
    found.map_or(bytes.len(), |at| from + at)
}

/// Whether a raw string begins here, and no name that ends in r.
fn raw(bytes: &[u8], at: usize) -> bool {
    let quote = bytes[at + 1..].iter().position(|&b| b != b'#');
    let named = at > 0
        && (bytes[at - 1].is_ascii_alphanumeric() && bytes[at - 1] != b'b'
            || bytes[at - 1] == b'_');
    !named && quote.is_some_and(|q| bytes[at + 1 + q] == b'"')
}

fn raw_end(bytes: &[u8], at: usize) -> usize {
    let marks = bytes[at + 1..].iter().take_while(|&&b| b == b'#').count();
    let close = [&b"\""[..], &vec![b'#'; marks]].concat();
    find(bytes, at + marks + 2, &close) + close.len()
}

fn string_end(bytes: &[u8], at: usize) -> usize {
    let mut end = at + 1;
    while end < bytes.len() && bytes[end] != b'"' {
        end += if bytes[end] == b'\\' { 2 } else { 1 };
    }
    end + 1
}

/// The first word of a text, if it begins with one.
fn word(text: &str) -> Option<&str> {
    let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_'));
    Some(&text[..end.unwrap_or(text.len())]).filter(|word| !word.is_empty())
}

/// The end of the braces that open at `open`.
fn closing(bare: &str, open: usize) -> usize {
    let mut depth = 0;
    for (at, byte) in bare.bytes().enumerate().skip(open) {
        match byte {
            b'{' => depth += 1,
            b'}' if depth == 1 => return at,
            b'}' => depth -= 1,
            _ => {}
        }
    }
    bare.len()
}

/// The part of a bare text that is no test.
fn without_tests(bare: &str) -> String {
    const TEST: &str = "#[cfg(test)]";
    let mut rest = bare;
    let mut out = String::new();
    while let Some(at) = rest.find(TEST) {
        out.push_str(&rest[..at]);
        let item = &rest[at..];
        let end = item.find(';').unwrap_or(item.len());
        let end = match item.find('{') {
            Some(open) if open < end => closing(item, open),
            _ => end,
        };
        rest = item.get(end + 1..).unwrap_or("");
    }
    out + rest
}

/// The modules that a bare text declares for tests alone.
fn test_modules(bare: &str) -> impl Iterator<Item = &str> {
    bare.split("#[cfg(test)]").skip(1).filter_map(|item| {
        let head = item.split([';', '{']).next()?;
        let name = head.split_whitespace().last()?;
        (head.contains("mod ") && item[head.len()..].starts_with(';')).then_some(name)
    })
}

/// The room of a source: the first part of its path.
fn room(place: &str) -> &str {
    let first = place.split('/').next().unwrap_or(place);
    first.strip_suffix(".rs").unwrap_or(first)
}

/// Whether `super` is the crate's root in this source.
fn below_root(place: &str) -> bool {
    !place.contains('/') || place.ends_with("/mod.rs") && place.matches('/').count() == 1
}

/// The rooms that a bare text names by paths from `crate`, or from `super` where that is the same.
fn named(bare: &str, below_root: bool) -> Vec<&str> {
    let mut found = Vec::new();
    for start in ["crate::", "super::"] {
        if start == "super::" && !below_root {
            continue;
        }
        for (at, _) in bare.match_indices(start) {
            let before = bare[..at].bytes().next_back();
            if before
                .is_some_and(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'$' || b == b':')
            {
                continue;
            }
            let rest = &bare[at + start.len()..];
            match rest.strip_prefix('{') {
                Some(_) => {
                    let inside = &rest[1..closing(rest, 0)];
                    found.extend(parts(inside).filter_map(|part| word(part.trim())));
                }
                None => found.extend(word(rest)),
            }
        }
    }
    found
}

/// The parts of a list between its commas, groups in braces whole.
fn parts(list: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0;
    list.split(move |c| {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        c == ',' && depth == 0
    })
}

/// The rooms of a crate that import each other in a circle, tests left out. Each circle once, as the largest set of rooms each of
/// which leads to every other. What the root exports again is not followed.
pub fn circles(sources: &Sources) -> Vec<Vec<String>> {
    let bare: BTreeMap<&str, String> = sources
        .iter()
        .map(|(place, text)| (&**place, bare(text)))
        .collect();
    let tests: BTreeSet<String> = bare
        .iter()
        .flat_map(|(place, text)| {
            let folder = match place.rsplit_once('/') {
                Some((folder, "mod.rs")) => format!("{folder}/"),
                _ if matches!(*place, "lib.rs" | "main.rs") => String::new(),
                _ => format!("{}/", place.strip_suffix(".rs").unwrap_or(place)),
            };
            test_modules(text).map(move |name| format!("{folder}{name}"))
        })
        .collect();
    let is_test = |place: &str| {
        let own = place.strip_suffix(".rs").unwrap_or(place);
        tests
            .iter()
            .any(|test| own == test || own.starts_with(&format!("{test}/")))
    };
    let rooms: BTreeSet<&str> = bare.keys().map(|place| room(place)).collect();
    let mut leads: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (place, text) in bare.iter().filter(|(place, _)| !is_test(place)) {
        let own = room(place);
        if matches!(own, "lib" | "main" | "bin") {
            continue;
        }
        let text = without_tests(text);
        for other in named(&text, below_root(place)) {
            if let Some(other) = rooms.get(other).filter(|other| **other != own) {
                leads.entry(own).or_default().insert(other);
            }
        }
    }
    let reach = |from: &str| {
        let mut seen = BTreeSet::new();
        let mut next: Vec<&str> = leads.get(from).into_iter().flatten().copied().collect();
        while let Some(room) = next.pop() {
            if seen.insert(room) {
                next.extend(leads.get(room).into_iter().flatten());
            }
        }
        seen
    };
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        rooms.iter().map(|room| (*room, reach(room))).collect();
    let of = |room: &str| -> Vec<String> {
        let both =
            |other: &&&str| reached[room].contains(**other) && reached[**other].contains(room);
        rooms
            .iter()
            .filter(both)
            .map(|other| (*other).to_owned())
            .collect()
    };
    let circles: BTreeSet<Vec<String>> = rooms.iter().map(|room| of(room)).collect();
    circles
        .into_iter()
        .filter(|circle| circle.len() > 1)
        .collect()
}

/// The functions of a text that are longer than so many lines: name, first line and lines.
pub fn long_functions(text: &str, most: usize) -> Vec<(String, usize, usize)> {
    let bare = bare(text);
    let mut found = Vec::new();
    for (at, _) in bare.match_indices("fn ") {
        let before = bare[..at].bytes().next_back();
        let Some(name) = word(&bare[at + 3..]) else {
            continue;
        };
        if before.is_some_and(|b| b.is_ascii_alphanumeric() || b == b'_') {
            continue;
        }
        let rest = &bare[at..];
        let end = rest.find(';').unwrap_or(rest.len());
        if let Some(open) = rest.find('{').filter(|open| *open < end) {
            let lines = rest[..closing(rest, open)].matches('\n').count() + 1;
            if lines > most {
                found.push((name.to_owned(), bare[..at].matches('\n').count() + 1, lines));
            }
        }
    }
    found
}

/// What is wrong with the sources of the workspace.
pub fn problems(root: &Path) -> io::Result<Vec<String>> {
    let mut problems = Vec::new();
    for (home, sources) in crates(root)? {
        let home = home.display();
        for circle in circles(&sources) {
            problems.push(format!(
                "{home}: a circle of imports: {}",
                circle.join(", ")
            ));
        }
    }
    for path in tree::files(root, "rs")? {
        let name = path
            .strip_prefix(root)
            .unwrap_or(&path)
            .display()
            .to_string();
        for (function, line, lines) in long_functions(&fs::read_to_string(&path)?, MOST_LINES) {
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

    fn sources(of: &[(&str, &str)]) -> Sources {
        of.iter()
            .map(|(place, text)| (place.to_string(), text.to_string()))
            .collect()
    }

    #[test]
    fn the_sources_of_the_workspace_have_no_circle_and_no_long_function() {
        let problems = problems(&tree::workspace()).unwrap();
        assert!(problems.is_empty(), "{}", problems.join("\n"));
    }

    #[test]
    fn a_circle_of_three_rooms_is_found() {
        let made_up = [
            ("lib.rs", "mod a; mod b; mod c; mod d;"),
            ("a.rs", "use crate::{d, b::{X, Y}};"),
            ("b/mod.rs", "mod inner;"),
            ("b/inner.rs", "fn f() { crate::c::g() }"),
            ("c.rs", "use super::a::Z;"),
            ("d.rs", "// crate::a\nconst A: &str = \"crate::a\";"),
        ];
        assert_eq!(circles(&sources(&made_up)), [["a", "b", "c"]]);
        // Without one of its arrows there is none.
        let mut broken = sources(&made_up);
        broken.insert(
            "c.rs".into(),
            "#[cfg(test)]\nmod tests {\n    use super::a::Z;\n}".into(),
        );
        assert!(circles(&broken).is_empty());
    }

    #[test]
    fn what_is_a_test_makes_no_circle() {
        let made_up = [
            ("lib.rs", "mod a; mod b;"),
            (
                "a/mod.rs",
                "#[cfg(test)]\npub(crate) mod fake;\nuse crate::b;",
            ),
            ("a/fake.rs", "use crate::b;"),
            ("b.rs", "#[cfg(test)]\nuse crate::a::fake;\nfn g() {}"),
        ];
        assert!(circles(&sources(&made_up)).is_empty());
    }

    #[test]
    fn a_function_of_a_line_too_many_is_found() {
        let function = |lines: usize| {
            format!(
                "\n/// fn doc() {{\npub fn long<T>(x: &'a T) {{\n{}    '{{';\n}}\n",
                "    \"}\";\n".repeat(lines - 3)
            )
        };
        assert!(long_functions(&function(10), 10).is_empty());
        assert_eq!(long_functions(&function(11), 10), [("long".into(), 3, 11)]);
        assert!(long_functions("trait T { fn declared(&self); }", 1).is_empty());
    }

    #[test]
    fn comments_strings_and_characters_are_blank() {
        let text = "a /* { */ \"\\\"{\" r#\"{\"# b'{' '\\'' 'é' <'a> // }\nz";
        let bare = bare(text);
        assert!(
            !bare.contains(['{', '}', '"']) && bare.contains("<'a>") && bare.ends_with("\nz"),
            "{bare}"
        );
        assert_eq!(bare.len(), text.len());
    }
}
