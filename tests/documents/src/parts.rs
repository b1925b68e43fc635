//! Parts of documents that are made of records and of sources.
//!
//! Between `<!-- from PATH -->` and `<!-- end -->` stands what the file at PATH, from the workspace's root, holds.
//! That is a document without its title, its headings one level lower; a source as a code block. `<!-- table from PATH
//! -->` takes the tables alone, and `<!-- first table from PATH, PATH -->` the rows of the first table of each, which
//! must have one heading. Tables that are made of runs are those of [`records`]. Links of a copied document that stay in
//! the book are kept, others are written as their text.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::records;

/// Documents that have a page of their own in the book, by their path from the workspace's root.
pub type Pages = HashMap<PathBuf, PathBuf>;

/// What each file below `book` takes whole, so that links to a file lead to its page.
pub fn pages(root: &Path, files: &[PathBuf]) -> Pages {
    let mut pages = Pages::new();
    for page in files {
        let text = fs::read_to_string(page).unwrap_or_default();
        for line in text.lines() {
            if let Some(("", source)) = marker(line) {
                pages
                    .entry(root.join(source))
                    .or_insert_with(|| page.clone());
            }
        }
    }
    pages
}

/// Which kind of part a line opens, and from where.
fn marker(line: &str) -> Option<(&str, &str)> {
    let inner = line.strip_prefix("<!-- ")?.strip_suffix(" -->")?;
    let (kind, path) = inner.split_once("from ")?;
    matches!(kind, "" | "table " | "first table ").then_some((kind.trim(), path))
}

/// The text of `page` with its parts made anew.
pub fn renew(page: &Path, root: &Path, pages: &Pages) -> Result<String, String> {
    let text = fs::read_to_string(page).map_err(|e| format!("{}: {e}", page.display()))?;
    let mut renewed = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        renewed.push_str(line);
        renewed.push('\n');
        let part = if let Some((kind, source)) = marker(line) {
            copied(kind, source, page, root, pages)
        } else if let Some(head) = records::opening(line) {
            let entries: Vec<&str> = lines.by_ref().take_while(|line| *line != "-->").collect();
            entries.iter().for_each(|entry| {
                renewed.push_str(entry);
                renewed.push('\n');
            });
            renewed.push_str("-->\n");
            records::table(head, &entries, page.parent().expect("a page's folder"))
        } else {
            continue;
        };
        let part = part.map_err(|e| format!("{}: {e}", page.display()))?;
        renewed.push_str(&format!("\n{}\n\n<!-- end -->\n", part.trim_end()));
        if !lines.any(|line| line == "<!-- end -->") {
            return Err(format!("{}: a part without end", page.display()));
        }
    }
    Ok(renewed)
}

/// What the file at `source` holds, as this kind of part has it.
fn copied(
    kind: &str,
    source: &str,
    page: &Path,
    root: &Path,
    pages: &Pages,
) -> Result<String, String> {
    if kind == "first table" {
        return first_tables(source, root);
    }
    let source = root.join(source);
    let content = fs::read_to_string(&source).map_err(|e| format!("{}: {e}", source.display()))?;
    match source.extension().and_then(|e| e.to_str()) {
        Some("md") if kind == "table" => Ok(tables(&content)),
        Some("md") => Ok(document(&content, page, &source, pages)),
        Some(language) => Ok(code(language, &content)),
        None => Err(format!("{}: of what kind is it?", source.display())),
    }
}

/// The rows of the first table of each of these files.
fn first_tables(sources: &str, root: &Path) -> Result<String, String> {
    let mut table: Vec<String> = Vec::new();
    for source in sources.split(", ") {
        let content =
            fs::read_to_string(root.join(source)).map_err(|e| format!("{source}: {e}"))?;
        let rows = content.lines().skip_while(|line| !line.starts_with('|'));
        let rows: Vec<&str> = rows.take_while(|line| line.starts_with('|')).collect();
        if rows.len() < 3 || table.first().is_some_and(|heading| heading != rows[0]) {
            return Err(format!("{source}: no table, or another heading"));
        }
        let skipped = if table.is_empty() { 0 } else { 2 };
        table.extend(rows[skipped..].iter().map(|row| row.to_string()));
    }
    Ok(table.join("\n") + "\n")
}

