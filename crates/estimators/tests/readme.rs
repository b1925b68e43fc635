//! The README's table of methods is the catalogue's, its certificates those that were recorded.

use std::fs;
use std::path::{Path, PathBuf};

use helmholtz_estimators::markdown;

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Holds what the README shows between `<!-- name -->` and `<!-- end of name -->` to `expected`. With `UPDATE_README=1` in the
/// environment it is written anew instead.
fn section(name: &str, expected: &str) {
    let path = workspace().join("README.md");
    let readme = fs::read_to_string(&path).unwrap();
    let (start, end) = (
        format!("<!-- {name} -->\n"),
        format!("<!-- end of {name} -->"),
    );
    let (before, rest) = readme.split_once(&start).expect("a place for the table");
    let (shown, after) = rest.split_once(&end).expect("an end of the table");
    let table = format!("\n{expected}\n");
    if std::env::var_os("UPDATE_README").is_some() {
        fs::write(&path, format!("{before}{start}{table}{end}{after}")).unwrap();
    } else {
        assert_eq!(shown, table, "run this test with UPDATE_README=1");
    }
}

/// One test, because both sections may be written.
#[test]
fn the_readme_shows_the_catalogue_and_the_certificates() {
    section("catalogue", &markdown());
    let recorded = workspace().join("experiments/results/certificates.md");
    let recorded = fs::read_to_string(recorded).unwrap();
    let table: Vec<&str> = recorded.lines().filter(|l| l.starts_with('|')).collect();
    section("certificates", &format!("{}\n", table.join("\n")));
}
