//! Sentences of Markdown and of doc comments.

use std::ops::AddAssign;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// A sentence of more words is long.
pub const LONG: usize = 35;

/// A sentence with its number of words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sentence {
    /// As it is written, code and formulas by a placeholder.
    pub text: String,
    /// Words: what stands between blanks and holds a letter or a digit; a piece of code or a formula is one.
    pub words: usize,
}

/// Counts of sentences.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// All.
    pub sentences: usize,
    /// Those of more than [`LONG`] words.
    pub long: usize,
}

impl Count {
    /// Of these sentences.
    pub fn of(sentences: &[Sentence]) -> Self {
        Self {
            sentences: sentences.len(),
            long: sentences.iter().filter(|s| s.words > LONG).count(),
        }
    }

    /// The share of long ones, in percent.
    pub fn percent(self) -> f64 {
        100.0 * self.long as f64 / self.sentences.max(1) as f64
    }
}

impl AddAssign for Count {
    fn add_assign(&mut self, other: Self) {
        self.sentences += other.sentences;
        self.long += other.long;
    }
}

/// The sentences of a Markdown text: of paragraphs and list items; without headings, tables, code blocks and comments.
pub fn sentences(markdown: &str) -> Vec<Sentence> {
    let mut found = Vec::new();
    let mut text = String::new();
    let mut silent = 0;
    for event in Parser::new_ext(markdown, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::Heading { .. } | Tag::CodeBlock(_) | Tag::Table(_)) => {
                split(&mut text, &mut found);
                silent += 1;
            }
            Event::End(TagEnd::Heading(_) | TagEnd::CodeBlock | TagEnd::Table) => silent -= 1,
            Event::Start(Tag::Paragraph | Tag::Item | Tag::List(_) | Tag::BlockQuote(_))
            | Event::End(TagEnd::Paragraph | TagEnd::Item) => split(&mut text, &mut found),
            Event::Text(words) if silent == 0 => text.push_str(&words),
            Event::Code(_) if silent == 0 => text.push_str("Code"),
            Event::SoftBreak | Event::HardBreak => text.push(' '),
            _ => {}
        }
    }
    split(&mut text, &mut found);
    found
}

/// Moves the sentences of a block to the others. One ends at `.`, `!` or `?` before a blank and what is neither a
/// small letter nor a digit.
fn split(block: &mut String, found: &mut Vec<Sentence>) {
    let mut sentence = String::new();
    let block = formulas_as_words(&std::mem::take(block));
    let mut words = block.split_whitespace().peekable();
    while let Some(word) = words.next() {
        sentence.push_str(word);
        let ends = word
            .trim_end_matches([')', '"', '”', '*', '\''])
            .ends_with(['.', '!', '?']);
        let goes_on = words
            .peek()
            .is_some_and(|next| next.starts_with(|c: char| c.is_lowercase() || c.is_numeric()));
        if words.peek().is_none() || ends && !goes_on {
            let text = std::mem::take(&mut sentence);
            let is_word = |word: &&str| word.contains(char::is_alphanumeric);
            let words = text.split_whitespace().filter(is_word).count();
            if words > 0 {
                found.push(Sentence { text, words });
            }
        } else {
            sentence.push(' ');
        }
    }
}

/// With `$…$` and `$$…$$` by a word each.
fn formulas_as_words(text: &str) -> String {
    let parts = text.split('$').collect::<Vec<_>>();
    if parts.len() % 2 == 0 {
        return text.into(); // a dollar sign is one
    }
    let part = |(i, part): (usize, &&str)| if i % 2 == 1 { "Formula" } else { part }.to_string();
    parts.iter().enumerate().map(part).collect()
}

/// The sentences of a Rust file's doc comments.
pub fn of_doc_comments(rust: &str) -> Vec<Sentence> {
    let mut found = Vec::new();
    let mut block = String::new();
    for line in rust.lines().chain([""]) {
        let line = line.trim_start();
        let comment = line.strip_prefix("//!").or_else(|| {
            line.strip_prefix("///")
                .filter(|rest| !rest.starts_with('/'))
        });
        match comment {
            Some(comment) => {
                block.push_str(comment.strip_prefix(' ').unwrap_or(comment));
                block.push('\n');
            }
            None => found.append(&mut sentences(&std::mem::take(&mut block))),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(markdown: &str) -> Vec<usize> {
        sentences(markdown).iter().map(|s| s.words).collect()
    }

    #[test]
    fn sentences_end_at_stops_and_blocks_and_not_at_points_within() {
        assert_eq!(
            words("One two. Three `a b c`!\n\n* four\n* five, e.g. six\n"),
            [2, 2, 1, 3]
        );
        assert_eq!(words("Of 3.5 nats (p. 4 has it). Then\nmore.\n"), [7, 2]);
    }

    #[test]
    fn tables_headings_code_and_targets_of_links_are_no_prose() {
        let text =
            "# A title\n\n| a | b |\n|---|---|\n| c | d |\n\n```\nlet x;\n```\n[See](a/b.md).";
        assert_eq!(words(text), [1]);
    }

    #[test]
    fn a_sentence_of_36_words_is_long_and_one_of_35_is_not() {
        for (count, long) in [(35, 0), (36, 1)] {
            let text = vec!["word"; count].join(" ");
            assert_eq!(Count::of(&sentences(&text)).long, long);
            let comment = format!("    /// {text}\nfn f() {{}} // {text}\n//// {text}\n");
            let found = of_doc_comments(&comment);
            assert_eq!(Count::of(&found), Count { sentences: 1, long });
        }
    }

    #[test]
    fn a_formula_is_a_word() {
        assert_eq!(words("With $a + b = c$ it holds."), [4]);
    }
}