/// A text without these parts.
pub fn own(text: &str) -> String {
    let mut own = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if marker(line).is_some() || records::opening(line).is_some() {
            lines.find(|line| *line == "<!-- end -->");
        } else {
            own.push_str(line);
        }
        own.push('\n');
    }
    own
}

fn code(extension: &str, content: &str) -> String {
    let language = if extension == "rs" { "rust" } else { extension };
    format!("```{language}\n{}\n```", content.trim_end())
}

fn tables(content: &str) -> String {
    let mut found = String::new();
    let mut before = false;
    for line in content.lines() {
        let row = line.starts_with('|');
        if row {
            found.push_str(line);
        }
        if row || before {
            found.push('\n');
        }
        before = row;
    }
    found
}

/// A text with its parts, without the comments that say where they are, and with one blank line in place of several.
fn unmarked(text: &str) -> String {
    let mut unmarked: Vec<&str> = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if records::opening(line).is_some() {
            lines.find(|line| *line == "-->");
        } else if marker(line).is_none()
            && line != "<!-- end -->"
            && (!line.is_empty() || unmarked.last().is_some_and(|last| !last.is_empty()))
        {
            unmarked.push(line);
        }
    }
    unmarked.join("\n")
}

/// A document without its title, its headings one level lower, its links rewritten.
fn document(content: &str, page: &Path, source: &Path, pages: &Pages) -> String {
    let mut lines = Vec::new();
    let mut in_code = false;
    for line in unmarked(content).lines() {
        in_code ^= line.starts_with("```");
        if in_code || !line.starts_with('#') {
            lines.push(line.to_string());
        } else if !line.starts_with("# ") {
            lines.push(format!("#{line}"));
        }
    }
    relink(lines.join("\n").trim(), page, source, pages)
}

/// With each link `[text](target)` as the page can have it.
fn relink(text: &str, page: &Path, source: &Path, pages: &Pages) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(middle) = rest.find("](") {
        let (before, after) = (&rest[..middle], &rest[middle + 2..]);
        let (Some(open), Some(close)) = (before.rfind('['), after.find(')')) else {
            break;
        };
        let (label, target) = (&before[open + 1..], &after[..close]);
        out.push_str(&before[..open]);
        let folder = source.parent().expect("a file's folder");
        let there = folder.join(target);
        let there = there.canonicalize().unwrap_or(there);
        let here = page.parent().expect("a page's folder");
        let is_picture = out.ends_with('!');
        if target.contains("://") || target.starts_with('#') {
            out.push_str(&format!("[{label}]({target})"));
        } else if let Some(other) = pages.get(&there) {
            out.push_str(&format!("[{label}]({})", relative(here, other)));
        } else if is_picture {
            out.pop();
            out.push_str(label);
        } else {
            out.push_str(label);
        }
        rest = &after[close + 1..];
    }
    out + rest
}

