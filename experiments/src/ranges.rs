//! Bounds on every whole number of an experiment file: beyond them a plan could neither be computed nor run.

use toml::{Table, Value};

/// Largest value of a number, by its key; other whole numbers have [`OTHERS`]. Tens of times the largest that any published
/// experiment has, and small enough that products of several are no overflow.
const MOST: [(&str, i64); 38] = [
    ("appearance", 8192),
    ("batch", 1 << 20),
    ("budget_sweeps", 10_000),
    ("canvas", 4096),
    ("check_instances", 1_000_000),
    ("check_sequences", 1_000_000),
    ("classes", 10_000),
    ("clusters", 1024),
    ("curve_particles", 1 << 20),
    ("curve_prior_particles", 1 << 24),
    ("curve_runs", 10_000),
    ("curve_sweeps", 10_000),
    ("digit", 1024),
    ("digit-hidden", 8192),
    ("digit_hidden", 8192),
    ("digits", 100),
    ("dimensions", 1024),
    ("evaluations", 10_000),
    ("frames", 10_000),
    ("hidden", 8192),
    ("images", 1_000_000),
    ("instances", 1_000_000),
    ("largest_logit", 1000),
    ("latent", 8192),
    ("leapfrog", 10_000),
    ("points", 1_000_000),
    ("position-hidden", 8192),
    ("position_hidden", 8192),
    ("prior_particles", 1 << 24),
    ("sequences", 1_000_000),
    ("shown_sweeps", 10_000),
    ("side", 4096),
    ("stage1_extra", 1),
    ("statistics", 8192),
    ("sweeps", 10_000),
    ("values", 10_000),
    ("variables", 8192),
    ("warm_up", 1_000_000),
];

/// Largest value of any other whole number.
const OTHERS: i64 = 1 << 40;

/// Keys whose numbers only name something.
const NAMES: [&str; 2] = ["seed", "seeds"];

/// The first number in `file` that is out of its range, in words.
pub(crate) fn problem(file: &Table) -> Option<String> {
    file.iter().find_map(|(key, value)| of(key, value))
}

fn of(key: &str, value: &Value) -> Option<String> {
    match value {
        Value::Table(table) => problem(table),
        Value::Array(values) => values.iter().find_map(|value| of(key, value)),
        Value::Integer(number) if !NAMES.contains(&key) => {
            let most = MOST.iter().find(|(name, _)| *name == key);
            let most = most.map_or(OTHERS, |(_, most)| *most);
            (*number > most).then(|| format!("`{key}` is {number}, but may be {most} at most"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::error::HarnessError;
    use crate::source::Source;

    fn rejection(text: &str) -> String {
        let source = Source {
            file: "my.toml".into(),
            text: text.into(),
        };
        match source.parse::<toml::Table>() {
            Err(error @ HarnessError::Spec { .. }) => error.to_string(),
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn numbers_beyond_any_machine_are_refused_with_their_key_at_every_depth() {
        for (text, key) in [
            ("hidden = 1000000000", "hidden"),
            ("[model]\ndimensions = 4611686018427387904", "dimensions"),
            ("[[profile]]\nsweeps = [5, 100000000]", "sweeps"),
            ("check_instances = 4294967296", "check_instances"),
            ("[t1]\nvalues = 1000000000", "values"),
            ("evaluations = 1000000000", "evaluations"),
            ("epochs = 9223372036854775807", "epochs"),
        ] {
            let error = rejection(text);
            assert!(
                error.contains("my.toml") && error.contains(&format!("`{key}`")),
                "{error}"
            );
        }
    }

    #[test]
    fn every_bundled_file_is_within_the_ranges_and_seeds_may_be_anything() {
        for name in Source::bundled() {
            let source = Source::find(name).unwrap();
            source.parse::<toml::Table>().unwrap();
        }
        let source = Source {
            file: "my.toml".into(),
            text: "seed = 9223372036854775807\nseeds = [9223372036854775807]".into(),
        };
        source.parse::<toml::Table>().unwrap();
    }
}
