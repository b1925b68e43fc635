//! The kit finds every defect of the gallery, and nothing in the repaired twins.

#[path = "../examples/gallery/specimens/mod.rs"]
mod specimens;

use specimens::{REPAIRED, find};

#[test]
fn every_defect_is_found_and_the_table_of_the_readme_is_what_it_took() {
    let table = specimens::table().unwrap();
    println!("{table}");
    assert!(!table.contains("NOT FOUND"), "{table}");
    let readme = include_str!("../README.md");
    assert!(
        readme.contains(&table),
        "the README has another table; put in what `cargo run -p helmholtz-invariance --example gallery` prints:\n{table}"
    );
}

#[test]
fn nothing_is_found_in_the_repaired_twins() {
    for specimen in specimens::all() {
        assert!(
            find(&specimen, REPAIRED).unwrap().is_none(),
            "{}",
            specimen.defect
        );
    }
}
