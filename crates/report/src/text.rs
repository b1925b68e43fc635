//! A document on a terminal.

use crate::document::{Block, Cell, Document, Note, Table};
use comfy_table::{CellAlignment, ContentArrangement, TableStyle};
use console::Style;

/// The width that paragraphs and notes are wrapped to.
const WIDTH: usize = 78;

/// The document as lines of text, with colours or plain. Figures and images are left out.
pub fn render(document: &Document, colours: bool) -> String {
    let style = |style: Style| style.force_styling(colours);
    let page = Page {
        bold: style(Style::new().bold()),
        dim: style(Style::new().dim()),
        loud: style(Style::new().yellow().bold()),
    };
    let mut lines = vec![page.bold.apply_to(&document.title).to_string()];
    for section in &document.sections {
        if !section.title.is_empty() {
            lines.push(String::new());
            lines.push(page.bold.apply_to(&section.title).to_string());
        }
        page.blocks(&section.blocks, &mut lines);
    }
    let trimmed: Vec<&str> = lines.iter().map(|line| line.trim_end()).collect();
    trimmed.join("\n") + "\n"
}

struct Page {
    bold: Style,
    dim: Style,
    loud: Style,
}

impl Page {
    fn blocks(&self, blocks: &[Block], lines: &mut Vec<String>) {
        let is_drawn = |block: &&Block| matches!(block, Block::Figure { .. } | Block::Image { .. });
        for block in blocks.iter().filter(|block| !is_drawn(block)) {
            lines.push(String::new());
            match block {
                Block::Text(text) => lines.extend(styled(text, &self.dim)),
                Block::Verbatim(text) => lines.extend(text.lines().map(String::from)),
                Block::Notes(notes) => lines.extend(notes.iter().flat_map(|note| self.note(note))),
                Block::Table(table) => self.table(table, lines),
                Block::Folded { title, blocks } => {
                    lines.push(self.bold.apply_to(title).to_string());
                    self.blocks(blocks, lines);
                }
                Block::Figure { .. } | Block::Image { .. } => {}
            }
        }
    }

    fn note(&self, note: &Note) -> Vec<String> {
        let style = match note.is_caution() {
            true => &self.loud,
            false => &self.dim,
        };
        styled(&note.text, style)
    }

    fn table(&self, table: &Table, lines: &mut Vec<String>) {
        if !table.caption.is_empty() {
            lines.extend(styled(&format!("{}:", table.caption), &self.dim));
        }
        let first = usize::from(table.grouped);
        let laid_out = layout(table, first);
        let (head, rows) = laid_out.split_first().expect("a table has a head");
        let width = laid_out
            .iter()
            .map(|line| console::measure_text_width(line));
        let rule = "─".repeat(width.max().unwrap_or(0));
        let rule = self.dim.apply_to(rule).to_string();
        lines.push(self.bold.apply_to(head).to_string());
        if !table.grouped {
            lines.push(rule.clone());
        }
        let mut group = None;
        for (line, row) in rows.iter().zip(&table.rows) {
            if table.grouped && group != Some(&row[0].text) {
                lines.push(rule.clone());
                lines.push(row[0].text.clone());
                group = Some(&row[0].text);
            }
            lines.push(line.clone());
        }
        lines.push(rule);
    }
}

/// Text in lines of at most 78 columns; later lines are indented.
fn styled(text: &str, style: &Style) -> Vec<String> {
    let options = textwrap::Options::new(WIDTH)
        .subsequent_indent("  ")
        .word_splitter(textwrap::WordSplitter::NoHyphenation);
    let lines = textwrap::wrap(text, options).into_iter();
    lines.map(|line| style.apply_to(line).to_string()).collect()
}

/// The head and the rows from column `first` on, a line each, without the details.
fn layout(table: &Table, first: usize) -> Vec<String> {
    let shown = first..table.columns.len() - table.details;
    let mut layout = comfy_table::Table::new();
    layout
        .load_style(TableStyle::new())
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(&table.columns[shown.clone()]);
    for row in &table.rows {
        layout.add_row(row[shown.clone()].iter().map(one_line));
    }
    for (index, column) in layout.column_iter_mut().enumerate() {
        // Two columns between neighbours; rows of a group are indented.
        let before = if index == 0 { 2 * first as u16 } else { 2 };
        column.set_padding((before, 0));
        if index > 0 && table.is_numeric(first + index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    layout.lines().collect()
}

fn one_line(cell: &Cell) -> String {
    cell.text.replace(['\n', '\r'], " ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Kind;

    fn document() -> Document {
        let mut table = Table::new("t", "", ["Net", "Method", "Ours", "Published"]).grouped();
        let mut push = |net: &str, method: &str, ours: f64, published: &str| {
            table.push([
                net.into(),
                method.into(),
                Cell::fixed(ours, 2),
                Cell::of(Kind::Published, published),
            ]);
        };
        push("Linear", "JSA", 105.75, "105.5 ± 0.1");
        push("Linear", "RLOO", 98.4, "-");
        push("Two layers", "JSA", 95.0, "95.3 ± 0.1");
        let notes = vec![
            Note::caution(
                "One seed of five, and so on, and so on, until the line is too long for a terminal of 80 columns.",
            ),
            Note::remark("S = 1000."),
        ];
        Document::of_blocks("Table 1", vec![Block::Table(table), Block::Notes(notes)])
    }

    #[test]
    fn numbers_are_aligned_and_groups_have_headings() {
        assert_eq!(
            render(&document(), false),
            "\
Table 1

  Method    Ours    Published
─────────────────────────────
Linear
  JSA     105.75  105.5 ± 0.1
  RLOO     98.40            -
─────────────────────────────
Two layers
  JSA      95.00   95.3 ± 0.1
─────────────────────────────

One seed of five, and so on, and so on, until the line is too long for a
  terminal of 80 columns.
S = 1000.
"
        );
    }

    #[test]
    fn colours_change_no_text() {
        let coloured = render(&document(), true);
        let plain = render(&document(), false);
        assert_ne!(coloured, plain);
        let stripped = console::strip_ansi_codes(&coloured);
        let stripped: Vec<&str> = stripped.lines().map(str::trim_end).collect();
        assert_eq!(stripped, plain.lines().collect::<Vec<_>>());
    }
}
