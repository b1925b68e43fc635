//! A page's files and commands, carried out in an empty folder.
//!
//! A code block with `file=PATH` after its language is written to PATH. A block in the language `console` is run line
//! by line where a line starts with `$ `. The lines below a command are lines of its output, in their order; `...`
//! stands for anything. `HELMHOLTZ` in the environment is the checkout, whose target folder is used, and `cargo install` puts programs
//! where the later commands find them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};

/// What a page asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A file with this content.
    Write(PathBuf, String),
    /// A command, and lines of its output.
    Run(String, Vec<String>),
}

/// The steps of a page, in its order.
pub fn steps(markdown: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut block: Option<(String, String)> = None;
    for event in Parser::new(markdown) {
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) => {
                block = Some((info.into_string(), String::new()));
            }
            Event::Text(text) => {
                if let Some((_, content)) = &mut block {
                    content.push_str(&text);
                }
            }
            Event::End(TagEnd::CodeBlock) => {
                let (info, content) = block.take().unwrap_or_default();
                if let Some((_, path)) = info.split_once("file=") {
                    steps.push(Step::Write(path.into(), content));
                } else if info == "console" {
                    steps.extend(commands(&content));
                }
            }
            _ => {}
        }
    }
    steps
}

fn commands(block: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for line in block.lines() {
        if let Some(command) = line.strip_prefix("$ ") {
            steps.push(Step::Run(command.into(), Vec::new()));
        } else if let Some(Step::Run(_, output)) = steps.last_mut() {
            output.push(line.trim().into());
        }
    }
    steps
}

/// Whether the line has the pieces between `...` in their order, from its start to its end.
fn fits(wanted: &str, line: &str) -> bool {
    let Some((start, rest)) = wanted.split_once("...") else {
        return line == wanted;
    };
    let Some(mut left) = line.strip_prefix(start) else {
        return false;
    };
    let pieces: Vec<&str> = rest.split("...").collect();
    for (i, piece) in pieces.iter().enumerate() {
        let found = if i + 1 == pieces.len() {
            left.ends_with(piece).then_some(0)
        } else {
            left.find(piece)
        };
        let Some(at) = found else {
            return false;
        };
        left = &left[at..];
    }
    true
}

/// The first expected line that is not in the output after those before it.
fn missing<'a>(expected: &'a [String], output: &str) -> Option<&'a str> {
    let mut lines = output.lines().map(str::trim);
    let wanted = expected
        .iter()
        .filter(|line| !line.is_empty() && *line != "...");
    wanted
        .map(String::as_str)
        .find(|wanted| !lines.any(|line| fits(wanted, line)))
}

/// Carries out the steps in a scratch folder.
pub fn carry_out(steps: &[Step], checkout: &Path) -> Result<(), String> {
    let scratch = tempfile::tempdir().map_err(|e| e.to_string())?;
    let mut folder = scratch.path().join("empty");
    fs::create_dir(&folder).map_err(|e| e.to_string())?;
    let moved = scratch.path().join("moved");
    let installed = scratch.path().join("installed");
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{path}", installed.join("bin").display());
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    let target = target.unwrap_or_else(|| checkout.join("target"));
    for step in steps {
        match step {
            Step::Write(path, content) => {
                let path = folder.join(path);
                let parent = path.parent().expect("a file's folder");
                let written = fs::create_dir_all(parent).and_then(|()| fs::write(&path, content));
                written.map_err(|e| format!("{}: {e}", path.display()))?;
            }
            Step::Run(command, expected) => {
                println!("$ {command}");
                let output = Command::new("bash")
                    .arg("-c")
                    .arg(format!(
                        "set -eo pipefail\nexec 2>&1\n{command}\npwd > \"$MOVED\""
                    ))
                    .current_dir(&folder)
                    .env("HELMHOLTZ", checkout)
                    .env("MOVED", &moved)
                    .env("CARGO_INSTALL_ROOT", &installed)
                    .env("CARGO_TARGET_DIR", &target)
                    .env("PATH", &path)
                    .output()
                    .map_err(|e| e.to_string())?;
                let text = String::from_utf8_lossy(&output.stdout);
                if !output.status.success() {
                    return Err(format!("`{command}` failed:\n{text}"));
                }
                if let Some(line) = missing(expected, &text) {
                    return Err(format!("`{command}` did not print `{line}`, but:\n{text}"));
                }
                let place = fs::read_to_string(&moved).map_err(|e| e.to_string())?;
                folder = PathBuf::from(place.trim_end());
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "Make it:\n\n```console\n$ mkdir new\n$ cd new\n```\n\n```toml,file=deep/a.toml\nb = 1\n```\n\n```rust\nfn not_a_file() {}\n```\n\n```console\n$ cat deep/a.toml; echo c\n...\nc\n```\n";

    #[test]
    fn a_page_is_carried_out_in_its_order() {
        assert_eq!(steps(PAGE).len(), 4);
        carry_out(&steps(PAGE), Path::new("/")).unwrap();
    }

    #[test]
    fn dots_stand_for_anything() {
        for (wanted, line, fit) in [
            ("ok in ...", "ok in 0.1 s", true),
            ("a ... c", "a b c", true),
            ("a ... c", "a b d", false),
            ("a ... c", "x a b c", false),
            ("a", "a b", false),
        ] {
            assert_eq!(fits(wanted, line), fit, "{wanted}, {line}");
        }
    }

    #[test]
    fn a_page_whose_command_fails_or_prints_something_else_fails() {
        for (right, wrong) in [
            ("cat deep/a.toml", "cat other"),
            ("\nc\n", "\nd\n"),
            ("b = 1", ""),
        ] {
            let page = PAGE.replacen(right, wrong, 1);
            let prints = right == "b = 1"; // the output is not compared there
            assert_eq!(
                carry_out(&steps(&page), Path::new("/")).is_ok(),
                prints,
                "{wrong}"
            );
        }
    }
}