/// The way from a folder to a file, both absolute.
fn relative(from: &Path, to: &Path) -> String {
    let (from, to): (Vec<_>, Vec<_>) = (from.components().collect(), to.components().collect());
    let shared = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    let up = from[shared..].iter().map(|_| "..".to_string());
    let down = to[shared..]
        .iter()
        .map(|part| part.as_os_str().to_string_lossy().into_owned());
    up.chain(down).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn renewed(source: (&str, &str), page: &str) -> Result<String, String> {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::write(root.join(source.0), source.1).unwrap();
        fs::create_dir(root.join("book")).unwrap();
        let path = root.join("book/page.md");
        fs::write(&path, page).unwrap();
        fs::write(
            root.join("book/other.md"),
            "<!-- from b.md -->\n<!-- end -->",
        )
        .unwrap();
        fs::write(root.join("b.md"), "").unwrap();
        let pages = pages(&root, &[path.clone(), root.join("book/other.md")]);
        renew(&path, &root, &pages)
    }

    #[test]
    fn a_part_is_its_source_and_the_rest_stays() {
        let made = renewed(
            ("a.rs", "fn f() {}\n"),
            "Before\n\n<!-- from a.rs -->\nold\n<!-- end -->\nAfter\n",
        );
        assert_eq!(
            made.unwrap(),
            "Before\n\n<!-- from a.rs -->\n\n```rust\nfn f() {}\n```\n\n<!-- end -->\nAfter\n"
        );
    }

    #[test]
    fn a_document_loses_its_title_and_links_out_of_the_book() {
        let source = "# T\n\nSee [it](b.md), [a run](runs/r.json).\n\n## H\n";
        let made = renewed(("a.md", source), "<!-- from a.md -->\n<!-- end -->\n").unwrap();
        assert!(
            made.contains("See [it](other.md), a run.\n\n### H\n"),
            "{made}"
        );
        assert!(!made.contains("# T\n"), "{made}");
    }

    #[test]
    fn tables_alone_can_be_taken() {
        let source = "Words\n\n| a |\n|---|\n\nmore\n\n| b |\n|---|\n";
        let made = renewed(("a.md", source), "<!-- table from a.md -->\n<!-- end -->\n").unwrap();
        assert_eq!(
            made,
            "<!-- table from a.md -->\n\n| a |\n|---|\n\n| b |\n|---|\n\n<!-- end -->\n"
        );
    }

    #[test]
    fn first_tables_are_one_if_their_headings_are() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        write("a.md", "A\n\n| x |\n|---|\n| 1 |\n\n| y |\n|---|\n| 9 |\n");
        write("b.md", "| x |\n|---|\n| 2 |\n");
        write("c.md", "| z |\n|---|\n| 3 |\n");
        let made = first_tables("a.md, b.md", folder.path()).unwrap();
        assert_eq!(made, "| x |\n|---|\n| 1 |\n| 2 |\n");
        assert!(first_tables("a.md, c.md", folder.path()).is_err());
    }

    #[test]
    fn copied_parts_are_not_a_pages_own() {
        let page = "Mine.\n<!-- from a.md -->\nIts.\n<!-- end -->\nMine.\n";
        assert_eq!(own(page), "Mine.\n\nMine.\n");
    }

    #[test]
    fn a_table_of_runs_is_made_from_the_documents_folder() {
        let page = "<!-- courses at 1\nvalid of . as A\n-->\nold\n<!-- end -->\nAfter\n";
        let folder = tempfile::tempdir().unwrap();
        let (metrics, path) = ("metrics.jsonl", folder.path().join("page.md"));
        let line = r#"{"epoch":1,"kind":"check","valid":{"mean":2.5}}"#;
        fs::write(folder.path().join(metrics), line).unwrap();
        fs::write(&path, page).unwrap();
        let made = renew(&path, folder.path(), &Pages::new()).unwrap();
        let table = "| epoch | A |\n|---|---|\n| 1 | 2.50 |";
        assert_eq!(made, page.replace("old", &format!("\n{table}\n")));
        assert_eq!(own(page), "\nAfter\n");
    }

    #[test]
    fn a_copied_document_keeps_its_parts_without_their_comments() {
        let part = "<!-- runs\na as A\n-->\n\n| a |\n|---|\n\n<!-- end -->\n";
        let source = format!("# T\n\nOne\n\n{part}\n{part}Two\n");
        let page = "<!-- from a.md -->\n<!-- end -->\nAfter\n";
        let made = renewed(("a.md", &source), page).unwrap();
        let copy = "One\n\n| a |\n|---|\n\n| a |\n|---|\n\nTwo";
        assert_eq!(
            made,
            format!("<!-- from a.md -->\n\n{copy}\n\n<!-- end -->\nAfter\n")
        );
    }

    #[test]
    fn a_part_without_end_or_source_is_refused() {
        assert!(renewed(("a.rs", ""), "<!-- from a.rs -->\n").is_err());
        assert!(renewed(("a.rs", ""), "<!-- from c.rs -->\n<!-- end -->\n").is_err());
    }
}
