//! Links that lead nowhere, or out of where they may lead.

use std::collections::HashSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// The targets of a text's links and pictures.
pub fn targets(markdown: &str) -> Vec<String> {
    let of = |event| match event {
        Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
            Some(dest_url.into_string())
        }
        _ => None,
    };
    Parser::new_ext(markdown, Options::ENABLE_TABLES)
        .filter_map(of)
        .collect()
}

/// What a heading's anchor is called: small letters and digits, blanks as hyphens.
fn slug(heading: &str) -> String {
    let letter = |c: char| match c {
        ' ' => Some('-'),
        c if c.is_alphanumeric() || c == '-' || c == '_' => Some(c),
        _ => None,
    };
    heading
        .trim()
        .to_lowercase()
        .chars()
        .filter_map(letter)
        .collect()
}

/// The anchors of a text.
fn anchors(markdown: &str) -> HashSet<String> {
    let (mut found, mut heading) = (HashSet::new(), None::<String>);
    for event in Parser::new_ext(markdown, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::End(TagEnd::Heading(_)) => {
                found.insert(slug(&heading.take().unwrap_or_default()));
            }
            Event::Text(text) | Event::Code(text) => {
                if let Some(heading) = &mut heading {
                    heading.push_str(&text);
                }
            }
            _ => {}
        }
    }
    found
}

/// The path without `.` and `..`, which need not exist.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => _ = plain.pop(),
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    plain
}

/// What is wrong with the links of the document at `path`, none of which may leave `home`. Addresses of other hosts are not
/// followed: this needs no network.
pub fn problems(path: &Path, home: &Path, markdown: &str) -> Vec<String> {
    let mut found = Vec::new();
    for target in targets(markdown) {
        if target.contains("://") || target.starts_with("mailto:") {
            continue;
        }
        let (file, anchor) = target.split_once('#').unwrap_or((&target, ""));
        let folder = path.parent().expect("a file's folder");
        let there = if file.is_empty() {
            path.into()
        } else {
            plain(&folder.join(file))
        };
        let text = || match file {
            "" => markdown.into(),
            _ => fs::read_to_string(&there).unwrap_or_default(),
        };
        let problem = if !there.starts_with(home) {
            "leaves its package or the book"
        } else if !file.is_empty() && !there.exists() {
            "leads nowhere"
        } else if !anchor.is_empty() && !anchors(&text()).contains(anchor) {
            "names a heading that is not there"
        } else {
            continue;
        };
        found.push(format!(
            "{}: the link to {target} {problem}",
            path.display()
        ));
    }
    found
}

/// The pages of the book that its summary does not name, and those that it names twice.
pub fn unlisted(book: &Path, pages: &[PathBuf]) -> Vec<String> {
    let summary = book.join("SUMMARY.md");
    let listed = targets(&fs::read_to_string(&summary).unwrap_or_default());
    let listed: Vec<_> = listed
        .iter()
        .map(|target| plain(&book.join(target)))
        .collect();
    let times = |page: &PathBuf| listed.iter().filter(|listed| *listed == page).count();
    let wrong = |page: &&PathBuf| **page != summary && times(page) != 1;
    let describe =
        |page: &PathBuf| format!("{}: {} times in the summary", page.display(), times(page));
    pages.iter().filter(wrong).map(describe).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_to_nothing_to_elsewhere_and_to_no_heading_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join("crate");
        fs::create_dir_all(home.join("src")).unwrap();
        fs::write(home.join("other.md"), "# The `third` One\n").unwrap();
        fs::write(folder.path().join("outside.md"), "").unwrap();
        let page = home.join("README.md");
        let check = |text: &str| problems(&page, &home, text).len();
        let right = "[a](other.md), [b](src), [c](https://example.org/no), [d](other.md#the-third-one)\n\n# E\n[e](#e)";
        assert_eq!(check(right), 0);
        for wrong in ["missing.md", "../outside.md", "other.md#the-fourth", "#f"] {
            assert_eq!(check(&format!("[a]({wrong})")), 1, "{wrong}");
        }
    }

    #[test]
    fn a_page_that_the_summary_forgets_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let book = folder.path();
        fs::write(book.join("SUMMARY.md"), "[A](a.md)\n\n- [B](b/c.md)\n").unwrap();
        let pages = ["a.md", "b/c.md", "d.md", "SUMMARY.md"].map(|page| book.join(page));
        assert_eq!(unlisted(book, &pages).len(), 1);
    }
}
