//! A report as one page, which needs nothing else: no network; figures, pictures and the script inside.
//!
//! The script ([`script.js`](https://docs.rs/crate/helmholtz-report/latest/source/src/script.js)) sorts and filters tables, hides curves, and
//! shows the numbers of a curve under the pointer. Without it the page is the same, at rest.

use crate::document::{Block, Cell, Document, Kind, Note, Section, Table};
use crate::escape::escape;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

/// The page; one of a document that is written again while runs go on is loaded `again` after so many seconds.
pub fn render(document: &Document, again: Option<u64>) -> String {
    let title = escape(&document.title);
    let sections: String = document.sections.iter().map(section).collect();
    let again = again.map_or(String::new(), |seconds| {
        format!("<meta http-equiv=\"refresh\" content=\"{seconds}\">\n")
    });
    let policy = policy();
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n{again}\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n{sections}\
         <script>{SCRIPT}</script>\n</body>\n</html>\n"
    )
}

/// The browser, too, is told to load nothing, and to run this script alone.
fn policy() -> String {
    let hash = STANDARD.encode(Sha256::digest(SCRIPT));
    format!(
        "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-{hash}'"
    )
}

fn section(section: &Section) -> String {
    let (id, title) = (escape(&section.id), escape(&section.title));
    let body = blocks(&section.blocks);
    let heading = match title.as_str() {
        "" => String::new(),
        title => format!("<h2>{title}</h2>\n"),
    };
    format!("<section id=\"{id}\">\n{heading}{body}</section>\n")
}

fn blocks(of: &[Block]) -> String {
    let is_image = |block: &Block| matches!(block, Block::Image { .. });
    // Images stand side by side.
    let runs = of.chunk_by(|a, b| is_image(a) && is_image(b));
    runs.map(|run| {
        let inner: String = run.iter().map(block).collect();
        match run.len() > 1 {
            true => format!("<div class=\"images\">\n{inner}</div>\n"),
            false => inner,
        }
    })
    .collect()
}

fn block(block: &Block) -> String {
    match block {
        Block::Text(text) => format!("<p>{}</p>\n", escape(text)),
        Block::Verbatim(text) => format!("<pre>{}</pre>\n", escape(text)),
        Block::Notes(notes) => {
            let items = notes
                .iter()
                .map(|note| format!("<li{}>{}</li>\n", class(note), escape(&note.text)));
            format!("<ul class=\"notes\">\n{}</ul>\n", items.collect::<String>())
        }
        Block::Table(of) => table(of),
        Block::Figure { name, figure } => {
            let svg = figure.in_page();
            let (title, name) = (escape(&figure.title), escape(name));
            format!(
                "<figure>\n{svg}\n<figcaption>{title}. Data: figures/{name}.csv</figcaption>\n</figure>\n"
            )
        }
        Block::Image {
            name,
            caption,
            bytes,
        } => {
            let (caption, data) = (escape(caption), address(name, bytes));
            format!(
                "<figure><img alt=\"{caption}\" src=\"{data}\"><figcaption>{caption}</figcaption></figure>\n"
            )
        }
        Block::Folded { title, blocks: of } => {
            let (title, body) = (escape(title), blocks(of));
            format!("<details>\n<summary>{title}</summary>\n{body}</details>\n")
        }
    }
}

/// A picture as an address.
fn address(name: &str, bytes: &[u8]) -> String {
    let kind = match name.ends_with(".svg") {
        true => "svg+xml",
        false => "png",
    };
    format!("data:image/{kind};base64,{}", STANDARD.encode(bytes))
}

fn class(note: &Note) -> &'static str {
    match note.is_caution() {
        true => " class=\"caution\"",
        false => "",
    }
}

fn table(table: &Table) -> String {
    let heads = table.columns.iter();
    let heads: String = heads
        .map(|c| format!("<th scope=\"col\">{}</th>", escape(c)))
        .collect();
    let mut rows = String::new();
    for row in &table.rows {
        let anchor = row.iter().find_map(|cell| cell.anchor.as_ref());
        let id = anchor.map_or(String::new(), |id| format!(" id=\"{}\"", escape(id)));
        rows += &format!("<tr{id}>");
        rows.extend(row.iter().map(data));
        rows += "</tr>\n";
    }
    let caption = match table.caption.as_str() {
        "" => String::new(),
        caption => format!("<caption>{}</caption>", escape(caption)),
    };
    format!(
        "<div class=\"scroll\">\n<table>\n{caption}\n<thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}</tbody>\n\
         </table>\n</div>\n"
    )
}

