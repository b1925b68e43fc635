//! A mutant: a text of a file, and what takes its place.

use std::ops::Range;
use std::process::Stdio;

use serde::Deserialize;

use crate::checkout::Checkout;

/// One change of one file.
pub struct Mutant {
    /// The file, from the workspace's root.
    pub file: String,
    /// What is changed, in words.
    pub about: String,
    /// Line and column where it begins, from 1.
    pub place: (usize, usize),
    /// The line there.
    pub line: String,
    /// The bytes that are replaced.
    pub replaced: Range<usize>,
    /// What takes their place.
    pub text: String,
    /// Who made it.
    pub origin: Origin,
}

/// Who made a mutant.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// cargo-mutants, out of an expression.
    Expression,
    /// cargo-mutants, a function that does nothing but return.
    Function,
    /// A person.
    Hand,
}

impl Mutant {
    /// The name: place and change.
    pub fn name(&self) -> String {
        let (line, column) = self.place;
        format!("{}:{line}:{column}: {}", self.file, self.about)
    }
}

#[derive(Deserialize)]
struct Listed {
    name: String,
    file: String,
    span: Span,
    replacement: String,
    genre: String,
}

#[derive(Deserialize)]
struct Span {
    start: Position,
    end: Position,
}

#[derive(Deserialize)]
struct Position {
    line: usize,
    column: usize,
}

/// The mutants of cargo-mutants.
pub fn of_tool(checkout: &Checkout) -> Result<Vec<Mutant>, String> {
    let mut arguments = vec!["mutants", "--list", "--json", "--workspace", "--no-config"];
    for file in checkout.scope.files {
        arguments.extend(["--file", file]);
    }
    for file in checkout.scope.not {
        arguments.extend(["--exclude", file]);
    }
    let mut command = checkout.cargo(&arguments);
    let output = command.stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| format!("no cargo: {error}"))?;
    if !output.status.success() {
        let remedy = "cargo install cargo-mutants --locked";
        return Err(format!(
            "`cargo mutants --list` failed; if it is not there: `{remedy}`"
        ));
    }
    let listed: Vec<Listed> = serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("the list of cargo-mutants is not as expected: {error}"))?;
    let mut mutants = Vec::new();
    let (mut file, mut source) = (String::new(), String::new());
    for one in listed {
        if one.file != file {
            source = checkout.read(&one.file)?;
            file = one.file;
        }
        let place = (one.span.start.line, one.span.start.column);
        let prefix = format!("{file}:{}:{}: ", place.0, place.1);
        let about = one.name.strip_prefix(&prefix).unwrap_or(&one.name);
        mutants.push(Mutant {
            about: about.into(),
            place,
            line: source.lines().nth(place.0 - 1).unwrap_or("").trim().into(),
            replaced: offset(&source, &one.span.start)?..offset(&source, &one.span.end)?,
            text: one.replacement,
            origin: match one.genre.as_str() {
                "FnValue" => Origin::Function,
                _ => Origin::Expression,
            },
            file: file.clone(),
        });
    }
    Ok(mutants)
}

/// The version of cargo-mutants.
pub fn version(checkout: &Checkout) -> String {
    let output = checkout.cargo(&["mutants", "--version"]).output();
    output.map_or_else(
        |_| "cargo-mutants".into(),
        |output| String::from_utf8_lossy(&output.stdout).trim().to_owned(),
    )
}

/// The byte at a line and column, both from 1, the column in characters.
fn offset(source: &str, position: &Position) -> Result<usize, String> {
    let mut before = source.split_inclusive('\n');
    let start: usize = before.by_ref().take(position.line - 1).map(str::len).sum();
    let line = before.next().unwrap_or("");
    let mut columns = line.char_indices().map(|(byte, _)| byte);
    columns
        .nth(position.column - 1)
        .map(|byte| start + byte)
        .or((line.chars().count() + 1 == position.column).then_some(start + line.len()))
        .ok_or(format!("no line {}", position.line))
}

/// One fault: a text of a file, and what stands there instead.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fault {
    /// What is wrong then.
    about: String,
    /// The file, from the workspace's root.
    file: String,
    /// What stands there once.
    from: String,
    /// What takes its place.
    to: String,
}

#[derive(Deserialize)]
struct Faults {
    fault: Vec<Fault>,
}

/// The faults written by hand, where the scope has them.
pub fn by_hand(checkout: &Checkout) -> Result<Vec<Mutant>, String> {
    if !checkout.scope.by_hand {
        return Ok(Vec::new());
    }
    let text = checkout.read("tests/faults.toml")?;
    let faults: Faults =
        toml::from_str(&text).map_err(|error| format!("tests/faults.toml: {error}"))?;
    let planted = faults.fault.into_iter().map(|fault| {
        let source = checkout.read(&fault.file)?;
        let mut places = source.match_indices(&fault.from);
        let (Some((start, _)), None) = (places.next(), places.next()) else {
            let Fault { about, file, .. } = fault;
            return Err(format!("`{about}`: its text is not once in {file}"));
        };
        let line_start = source[..start].rfind('\n').map_or(0, |end| end + 1);
        let line = source[..start].matches('\n').count() + 1;
        Ok(Mutant {
            about: fault.about,
            place: (line, source[line_start..start].chars().count() + 1),
            line: source.lines().nth(line - 1).unwrap_or("").trim().into(),
            replaced: start..start + fault.from.len(),
            text: fault.to,
            origin: Origin::Hand,
            file: fault.file,
        })
    });
    planted.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters() {
        let source = "one\n  φ + x\n";
        let at = |line, column| offset(source, &Position { line, column }).unwrap();
        assert_eq!(&source[at(2, 5)..at(2, 6)], "+");
        assert_eq!(at(2, 8), source.len() - 1);
    }
}
