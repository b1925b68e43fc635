//! Range of every number of an experiment file, by its key. What concerns two keys together is checked by the kind of experiment.

use std::time::Duration;
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

/// Largest value of any other whole number: beyond it a plan could neither be computed nor run.
const OTHERS: i64 = 1 << 40;

/// Smallest value of a whole number, if it is not 1.
const LEAST: [(&str, i64); 9] = [
    ("clusters", 2),
    ("instances", 2),
    ("largest_logit", 0),
    ("prior_particles", 0),
    ("replicates", 2),
    ("separated", 0),
    ("sequences", 2),
    ("stage1_extra", 0),
    ("warm_up", 0),
];

/// Keys whose numbers only name something.
const NAMES: [&str; 2] = ["seed", "seeds"];

/// Range of a real number: in words, and whether a number is in it.
type Range = (&'static str, fn(f64) -> bool);

const FINITE: Range = ("finite", f64::is_finite);
const POSITIVE: Range = ("positive and finite", |x| x > 0.0 && x.is_finite());
const NOT_NEGATIVE: Range = ("finite, and not below 0", |x| x >= 0.0 && x.is_finite());
const SHARE: Range = ("from 0 to 1", |x| (0.0..=1.0).contains(&x));
const BELOW_ONE: Range = ("from 0 to below 1", |x| (0.0..1.0).contains(&x));
const PROBABILITY: Range = ("between 0 and 1", |x| x > 0.0 && x < 1.0);
const SECONDS: Range = ("positive, and no more than a clock can count", |x| {
    x > 0.0 && Duration::try_from_secs_f64(x).is_ok()
});

/// Ranges of real numbers. They may be written as whole ones; any other number with a decimal point is finite.
const REAL: [(&str, Range); 30] = [
    ("acceptance", PROBABILITY),
    ("alpha", POSITIVE),
    ("beta", POSITIVE),
    ("beta_2", BELOW_ONE),
    ("betas", BELOW_ONE),
    ("bias", FINITE),
    ("checkpoint_seconds", SECONDS),
    ("curve_step_size", POSITIVE),
    ("decay", SHARE),
    ("from", BELOW_ONE),
    ("gradient_beta", BELOW_ONE),
    ("inference_betas", BELOW_ONE),
    ("inference_rate", POSITIVE),
    ("learning_rate", POSITIVE),
    ("log_joint", FINITE),
    ("mean", FINITE),
    ("noise", NOT_NEGATIVE),
    ("nu", POSITIVE),
    ("prior_rate", POSITIVE),
    ("published", FINITE),
    ("radius", POSITIVE),
    ("slope", NOT_NEGATIVE),
    ("speed", POSITIVE),
    ("spread", POSITIVE),
    ("start", FINITE),
    ("step", POSITIVE),
    ("step_size", POSITIVE),
    ("switch", SHARE),
    ("target", FINITE),
    ("targets", FINITE),
];

/// The table of nets, whose whole numbers may be 0: a net from another crate has options of its own, and checks them itself.
const NETS: &str = "net";

/// The first number in `file` that is out of its range, in words.
pub(crate) fn problem(file: &Table) -> Option<String> {
    in_table(file, 1)
}

fn in_table(table: &Table, least: i64) -> Option<String> {
    table.iter().find_map(|(key, value)| of(key, value, least))
}

/// `least` is that of whole numbers without one of their own.
fn of(key: &str, value: &Value, least: i64) -> Option<String> {
    let least = if key == NETS { 0 } else { least };
    match (value, find(&REAL, key)) {
        (Value::Table(table), _) => in_table(table, least),
        (Value::Array(values), _) => values.iter().find_map(|value| of(key, value, least)),
        (Value::Integer(number), Some(range)) => real(key, *number as f64, range),
        (Value::Float(number), range) => real(key, *number, range.unwrap_or(FINITE)),
        (Value::Integer(number), None) if !NAMES.contains(&key) => whole(key, *number, least),
        _ => None,
    }
}

fn real(key: &str, number: f64, (words, holds): Range) -> Option<String> {
    (!holds(number)).then(|| format!("`{key}` is {number}, but must be {words}"))
}

fn whole(key: &str, number: i64, least: i64) -> Option<String> {
    let least = find(&LEAST, key).unwrap_or(least);
    let most = find(&MOST, key).unwrap_or(OTHERS);
    if number < least {
        Some(format!("`{key}` is {number}, but must be at least {least}"))
    } else if number > most {
        Some(format!("`{key}` is {number}, but may be {most} at most"))
    } else {
        None
    }
}

fn find<T: Copy>(all: &[(&str, T)], key: &str) -> Option<T> {
    let found = all.iter().find(|(name, _)| *name == key);
    found.map(|(_, value)| *value)
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
    fn numbers_that_make_no_sense_are_refused_with_their_key_range_and_value() {
        for (text, expected) in [
            ("batch = 0", "`batch` is 0, but must be at least 1"),
            (
                "[a]\nreplicates = 1",
                "`replicates` is 1, but must be at least 2",
            ),
            (
                "learning_rate = nan",
                "`learning_rate` is NaN, but must be positive and finite",
            ),
            (
                "prior_rate = 0",
                "`prior_rate` is 0, but must be positive and finite",
            ),
            (
                "betas = [0.5, 1.0]",
                "`betas` is 1, but must be from 0 to below 1",
            ),
            (
                "[[method]]\nsettings = { switch = 1.5 }",
                "`switch` is 1.5, but must be from 0 to 1",
            ),
            (
                "acceptance = 1.0",
                "`acceptance` is 1, but must be between 0 and 1",
            ),
            (
                "checkpoint_seconds = 1e30",
                "no more than a clock can count",
            ),
            (
                "noise = inf",
                "`noise` is inf, but must be finite, and not below 0",
            ),
            (
                "[profile.quick]\nanything = -inf",
                "`anything` is -inf, but must be finite",
            ),
        ] {
            let error = rejection(text);
            assert!(error.contains(expected), "{text}: {error}");
        }
        for (key, _) in super::REAL {
            assert!(rejection(&format!("{key} = nan")).contains(key));
        }
        let own = "[[net]]\nname = \"mine\"\npadding = 0";
        assert_eq!(super::problem(&own.parse().unwrap()), None);
        let zeros = "start = 0\nswitch = 0\nslope = 0\nstage1_extra = 0\nwarm_up = 0\nmean = -3\ntarget = 392";
        assert_eq!(super::problem(&zeros.parse().unwrap()), None);
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
