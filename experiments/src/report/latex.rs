//! The tables of a report in LaTeX.

use super::document::{Document, Kind, Table, tables};

/// A document of all tables, which `pdflatex` takes as it is; figures are files of their own.
pub fn render(document: &Document) -> String {
    let mut out = format!(
        "\\documentclass{{article}}\n\\usepackage[T1]{{fontenc}}\n\\usepackage[utf8]{{inputenc}}\n\\usepackage{{longtable}}\n\
         \\usepackage{{amssymb}}\n\\usepackage[landscape,margin=15mm]{{geometry}}\n\\title{{{}}}\n\\date{{}}\n\\begin{{document}}\n\
         \\maketitle\n% Published numbers are set in italics, in columns of their own.\n",
        escape(&document.title)
    );
    let mut section = "";
    for (of, table) in tables(document) {
        if of.id != section {
            out += &format!("\n\\section*{{{}}}\n", escape(&of.title));
            section = &of.id;
        }
        out += &render_table(table);
    }
    out + "\n\\end{document}\n"
}

/// A table over as many pages as it needs.
pub fn render_table(table: &Table) -> String {
    let align = |kind| match kind {
        Kind::Plain => 'l',
        Kind::Own | Kind::Published => 'r',
    };
    let columns: String = table
        .columns
        .iter()
        .map(|column| align(column.kind))
        .collect();
    let line = |cells: Vec<String>| format!("{} \\\\\n", cells.join(" & "));
    let heads = table.columns.iter();
    let heads = line(
        heads
            .map(|c| format!("\\textbf{{{}}}", escape(&c.head)))
            .collect(),
    );
    let mut out = format!(
        "\n\\noindent {}:\n\n{{\\scriptsize\\begin{{longtable}}{{{columns}}}\n\\hline\n{heads}\\hline\n\\endhead\n",
        escape(&table.caption)
    );
    for row in &table.rows {
        let cells = row.iter().zip(&table.columns).map(|(datum, column)| {
            let text = escape(&datum.text);
            match column.kind {
                Kind::Published => format!("\\textit{{{text}}}"),
                _ => text,
            }
        });
        out += &line(cells.collect());
    }
    out + "\\hline\n\\end{longtable}}\n"
}

/// Nothing in the text is taken for a command; signs that LaTeX's usual encodings lack are spelled.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        let spelled = match character {
            '\\' => "\\textbackslash{}",
            '{' => "\\{",
            '}' => "\\}",
            '$' => "\\$",
            '&' => "\\&",
            '#' => "\\#",
            '%' => "\\%",
            '_' => "\\_",
            '~' => "\\textasciitilde{}",
            '^' => "\\textasciicircum{}",
            '<' => "\\textless{}",
            '>' => "\\textgreater{}",
            '|' => "\\textbar{}",
            '"' => "\\textquotedbl{}",
            '`' => "\\textasciigrave{}",
            '±' => "$\\pm$",
            '×' => "$\\times$",
            '−' => "$-$",
            '–' => "--",
            '—' => "---",
            '√' => "$\\surd$",
            '²' => "$^2$",
            '₀' => "$_0$",
            'ε' => "$\\varepsilon$",
            'σ' => "$\\sigma$",
            'τ' => "$\\tau$",
            'μ' => "$\\mu$",
            'η' => "$\\eta$",
            'θ' => "$\\theta$",
            'φ' => "$\\phi$",
            'Ẑ' => "$\\hat Z$",
            'Δ' => "$\\Delta$",
            'Σ' => "$\\Sigma$",
            '∇' => "$\\nabla$",
            '‖' => "$\\|$",
            '½' => "$\\frac12$",
            '≤' => "$\\le$",
            '≥' => "$\\ge$",
            '·' => "$\\cdot$",
            '†' => "$\\dagger$",
            '…' => "\\dots{}",
            '\n' | '\r' => " ",
            character => {
                out.push(character);
                continue;
            }
        };
        out += spelled;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::document::{Column, Datum};
    use std::path::Path;

    #[test]
    fn special_characters_are_text() {
        assert_eq!(
            escape("50% of {a_b} & #1 \\input{x} $y$ ~z^2 <T> 1 ± 2"),
            "50\\% of \\{a\\_b\\} \\& \\#1 \\textbackslash{}input\\{x\\} \\$y\\$ \\textasciitilde{}z\\textasciicircum{}2 \
             \\textless{}T\\textgreater{} 1 $\\pm$ 2"
        );
    }

    #[test]
    fn what_the_recorded_tables_hold_is_spelled_in_ascii() {
        let home = Path::new(env!("CARGO_MANIFEST_DIR")).join("results");
        let (mut folders, mut tables) = (vec![home], 0);
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.ends_with("table.md") {
                    let escaped = escape(&std::fs::read_to_string(&path).unwrap());
                    let odd: String = escaped.chars().filter(|c| !c.is_ascii()).collect();
                    assert!(odd.is_empty(), "{odd} in {}", path.display());
                    tables += 1;
                }
            }
        }
        assert!(tables > 10, "{tables}");
        assert_eq!(
            escape("log Ẑ, ε†"),
            "log $\\hat Z$, $\\varepsilon$$\\dagger$"
        );
    }

    #[test]
    fn a_table_has_its_columns_and_published_numbers_in_italics() {
        let table = Table {
            name: "t".into(),
            caption: "100 % of it".into(),
            columns: vec![
                Column::plain("Net_1"),
                Column::new("Ours", Kind::Own),
                Column::new("Published", Kind::Published),
            ],
            rows: vec![vec![
                "a & b".into(),
                Datum::number("105.93".into(), 105.93),
                Datum::number("105.5 ± 0.1".into(), 105.5),
            ]],
        };
        let text = render_table(&table);
        assert!(
            text.contains("{lrr}") && text.contains("100 \\% of it"),
            "{text}"
        );
        let row = "a \\& b & 105.93 & \\textit{105.5 $\\pm$ 0.1} \\\\\n";
        assert!(text.contains(row), "{text}");
    }
}
