//! The table in Markdown.

use super::numbers::published_text;
use super::{Row, Table, say_seeds};

/// The table, its quoted rows and its notes.
pub fn render(table: &Table) -> String {
    let mut out = format!(
        "# {}\n\nProfile {}, data set `{}`.\n\n",
        table.title,
        table.profile_text(),
        table.dataset
    );
    let error: &[&str] = if table.bounds {
        &["Error over images"]
    } else {
        &[]
    };
    let head = ["Net", "Method", table.ours_header()].into_iter();
    let head = head.chain(error.iter().copied());
    let middle: &[&str] = if table.synthetic {
        &[]
    } else {
        &["Published", "Difference"]
    };
    let head =
        head.chain(middle.iter().copied())
            .chain(["Best epoch", "Seeds", "S", "Test images"]);
    out += &heading(&head.collect::<Vec<_>>());
    for row in &table.rows {
        out += &line(&cells(row, table, row.errors_text(), row.images_text()));
        if let Some(released) = row.by_released() {
            // Always of all images; its error is not kept.
            out += &line(&cells(&released, table, "-".into(), "all".into()));
        }
    }
    if !table.quoted.is_empty() {
        out += "\nQuoted by the publication, not targets:\n\n";
        let mut head = vec!["Method"];
        head.extend(table.nets.iter().map(String::as_str));
        out += &heading(&head);
        for row in &table.quoted {
            let numbers = row.numbers.iter().zip(&row.bounds);
            let numbers = numbers.map(|(&nll, &bound)| published_text(nll, bound));
            let cells: Vec<String> = std::iter::once(row.label.clone())
                .chain(numbers)
                .map(|c| escape(&c))
                .collect();
            out += &line(&cells);
        }
    }
    out.push('\n');
    for note in &table.notes {
        out += &format!("- {}\n", escape(note));
    }
    out
}

/// The cells of a row.
fn cells(row: &Row, table: &Table, errors: String, images: String) -> Vec<String> {
    let mut cells = vec![
        row.group_label(),
        row.method_label.clone(),
        row.ours_text(table),
    ];
    if table.bounds {
        cells.push(errors);
    }
    if !table.synthetic {
        cells.push(escape(&row.published_text()));
        cells.push(row.difference_text());
    }
    cells.push(row.epoch_text());
    let seeds: Vec<u64> = row.results.keys().copied().collect();
    cells.push(if seeds.is_empty() {
        "-".into()
    } else {
        say_seeds(&seeds)
    });
    cells.push(row.samples_text());
    cells.push(images);
    cells
}

/// The head of a Markdown table.
pub(crate) fn heading(cells: &[&str]) -> String {
    let names: Vec<String> = cells.iter().map(|c| c.to_string()).collect();
    let rules = vec!["---".to_string(); cells.len()];
    line(&names) + &line(&rules)
}

/// A line of a Markdown table.
pub(crate) fn line(cells: &[String]) -> String {
    format!("| {} |\n", cells.join(" | "))
}

/// A star would start an emphasis.
pub(crate) fn escape(text: &str) -> String {
    text.replace('*', "\\*").replace('|', "\\|")
}

impl Row {
    /// The importance samples behind the reported numbers, as far as the results say.
    pub(crate) fn samples_text(&self) -> String {
        distinct(
            self.results
                .values()
                .map(|result| result.reported_samples()),
        )
    }

    pub(crate) fn images_text(&self) -> String {
        distinct(self.results.values().map(|result| result.images))
    }
}

fn distinct(numbers: impl Iterator<Item = u64>) -> String {
    let mut numbers: Vec<u64> = numbers.collect();
    numbers.sort_unstable();
    numbers.dedup();
    if numbers.is_empty() {
        return "-".to_string();
    }
    numbers
        .iter()
        .map(u64::to_string)
        .collect::<Vec<_>>()
        .join("/")
}

#[cfg(test)]
mod tests {
    use crate::table::tests::{done, table};

    #[test]
    fn the_markdown_reads_as_it_should() {
        let text = super::render(&table(
            "quick",
            false,
            &[done("linear", "jsa", 1, 105.75, 5)],
        ));
        assert!(
            text.starts_with(
                "\
# JSA Table 1: Bernoulli VAEs, test NLL

Profile quick, data set `binarized-mnist`.

| Net | Method | Ours | Published | Difference | Best epoch | Seeds | S | Test images |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
| Linear | JSA | 105.75 | 105.5 ± 0.1 | +0.25 (+2.5 sd) | 4 of 5 | seed 1 | 100 | 1000 |

Quoted by the publication, not targets:

| Method | Linear | Nonlinear | Two layers |
| --- | --- | --- | --- |
| REINFORCE | 170.1\\* | 114.1\\* | 159.2\\* |
"
            ),
            "{text}"
        );
        assert!(text.contains("- NOT CONVERGED NUMBERS: 5 of the paper's 1000 epochs.\n"));
    }

    #[test]
    fn generated_images_have_no_published_column() {
        let text = super::render(&table("quick", true, &[done("linear", "jsa", 1, 50.0, 5)]));
        assert!(
            text.contains("| Net | Method | Ours | Best epoch | Seeds | S | Test images |"),
            "{text}"
        );
        assert!(
            text.contains("| Linear | JSA | 50.00 [glyphs] | 4 of 5 |"),
            "{text}"
        );
    }
}
