//! A document in Markdown.

use crate::document::{Block, Document, Note, Table};

/// The document; figures and images are named by their files.
pub fn render(document: &Document) -> String {
    let mut out = format!("# {}\n", escape(&document.title));
    for section in &document.sections {
        if !section.title.is_empty() {
            out += &format!("\n## {}\n", escape(&section.title));
        }
        blocks(&section.blocks, &mut out);
    }
    out
}

fn blocks(of: &[Block], out: &mut String) {
    for block in of {
        match block {
            Block::Text(text) => *out += &format!("\n{}\n", escape(text)),
            Block::Verbatim(text) => {
                // Indented by four: no line of it can end the block.
                let lines = text.lines().map(|line| format!("    {line}\n"));
                *out += &format!("\n{}", lines.collect::<String>());
            }
            Block::Notes(notes) => {
                out.push('\n');
                out.extend(notes.iter().map(note));
            }
            Block::Table(of) => *out += &table(of),
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

fn note(note: &Note) -> String {
    let text = escape(&note.text);
    match note.is_caution() {
        true => format!("- **{text}**\n"),
        false => format!("- {text}\n"),
    }
}

fn table(table: &Table) -> String {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let caption = match table.caption.as_str() {
        "" => String::new(),
        caption => format!("\n{}:\n", escape(caption)),
    };
    let heads = table.columns.iter().map(|head| escape(head));
    let rules = table.columns.iter().map(|_| "---".to_string());
    let mut out = format!(
        "{caption}\n{}{}",
        line(heads.collect()),
        line(rules.collect())
    );
    for row in &table.rows {
        out += &line(row.iter().map(|cell| escape(&cell.text)).collect());
    }
    out
}

/// Nothing in the text is taken for markup, a line's end for that of a row, or a part of it for HTML.
pub fn escape(text: &str) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{Cell, Kind};

    #[test]
    fn nothing_in_a_text_is_markup() {
        let escaped = escape("a_b*c*|d|<script>[x](y)\n# z");
        assert_eq!(escaped, "a\\_b\\*c\\*\\|d\\|&lt;script&gt;\\[x\\](y) \\# z");
    }

    #[test]
    fn a_document_of_blocks_has_one_heading_and_cautions_stand_out() {
        let mut table = Table::new("t", "", ["Method", "Ours"]);
        table.push(["a|b".into(), Cell::number(Kind::Ours, "1.0", 1.0)]);
        let notes = vec![Note::caution("Cut short."), Note::remark("S = 100.")];
        let blocks = vec![
            Block::Text("Words.".into()),
            Block::Table(table),
            Block::Notes(notes),
        ];
        assert_eq!(
            render(&Document::of_blocks("Title", blocks)),
            "# Title\n\nWords.\n\n| Method | Ours |\n| --- | --- |\n| a\\|b | 1.0 |\n\n- **Cut short.**\n- S = 100.\n"
        );
    }
}
