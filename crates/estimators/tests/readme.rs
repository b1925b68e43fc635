//! The README's table of methods is the catalogue's.

use std::fs;
use std::path::Path;

use helmholtz_estimators::markdown;

const START: &str = "<!-- catalogue -->\n";
const END: &str = "<!-- end of catalogue -->";

/// With `UPDATE_README=1` in the environment the table is written anew instead of compared.
#[test]
fn the_readme_shows_the_catalogue() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let readme = fs::read_to_string(&path).unwrap();
    let (before, rest) = readme.split_once(START).expect("a place for the table");
    let (shown, after) = rest.split_once(END).expect("an end of the table");
    let table = format!("\n{}\n", markdown());
    if std::env::var_os("UPDATE_README").is_some() {
        fs::write(&path, format!("{before}{START}{table}{END}{after}")).unwrap();
    } else {
        assert_eq!(shown, table, "run this test with UPDATE_README=1");
    }
}
