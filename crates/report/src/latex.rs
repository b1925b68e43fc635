//! The tables of a report in LaTeX.

use crate::document::{Document, Kind, Table, tables};

/// A document of all tables, which `pdflatex` takes as it is; figures are files of their own.
pub fn render(document: &Document) -> String {
    let mut out = format!(
        "\\documentclass{{article}}\n\\usepackage[T1]{{fontenc}}\n\\usepackage[utf8]{{inputenc}}\n\\usepackage{{longtable}}\n\
         \\usepackage{{amssymb}}\n\\usepackage[landscape,margin=15mm]{{geometry}}\n\\title{{{}}}\n\\date{{}}\n\\begin{{document}}\n\
         \\maketitle\n% Published numbers are set in italics.\n",
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
fn render_table(table: &Table) -> String {
    let align = |column| match table.is_numeric(column) {
        true => 'r',
        false => 'l',
    };
    let columns: String = (0..table.columns.len()).map(align).collect();
    let line = |cells: Vec<String>| format!("{} \\\\\n", cells.join(" & "));
    let heads = table.columns.iter();
    let heads = line(
        heads
            .map(|head| format!("\\textbf{{{}}}", escape(head)))
            .collect(),
    );
    let mut out = format!(
        "\n\\noindent {}:\n\n{{\\scriptsize\\begin{{longtable}}{{{columns}}}\n\\hline\n{heads}\\hline\n\\endhead\n",
        escape(&table.caption)
    );
    for row in &table.rows {
        let cells = row.iter().map(|cell| {
            let text = escape(&cell.text);
            match cell.kind {
                Kind::Published | Kind::Quoted => format!("\\textit{{{text}}}"),
                _ => text,
            }
        });
        out += &line(cells.collect());
    }
    out + "\\hline\n\\end{longtable}}\n"
}

/// Commands of the small Greek letters in the order of their code points; omicron has none.
const GREEK: &str = "alpha beta gamma delta varepsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho varsigma sigma tau \
                     upsilon phi chi psi omega";

fn greek(letter: char) -> Option<&'static str> {
    let place = u32::from(letter).checked_sub(u32::from('α'))?;
    GREEK.split(' ').nth(place as usize)
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
                match greek(character) {
                    Some(name) => out += &format!("$\\{name}$"),
                    None => out.push(character),
                }
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
    use crate::document::Cell;

    #[test]
    fn special_characters_are_text() {
        assert_eq!(
            escape("50% of {a_b} & #1 \\input{x} $y$ ~z^2 <T> 1 ± 2"),
            "50\\% of \\{a\\_b\\} \\& \\#1 \\textbackslash{}input\\{x\\} \\$y\\$ \\textasciitilde{}z\\textasciicircum{}2 \
             \\textless{}T\\textgreater{} 1 $\\pm$ 2"
        );
    }

    #[test]
    fn signs_beyond_ascii_are_spelled() {
        assert_eq!(
            escape("log Ẑ, ε†, OVIS (γ = 1), αλφσω"),
            "log $\\hat Z$, $\\varepsilon$$\\dagger$, OVIS ($\\gamma$ = 1), $\\alpha$$\\lambda$$\\phi$$\\sigma$$\\omega$"
        );
    }

    #[test]
    fn a_table_has_its_columns_and_published_numbers_in_italics() {
        let mut table = Table::new("t", "100 % of it", ["Net_1", "Ours", "Published"]);
        table.push([
            "a & b".into(),
            Cell::number(Kind::Ours, "105.93", 105.93),
            Cell::number(Kind::Published, "105.5 ± 0.1", 105.5),
        ]);
        let text = render_table(&table);
        assert!(
            text.contains("{lrr}") && text.contains("100 \\% of it"),
            "{text}"
        );
        let row = "a \\& b & 105.93 & \\textit{105.5 $\\pm$ 0.1} \\\\\n";
        assert!(text.contains(row), "{text}");
    }
}
