//! `cargo xtask documents`: checks the project's documents, and makes the parts that are made.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

use helmholtz_documents::prose::{Count, LONG, Sentence};
use helmholtz_documents::{links, parts, prose, records, tree, tutorial};

const HELP: &str = "\
Usage: cargo xtask documents [--write | --long [PATH [WORDS]] | --tutorials [PAGE]...]

Checks every Markdown file and doc comment: links, parts and numbers of records, the length of sentences.

  --write              Makes the copied parts anew
  --long [PATH [WORDS]]
                       Prints the sentences of more than 35 words, or so many, of files whose path starts so
  --tutorials [PAGE]   Carries out these tutorials of the book, or all of docs/src/add";

/// The largest share of long sentences, in percent.
const MOST_LONG: f64 = 2.0;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let root = tree::workspace();
    let outcome = match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => check(&root),
        ["--write"] => write(&root),
        ["--long"] => long(&root, "", LONG),
        ["--long", path] => long(&root, path, LONG),
        ["--long", path, words] => match words.parse() {
            Ok(words) => long(&root, path, words),
            Err(_) => Err(HELP.into()),
        },
        ["--tutorials", ref pages @ ..] => tutorials(&root, pages),
        _ => Err(HELP.into()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))
}

fn files(root: &Path, extension: &str) -> Result<Vec<std::path::PathBuf>, String> {
    tree::files(root, extension).map_err(|e| format!("{}: {e}", root.display()))
}

/// The sentences of each document: those of people, not of the program.
fn sentences(root: &Path) -> Result<BTreeMap<String, Vec<Sentence>>, String> {
    let mut found = BTreeMap::new();
    for (extension, of) in [
        (
            "md",
            (|text| prose::sentences(&parts::own(text))) as fn(&str) -> Vec<Sentence>,
        ),
        ("rs", prose::of_doc_comments),
    ] {
        for path in files(root, extension)? {
            let text = read(&path)?;
            // A page that is made of doc comments has no sentences of its own.
            if !tree::is_record(&path) && !text.starts_with("<!-- Made by") {
                let name = path.strip_prefix(root).unwrap_or(&path);
                found.insert(name.to_string_lossy().into_owned(), of(&text));
            }
        }
    }
    Ok(found)
}

/// The folder that the links of a document may not leave: its package, the book, or the workspace.
fn home<'a>(path: &'a Path, root: &'a Path) -> &'a Path {
    let book = path.starts_with(root.join("docs/src"));
    let is_home = |folder: &&Path| {
        folder.starts_with(root.join("crates")) && folder.join("Cargo.toml").exists()
            || book && folder.ends_with("docs/src")
    };
    path.ancestors().find(is_home).unwrap_or(root)
}

fn check(root: &Path) -> Result<(), String> {
    let mut problems = Vec::new();
    let documents = files(root, "md")?;
    for path in &documents {
        let text = read(path)?;
        problems.extend(links::problems(path, home(path, root), &text));
        let folder = path.parent().unwrap_or(root);
        for unlike in records::unlike(&text, folder)? {
            problems.push(format!("{}: {unlike}", path.display()));
        }
    }
    let book = root.join("docs/src");
    let pages = files(&book, "md")?;
    problems.extend(links::unlisted(&book, &pages));
    let whole = parts::pages(root, &pages);
    for path in &documents {
        if parts::renew(path, root, &whole)? != read(path)? {
            let name = path.display();
            problems.push(format!(
                "{name}: a copied part is old; `cargo xtask documents --write`"
            ));
        }
    }

    let (mut markdown, mut comments) = (Count::default(), Count::default());
    for (name, sentences) in sentences(root)? {
        let of = if name.ends_with(".md") {
            &mut markdown
        } else {
            &mut comments
        };
        *of += Count::of(&sentences);
    }
    for (what, count) in [("Markdown", markdown), ("doc comments", comments)] {
        let (sentences, long, share) = (count.sentences, count.long, count.percent());
        println!(
            "{what}: {long} of {sentences} sentences have more than {LONG} words: {share:.1} %"
        );
        if share > MOST_LONG {
            problems.push(format!(
                "{what}: more than {MOST_LONG} % of the sentences are long; `cargo xtask documents --long`"
            ));
        }
    }
    let (documents, pages) = (documents.len(), pages.len());
    println!("{documents} documents, {pages} of them pages of the book: links and copied parts");
    if problems.is_empty() {
        Ok(())
    } else {
        Err(problems.join("\n"))
    }
}

fn write(root: &Path) -> Result<(), String> {
    let pages = parts::pages(root, &files(&root.join("docs/src"), "md")?);
    // A page of the book may copy a document whose tables are made: those first, then their copies.
    for _ in 0..2 {
        for path in files(root, "md")? {
            let (old, new) = (read(&path)?, parts::renew(&path, root, &pages)?);
            if old != new {
                fs::write(&path, new).map_err(|e| format!("{}: {e}", path.display()))?;
                println!("{}", path.display());
            }
        }
    }
    Ok(())
}

fn long(root: &Path, start: &str, most: usize) -> Result<(), String> {
    for (name, sentences) in sentences(root)? {
        for sentence in sentences
            .iter()
            .filter(|s| s.words > most && name.starts_with(start))
        {
            println!("{name}: {} words: {}\n", sentence.words, sentence.text);
        }
    }
    Ok(())
}

fn tutorials(root: &Path, pages: &[&str]) -> Result<(), String> {
    let folder = root.join("docs/src/add");
    let all = files(&folder, "md")?;
    let chosen = |path: &&std::path::PathBuf| {
        pages.is_empty()
            || pages
                .iter()
                .any(|page| path.file_stem().is_some_and(|s| s == *page))
    };
    let mut done = 0;
    for path in all.iter().filter(chosen) {
        let steps = tutorial::steps(&read(path)?);
        println!("== {}", path.display());
        tutorial::carry_out(&steps, root).map_err(|e| format!("{}: {e}", path.display()))?;
        done += 1;
    }
    if done < pages.len().max(1) {
        return Err(format!("there is no such page in {}", folder.display()));
    }
    println!("{done} tutorials");
    Ok(())
}
