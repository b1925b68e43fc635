//! What the program does, a file for each command.

pub mod evaluate;
pub mod report;
pub mod reproduce;
pub mod scoreboard;
pub mod variance;

/// A word of a command line, as a shell takes it for one.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,+:@%".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_string(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_quoted_where_a_shell_would_take_it_apart() {
        assert_eq!(quoted("runs/a-b_1.0"), "runs/a-b_1.0");
        assert_eq!(quoted("a/b c d"), "'a/b c d'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted(""), "''");
    }
}
