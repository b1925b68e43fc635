//! One document in every format, and the folder that it is written into.

use helmholtz_report::figure::{Axis, Figure, Panel, Series};
use helmholtz_report::picture::{GREY, Picture};
use helmholtz_report::{Block, Cell, Document, Note, Section, Table};
use helmholtz_report::{document, files, html, latex, text};
use std::fs;
use std::path::Path;

fn table(name: &str, caption: &str) -> Table {
    let mut table = Table::new(name, caption, ["Net", "Steps", "Ours", "Seconds"]).with_details(1);
    table.push([
        "Linear".into(),
        Cell::count(500),
        Cell::scientific(0.000_123_45, 2),
        Cell::fixed(7.0, 1),
    ]);
    table
}

fn figure() -> Figure {
    let series = vec![Series::line("a", 0, vec![[1.0, 2.0]])];
    Figure {
        title: "f".into(),
        columns: 1,
        panels: vec![Panel::new("", Axis::linear("x"), Axis::log("y"), series)],
    }
}

fn image(name: &str) -> Block {
    let picture = Picture::grid(&[vec![vec![0; 4], vec![255; 4]]], 2);
    Block::Image {
        name: name.into(),
        caption: name.into(),
        bytes: picture.png(),
    }
}

/// Two sections; a table and an image are folded.
fn document() -> Document {
    let section = |id: &str, title: &str, blocks| Section {
        id: id.into(),
        title: title.into(),
        blocks,
    };
    let folded = Block::Folded {
        title: "More".into(),
        blocks: vec![Block::Table(table("second", "Second")), image("c.png")],
    };
    let first = vec![
        Block::Table(table("first", "First")),
        Block::Table(table("other", "Other")),
        Block::Notes(vec![Note::caution("look here"), Note::remark("aside")]),
        image("a.png"),
        image("b.png"),
        Block::Text("between".into()),
        image("d.png"),
    ];
    let figure = Block::Figure {
        name: "fig".into(),
        figure: figure(),
    };
    Document {
        title: "All of it".into(),
        sections: vec![
            section("one", "One", first),
            section("two", "Two", vec![folded, figure]),
        ],
    }
}

/// The files below a folder, in order.
fn listed(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_document_is_written_in_all_formats() {
    let dir = tempfile::tempdir().unwrap();
    let paths = files::write(&document(), None, dir.path()).unwrap();
    let names = ["report.html", "report.md", "report.tex"].map(|name| dir.path().join(name));
    assert_eq!(paths, names);
    assert_eq!(
        fs::read_to_string(&paths[2]).unwrap(),
        latex::render(&document())
    );
    assert_eq!(
        listed(&dir.path().join("tables")),
        ["first.csv", "other.csv", "second.csv"]
    );
    assert_eq!(listed(&dir.path().join("figures")), ["fig.csv", "fig.svg"]);
    assert_eq!(
        listed(&dir.path().join("images")),
        ["a.png", "b.png", "c.png", "d.png"]
    );
    let Block::Image { bytes, .. } = image("a.png") else {
        panic!("an image")
    };
    assert_eq!(fs::read(dir.path().join("images/a.png")).unwrap(), bytes);
}

#[test]
fn a_report_that_is_written_again_takes_its_own_older_files_away_and_no_others() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    // Before there was a report here, nothing is its own.
    fs::create_dir(at("tables")).unwrap();
    fs::write(at("tables/mine.csv"), "1").unwrap();
    files::write(&document(), None, dir.path()).unwrap();
    assert!(at("tables/mine.csv").is_file());

    fs::write(at("tables/notes.txt"), "mine").unwrap();
    fs::write(at("tables/README"), "mine").unwrap();
    fs::create_dir(at("tables/folder.csv")).unwrap();
    let short = Document::of_blocks("Short", vec![Block::Table(table("first", "First"))]);
    files::write(&short, None, dir.path()).unwrap();
    assert_eq!(
        listed(&at("tables")),
        ["README", "first.csv", "folder.csv", "notes.txt"]
    );
    assert!(listed(&at("figures")).is_empty() && listed(&at("images")).is_empty());
}

#[test]
fn every_table_is_found_with_its_section() {
    let document = document();
    let found: Vec<(&str, &str)> = document::tables(&document)
        .into_iter()
        .map(|(section, table)| (section.id.as_str(), table.name.as_str()))
        .collect();
    assert_eq!(
        found,
        [("one", "first"), ("one", "other"), ("two", "second")]
    );
    assert_eq!(document.into_blocks().len(), 9);
}

