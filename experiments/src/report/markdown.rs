//! A report in Markdown, and the tables that runs keep in Markdown, read.

use super::document::{Block, Column, Datum, Document, Kind, Table};
use crate::table::markdown::{heading, line};

/// The document; figures and images are named by their files.
pub fn render(document: &Document) -> String {
    let mut out = format!("# {}\n", escape(&document.title));
    for section in &document.sections {
        out += &format!("\n## {}\n", escape(&section.title));
        blocks(&section.blocks, &mut out);
    }
    out
}

fn blocks(of: &[Block], out: &mut String) {
    for block in of {
        match block {
            Block::Text(text) => *out += &format!("\n{}\n", escape(text)),
            Block::Notes(notes) => {
                out.push('\n');
                for note in notes {
                    *out += &format!("- {}\n", escape(note));
                }
            }
            Block::Table(table) => *out += &render_table(table),
            Block::Figure { name, figure } => {
                let title = escape(&figure.title);
                *out += &format!("\n![{title}](figures/{name}.svg)\n");
            }
            Block::Image { name, caption, .. } => {
                *out += &format!("\n![{}](images/{name})\n", escape(caption));
            }
            Block::Folded { title, blocks: of } => {
                *out += &format!("\n### {}\n", escape(title));
                blocks(of, out);
            }
        }
    }
}

fn render_table(table: &Table) -> String {
    let heads: Vec<String> = table.columns.iter().map(|c| escape(&c.head)).collect();
    let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
    let mut out = format!("\n{}:\n\n{}", escape(&table.caption), heading(&heads));
    for row in &table.rows {
        let cells: Vec<String> = row.iter().map(|datum| escape(&datum.text)).collect();
        out += &line(&cells);
    }
    out
}

/// Nothing in the text is taken for markup, a line's end for that of a row, or a part of it for HTML.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\\' | '`' | '*' | '_' | '|' | '[' | ']' | '#' | '~' | '!' => {
                out.extend(['\\', character])
            }
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '&' => out += "&amp;",
            '\n' | '\r' => out.push(' '),
            character => out.push(character),
        }
    }
    out
}

/// The tables, lists and paragraphs of a `table.md` that a run keeps; its title is left out. Tables are named after `id`.
pub fn read(text: &str, id: &str) -> Vec<Block> {
    let mut found: Vec<Block> = Vec::new();
    let mut heads: Option<Vec<String>> = None;
    let mut tables = 0;
    for text in text.lines().map(str::trim) {
        let cells = text
            .strip_prefix('|')
            .and_then(|text| text.strip_suffix('|'));
        let Some(cells) = cells.map(split) else {
            heads = None;
            match (text.strip_prefix("- "), found.last_mut()) {
                _ if text.is_empty() || text.starts_with('#') => {}
                (Some(note), Some(Block::Notes(notes))) => notes.push(unescape(note)),
                (Some(note), _) => found.push(Block::Notes(vec![unescape(note)])),
                (None, _) => found.push(Block::Text(unescape(text))),
            }
            continue;
        };
        match (&heads, found.last_mut()) {
            (None, _) => heads = Some(cells),
            (Some(heads), _) if cells.iter().all(|cell| is_rule(cell)) => {
                tables += 1;
                let columns = heads.iter().map(|head| Column::new(head, kind(head)));
                found.push(Block::Table(Table {
                    name: format!("{id}-table-{tables}"),
                    caption: "As the run has written it".into(),
                    columns: columns.collect(),
                    rows: Vec::new(),
                }));
            }
            (Some(heads), Some(Block::Table(table))) => {
                let mut row: Vec<Datum> = cells.into_iter().map(Datum::from).collect();
                row.resize(heads.len(), Datum::default());
                table.rows.push(row);
            }
            _ => {}
        }
    }
    found
}

fn kind(head: &str) -> Kind {
    match head.to_lowercase().contains("published") {
        true => Kind::Published,
        false => Kind::Plain,
    }
}

fn is_rule(cell: &str) -> bool {
    cell.len() >= 3 && cell.chars().all(|c| c == '-' || c == ':')
}

/// The cells between bars that no backslash is before.
fn split(row: &str) -> Vec<String> {
    let (mut cells, mut cell, mut escaped) = (Vec::new(), String::new(), false);
    for character in row.chars() {
        if character == '|' && !escaped {
            cells.push(std::mem::take(&mut cell));
        } else {
            cell.push(character);
        }
        escaped = character == '\\' && !escaped;
    }
    cells.push(cell);
    cells.iter().map(|cell| unescape(cell.trim())).collect()
}

fn unescape(text: &str) -> String {
    text.replace("\\*", "*").replace("\\|", "|")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_is_markup() {
        let escaped = escape("a_b*c*|d|<script>[x](y)\n# z");
        assert_eq!(escaped, "a\\_b\\*c\\*\\|d\\|&lt;script&gt;\\[x\\](y) \\# z");
    }

    #[test]
    fn a_table_that_a_run_keeps_is_read_back() {
        let text = "# Title\n\nWords \\* here.\n\n| p₀ | a \\| b | Published |\n| --- | --- | --- |\n| 0.49 | 1 ± 2 | 3 |\n\
                    | 0.5 |\n\n- a note\n- another\n";
        let blocks = read(text, "toy");
        let [Block::Text(words), Block::Table(table), Block::Notes(notes)] = &blocks[..] else {
            panic!("{blocks:?}")
        };
        assert_eq!(words, "Words * here.");
        let heads: Vec<_> = table
            .columns
            .iter()
            .map(|c| (c.head.as_str(), c.kind))
            .collect();
        assert_eq!(heads[1], ("a | b", Kind::Plain));
        assert_eq!(heads[2], ("Published", Kind::Published));
        assert_eq!(table.rows[0][1].text, "1 ± 2");
        assert_eq!(table.rows[1].len(), 3);
        assert_eq!(notes.len(), 2);
    }

    #[test]
    fn the_recorded_toy_has_its_four_tables() {
        let text = include_str!("../../results/arm-toy/table.md");
        let tables = read(text, "arm-toy")
            .into_iter()
            .filter_map(|block| match block {
                Block::Table(table) => Some(table.rows.len()),
                _ => None,
            });
        assert_eq!(tables.collect::<Vec<_>>(), [16, 10, 5, 4]);
    }
}