fn data(cell: &Cell) -> String {
    let class = match cell.kind {
        Kind::Plain => "",
        Kind::Ours => " class=\"own\"",
        Kind::Published | Kind::Quoted => " class=\"published\"",
        Kind::Difference => " class=\"difference\"",
    };
    // Columns are sorted by every digit.
    let value = cell
        .value
        .map_or(String::new(), |value| format!(" data-value=\"{value}\""));
    let text = escape(&cell.text);
    let text = match &cell.link {
        Some(place) => format!("<a href=\"#{}\">{text}</a>", escape(place)),
        None => text,
    };
    format!("<td{class}{value}>{text}</td>")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Cell;
    use crate::figure::{Axis, Figure, Panel, Series};

    /// A document with every block, and a text that would be a script wherever it stands.
    fn hostile() -> Document {
        let bad = "\"><script src=\"http://x.example/y.js\"></script>'&";
        let mut table = Table::new(bad, bad, [bad]);
        table.push([Cell {
            link: Some(bad.into()),
            anchor: Some(bad.into()),
            ..Cell::of(Kind::Published, bad)
        }]);
        let series = vec![Series::line(bad, 0, vec![[0.0, 1.0], [1.0, 2.0]])];
        let panel = Panel::new(bad, Axis::linear(bad), Axis::linear(bad), series);
        let figure = Figure {
            title: bad.into(),
            columns: 1,
            panels: vec![panel],
        };
        let blocks = vec![
            Block::Text(bad.into()),
            Block::Verbatim(bad.into()),
            Block::Notes(vec![Note::caution(bad)]),
            Block::Table(table),
            Block::Figure {
                name: bad.into(),
                figure,
            },
            Block::Image {
                name: "x.svg".into(),
                caption: bad.into(),
                bytes: bad.into(),
            },
            Block::Image {
                name: "x.png".into(),
                caption: bad.into(),
                bytes: vec![0, 255],
            },
        ];
        let folded = Block::Folded {
            title: bad.into(),
            blocks: blocks.clone(),
        };
        Document {
            title: bad.into(),
            sections: vec![Section {
                id: bad.into(),
                title: bad.into(),
                blocks: [blocks, vec![folded]].concat(),
            }],
        }
    }

    #[test]
    fn no_text_becomes_markup() {
        let page = render(&hostile(), None);
        for (tag, times) in [("<script", 1), ("</script", 1), ("src=\"http", 0)] {
            assert_eq!(page.matches(tag).count(), times, "{tag}");
        }
        assert_eq!(page.matches("<html").count(), 1);
        assert_eq!(page.matches("<h2>").count(), 1);
        assert!(page.contains("&quot;&gt;&lt;script src=&quot;http:"));
    }

    #[test]
    fn nothing_outside_the_page_is_referred_to() {
        let page = render(&hostile(), None);
        for (attribute, allowed) in [("src=\"", "data:image/"), ("href=\"", "#")] {
            for value in page.split(attribute).skip(1) {
                assert!(value.starts_with(allowed), "{attribute}{value:.40}");
            }
        }
        for word in [
            "@import", "url(", "xlink", "xmlns", "srcset", "<script ", "<link", "fetch(", "XMLHttp",
        ] {
            assert!(!page.contains(word), "{word}");
        }
    }

    #[test]
    fn the_browser_runs_this_script_alone() {
        let page = render(&hostile(), None);
        let script = page.split("<script>").nth(1).unwrap();
        let script = script.split("</script>").next().unwrap();
        let hash = STANDARD.encode(Sha256::digest(script));
        assert!(page.contains(&format!("script-src 'sha256-{hash}'\"")));
        assert!(!policy().contains("script-src 'unsafe"));
    }

    #[test]
    fn a_page_that_is_written_again_is_loaded_again() {
        let (once, again) = (render(&hostile(), None), render(&hostile(), Some(30)));
        let refresh = "<meta http-equiv=\"refresh\" content=\"30\">\n";
        assert_eq!(again.replace(refresh, ""), once);
        assert!(again.contains(refresh));
    }

    #[test]
    fn numbers_are_there_with_every_digit() {
        let row = data(&Cell::fixed(105.83271, 2));
        assert_eq!(
            row,
            "<td class=\"own\" data-value=\"105.83271\">105.83</td>"
        );
    }

    #[test]
    fn published_and_own_numbers_look_different() {
        let page = render(&hostile(), None);
        assert!(page.contains("<td class=\"published\">"));
        assert!(STYLE.contains("td.published") && STYLE.contains("td.own"));
        assert!(STYLE.contains("prefers-color-scheme: dark"));
    }
}
