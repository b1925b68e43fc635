//! Names that a user types: looked up, and answered with the choices and the nearest match when unknown.

use crate::error::HarnessError;

/// The entry of `items` called `name`.
///
/// # Errors
/// [`HarnessError::Unknown`] with the choices and the nearest of them.
pub fn lookup<'a, T>(
    what: &'static str,
    name: &str,
    items: &'a [T],
    name_of: impl Fn(&T) -> &str,
) -> Result<&'a T, HarnessError> {
    let choices = || items.iter().map(|item| name_of(item).to_string());
    let mut found = items.iter().filter(|item| name_of(item) == name);
    found.next().ok_or_else(|| unknown(what, name, choices()))
}

/// The error for a `name` that is none of the `choices`.
pub fn unknown(
    what: &'static str,
    name: &str,
    choices: impl IntoIterator<Item = String>,
) -> HarnessError {
    let choices: Vec<String> = choices.into_iter().collect();
    let nearest = nearest(name, &choices)
        .map(|n| format!(" Did you mean `{n}`?"))
        .unwrap_or_default();
    HarnessError::Unknown {
        what,
        name: name.to_string(),
        nearest,
        choices: choices.join(", "),
    }
}

/// The choice most like `name`, if one is alike enough to be a slip of the fingers.
fn nearest<'a>(name: &str, choices: &'a [String]) -> Option<&'a str> {
    let name = name.to_lowercase();
    choices
        .iter()
        .map(|choice| (strsim::jaro_winkler(&name, choice), choice.as_str()))
        .filter(|(score, _)| *score > 0.75)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, choice)| choice)
}

/// Seeds as a user writes them: `1`, `1,2,7`, `1-5`, or a mixture; each kept once, in the order given.
///
/// # Errors
/// A sentence that says what is wrong with the text.
pub fn parse_seeds(text: &str) -> Result<Vec<u64>, String> {
    let number = |s: &str| {
        s.trim().parse::<u64>().map_err(|_| {
            format!(
                "`{}` is not a seed; write seeds as 1 or 1,2 or 1-5",
                s.trim()
            )
        })
    };
    let mut seeds = Vec::new();
    for part in text.split(',') {
        let range = match part.split_once('-') {
            Some((first, last)) => number(first)?..=number(last)?,
            None => number(part)?..=number(part)?,
        };
        if range.is_empty() {
            return Err(format!("the range `{}` runs backwards", part.trim()));
        }
        if range.end() - range.start() >= 1000 {
            return Err(format!(
                "the range `{}` holds more than 1000 seeds",
                part.trim()
            ));
        }
        for seed in range {
            if !seeds.contains(&seed) {
                seeds.push(seed);
            }
        }
    }
    Ok(seeds)
}

/// Seeds in a sentence: `seed 1`, `seeds 1-5`, `seeds 1, 3, 7`.
pub fn format_seeds(seeds: &[u64]) -> String {
    match seeds {
        [one] => format!("seed {one}"),
        [first, .., last] if last - first + 1 == seeds.len() as u64 && seeds.is_sorted() => {
            format!("seeds {first}-{last}")
        }
        _ => {
            let texts: Vec<String> = seeds.iter().map(u64::to_string).collect();
            format!("seeds {}", texts.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_has_at_most_a_thousand_seeds_wherever_it_begins() {
        assert_eq!(parse_seeds("900-1000").unwrap().len(), 101);
        assert_eq!(parse_seeds("5001-6000").unwrap().len(), 1000);
        parse_seeds("5000-6000").unwrap_err();
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_choices_and_the_nearest() {
        let methods = ["jsa", "jsa-mtmis", "rloo"].map(String::from);
        let error = lookup("method", "rlo", &methods, |m| m)
            .unwrap_err()
            .to_string();
        assert_eq!(
            error,
            "unknown method `rlo`. Did you mean `rloo`? The choices are: jsa, jsa-mtmis, rloo"
        );
        let error = lookup("method", "banana", &methods, |m| m)
            .unwrap_err()
            .to_string();
        assert_eq!(
            error,
            "unknown method `banana`. The choices are: jsa, jsa-mtmis, rloo"
        );
        let error = lookup("method", "JSA", &methods, |m| m)
            .unwrap_err()
            .to_string();
        assert!(error.contains("Did you mean `jsa`?"), "{error}");
    }

    #[test]
    fn seeds_are_numbers_lists_and_ranges() {
        assert_eq!(parse_seeds("3"), Ok(vec![3]));
        assert_eq!(parse_seeds("1,2"), Ok(vec![1, 2]));
        assert_eq!(parse_seeds("1-5"), Ok(vec![1, 2, 3, 4, 5]));
        assert_eq!(parse_seeds("4-5, 1, 5"), Ok(vec![4, 5, 1]));
        assert!(
            parse_seeds("1-x")
                .unwrap_err()
                .contains("`x` is not a seed")
        );
        assert!(parse_seeds("").unwrap_err().contains("not a seed"));
        assert!(parse_seeds("5-1").unwrap_err().contains("backwards"));
        assert!(
            parse_seeds("0-18446744073709551615")
                .unwrap_err()
                .contains("1000")
        );
    }

    #[test]
    fn seeds_are_a_range_where_they_are_one() {
        assert_eq!(format_seeds(&[1]), "seed 1");
        assert_eq!(format_seeds(&[1, 2, 3]), "seeds 1-3");
        assert_eq!(format_seeds(&[1, 3, 7]), "seeds 1, 3, 7");
    }
}