#[test]
fn latex_has_a_heading_for_each_section_that_has_tables() {
    let text = latex::render(&document());
    assert!(text.starts_with("\\documentclass") && text.ends_with("\\end{document}\n"));
    let places = [
        "section*{One}",
        "First:",
        "Other:",
        "section*{Two}",
        "Second:",
    ]
    .map(|part| (text.find(part), text.matches(part).count()));
    assert!(
        places.windows(2).all(|pair| pair[0].0 < pair[1].0),
        "{places:?}"
    );
    assert!(
        places
            .iter()
            .all(|(place, count)| place.is_some() && *count == 1)
    );
    assert!(text.contains("Linear & 500 & 1.23e-4 & 7.0"), "{text}");
}

#[test]
fn a_page_sets_neighbouring_images_side_by_side_and_marks_cautions() {
    let page = html::render(&document(), None);
    let rows: Vec<&str> = page.split("<div class=\"images\">").skip(1).collect();
    assert_eq!(rows.len(), 1, "two images in a row, two by themselves");
    let inner = rows[0].split("</div>").next().unwrap();
    assert_eq!(inner.matches("<img").count(), 2);
    assert!(inner.contains("a.png") && inner.contains("b.png"));
    assert_eq!(page.matches("<img").count(), 4);
    assert!(page.contains("<li class=\"caution\">look here</li>"));
    assert!(page.contains("<li>aside</li>"));
}

#[test]
fn a_terminal_leaves_details_out_and_aligns_numbers_alone() {
    let mut table = Table::new("t", "", ["Name", "Steps", "About", "Seconds"]).with_details(1);
    for (name, steps, about) in [("long name", 5.0, "x"), ("b", 1500.0, "yyy")] {
        table.push([
            name.into(),
            Cell::fixed(steps, 0),
            about.into(),
            Cell::fixed(1.0, 1),
        ]);
    }
    let document = Document::of_blocks("T", vec![Block::Table(table)]);
    let shown = text::render(&document, false);
    let lines: Vec<&str> = shown.lines().map(str::trim_end).collect();
    assert_eq!(lines[2], "Name       Steps  About");
    assert_eq!(lines[4], "long name      5  x");
    assert_eq!(lines[5], "b           1500  yyy");
}

#[test]
fn a_first_column_of_numbers_is_aligned_like_a_name() {
    let mut table = Table::new("t", "", ["K", "NLL"]);
    for k in [5.0, 1000.0] {
        table.push([Cell::fixed(k, 0), Cell::fixed(k / 10.0, 1)]);
    }
    let shown = text::render(&Document::of_blocks("T", vec![Block::Table(table)]), false);
    let lines: Vec<&str> = shown.lines().map(str::trim_end).collect();
    assert_eq!(
        lines[2..],
        [
            "K       NLL",
            "───────────",
            "5       0.5",
            "1000  100.0",
            "───────────"
        ]
    );
}

#[test]
fn pictures_say_their_size_and_pixels() {
    let picture = Picture::grid(&[vec![vec![7; 9]], vec![vec![8; 9]]], 3);
    // One image and two margins of two pixels; two images and three margins.
    assert_eq!(picture.width(), 7);
    assert_eq!(picture.pixels().len(), 7 * 12);
    let count = |value: u8| picture.pixels().iter().filter(|p| **p == value).count();
    assert_eq!((count(7), count(8), count(GREY)), (9, 9, 7 * 12 - 18));
    assert_eq!(Picture::grid(&[], 3).pixels().len(), 4);
}

#[test]
fn axes_say_what_they_are() {
    assert!(Axis::log("y").log && !Axis::linear("y").log);
    // What is not positive is no value of a logarithmic axis; zero is one of a linear axis.
    let points = vec![[0.0, 0.0], [1.0, 1.0], [2.0, 10.0]];
    let lines = |y: Axis| {
        let panel = Panel::new(
            "",
            Axis::linear("x"),
            y,
            vec![Series::new(
                "a",
                helmholtz_report::figure::Mark::Points,
                0,
                points.clone(),
            )],
        );
        let figure = Figure {
            title: String::new(),
            columns: 1,
            panels: vec![panel],
        };
        figure.svg().matches("<circle").count()
    };
    // Three in the legend.
    assert_eq!((lines(Axis::linear("y")), lines(Axis::log("y"))), (6, 5));
}

#[test]
fn one_table_has_a_file_of_its_own_name_and_several_say_which() {
    let dir = tempfile::tempdir().unwrap();
    let written = |names: &[&str]| {
        let tables = names
            .iter()
            .map(|name| Block::Table(Table::new(*name, "", ["a"])));
        let document = Document::of_blocks("Title", tables.collect());
        let paths = files::write_tables(&document, dir.path()).unwrap();
        let names = paths
            .iter()
            .map(|path| path.file_name().unwrap().to_string_lossy());
        names.map(String::from).collect::<Vec<_>>()
    };
    assert_eq!(written(&["ends"]), ["table.md", "table.csv"]);
    assert_eq!(
        written(&["first", "second"]),
        ["table.md", "table-first.csv", "table-second.csv"]
    );
}
