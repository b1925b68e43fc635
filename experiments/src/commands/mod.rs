//! What the program does, a file for each command.

mod apg_kl;
mod apg_table;
mod arm_toy;
pub mod curves;
pub mod evaluate;
mod joint;
pub mod loading;
pub mod plan_text;
pub mod report;
pub mod reproduce;
pub mod stepwise;
pub mod streams;
pub mod variance;
pub mod variance_curve;

/// A word of a command line, as a shell takes it for one.
pub(super) fn quoted(word: &str) -> String {
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
