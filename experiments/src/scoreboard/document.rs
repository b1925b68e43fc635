//! The scoreboard as a document.

use std::collections::HashSet;

use super::line::{Line, TENTH, TOLERANCE, UNSTATED, Word};
use helmholtz_report::{Block, Cell, Document, Kind, Note, Section, Table};

/// A summary by source, then a table for each.
pub fn document(lines: &[Line]) -> Document {
    let mut sections = vec![summary(lines)];
    sections.extend(by_source(lines).enumerate().map(of_source));
    Document {
        title: "Scoreboard: every published number beside ours".into(),
        sections,
    }
}

/// The lines of each source; those of a source follow each other.
fn by_source(lines: &[Line]) -> impl Iterator<Item = &[Line]> {
    lines.chunk_by(|a, b| a.source == b.source)
}

/// The same as one section, the tables of the sources folded.
pub fn section(lines: &[Line]) -> Section {
    let mut section = summary(lines);
    let folded = by_source(lines).enumerate().map(of_source);
    section.blocks.extend(folded.map(|source| Block::Folded {
        title: source.title,
        blocks: source.blocks,
    }));
    section
}

/// Counts how many numbers came how far.
fn summary(lines: &[Line]) -> Section {
    let words = [Word::Reproduced, Word::Differs, Word::Cut, Word::NotRun];
    let heads = ["Source", "Numbers"].into_iter();
    let heads = heads.chain(words.map(Word::as_str));
    let mut table = Table::new("scoreboard", "", heads);
    let row = |name: &str, lines: &[Line]| {
        let counts = words.map(|word| lines.iter().filter(|line| line.word == word).count());
        let counts = std::iter::once(lines.len()).chain(counts);
        let counts = counts.map(|count| Cell::number(Kind::Ours, count.to_string(), count as f64));
        std::iter::once(Cell::from(name))
            .chain(counts)
            .collect::<Vec<_>>()
    };
    for own in by_source(lines) {
        table.push(row(&own[0].source, own));
    }
    table.push(row("All", lines));
    let of = |word| lines.iter().filter(|line| line.word == word).count();
    let [reproduced, differs, cut, not_run] = words.map(of);
    let headline = format!(
        "{} lines for {} published numbers: {reproduced} reproduced, {differs} differ, {cut} with runs that were cut short, {not_run} \
         not run. A number has two lines where a second publication quotes it, or where it is run on bits and on grey pixels.",
        lines.len(),
        distinct(lines)
    );
    let notes = vec![
        Note::remark(format!(
            "A number is reproduced if runs of the published length end within {TOLERANCE} standard deviations, \
             √(sd² published + sd² ours). An sd below {TENTH} counts as {TENTH}, what rounding to a tenth makes; one that is not published as {UNSTATED} nats. A \
             published range of KL(p‖q) counts as its middle ± half its width.",
        )),
        Note::remark(
            "Cut: the longest run is shorter than the published one, and its number is no verdict. A star marks numbers that the \
             publication took from elsewhere or that are probably slips.",
        ),
    ];
    Section {
        id: "scoreboard".into(),
        title: "Scoreboard".into(),
        blocks: vec![
            Block::Text(headline),
            Block::Table(table),
            Block::Notes(notes),
        ],
    }
}

/// How many numbers the lines are of: the same of a method in the same cell is one.
fn distinct(lines: &[Line]) -> usize {
    let number = |line: &Line| {
        let digits = [Some(line.published), line.published_sd].map(|x| x.map(f64::to_bits));
        (line.cell.clone(), line.method.clone(), digits)
    };
    lines.iter().map(number).collect::<HashSet<_>>().len()
}

fn of_source((index, lines): (usize, &[Line])) -> Section {
    let heads = [
        "Setting",
        "Method",
        "Quantity",
        "Published",
        "Ours",
        "Seeds",
        "Epochs or steps",
        "Difference",
        "In sd",
        "Verdict",
    ];
    let mut table = Table::new(format!("scoreboard-{index}"), "", heads);
    for line in lines {
        let kind = match line.is_target {
            true => Kind::Published,
            false => Kind::Quoted,
        };
        let star = if line.is_target { "" } else { "*" };
        let sd = line
            .published_sd
            .map_or(String::new(), |sd| format!(" ± {}", printed(sd)));
        let published = format!("{}{sd}{star}", printed(line.published));
        let digits = if line.rounding < TENTH { 6 } else { 2 };
        let ours = match (line.ours, line.ours_sd) {
            (Some(ours), Some(sd)) => Cell::measured(ours, sd, digits),
            (Some(ours), None) => Cell::fixed(ours, digits),
            (None, _) => Cell::of(Kind::Ours, "-"),
        };
        let difference = |value: Option<f64>, digits: usize| match value {
            Some(value) => Cell::number(Kind::Difference, format!("{value:+.digits$}"), value),
            None => Cell::of(Kind::Difference, "-"),
        };
        table.push([
            line.setting.clone().into(),
            line.method.clone().into(),
            line.quantity.into(),
            Cell::number(kind, published, line.published).with_spread(line.published_sd),
            ours,
            format!("{} of {}", line.seeds[0], line.seeds[1]).into(),
            format!("{} of {} {}", line.steps[0], line.steps[1], line.unit).into(),
            difference(line.difference(), digits),
            difference(line.sds(), 1),
            line.word.as_str().into(),
        ]);
    }
    Section {
        id: format!("scoreboard-source-{index}"),
        title: format!("{}: {}", lines[0].experiment, lines[0].source),
        blocks: vec![Block::Table(table)],
    }
}

/// A published number as it is printed: without what arithmetic added after seven digits.
fn printed(value: f64) -> f64 {
    format!("{value:.6e}").parse().expect("a number")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_has_two_lines_is_counted_once() {
        let lines = crate::scoreboard::lines(&[]);
        // Six that Table 1 quotes from ARM's paper, and six of ARM's slides that are run on grey pixels too.
        assert_eq!(lines.len() - distinct(&lines), 12);
    }

    #[test]
    fn a_published_number_has_no_digits_of_arithmetic() {
        let middle = (5.7e-4 + 6.9e-4) / 2.0;
        assert_ne!(middle, 6.3e-4, "or nothing is tested");
        assert_eq!(printed(middle), 6.3e-4);
        for value in [101.89, 0.0, -2035.1] {
            assert_eq!(printed(value), value);
        }
    }
}
