//! The part of a configuration that decides a run's numbers.

use serde_json::{Map, Value};

/// Keys, at any depth, that change no parameter, no selection and no reported NLL. They say how often checkpoints are made, how
/// many threads evaluate, whether test images are evaluated at checks, and whether the gradient is followed. Configurations that
/// differ in these alone belong to the same run.
pub const FREE_KEYS: [&str; 4] = [
    "checkpoint_seconds",
    "threads",
    "test_at_checks",
    "gradient_beta",
];

/// The key, at any depth, of the data's fingerprint. A configuration without it says nothing of its data: they are unknown,
/// not others.
pub const FINGERPRINT: &str = "fingerprint";

/// `config` without [`FREE_KEYS`] and [`FINGERPRINT`].
pub(crate) fn identity(config: &Value) -> Value {
    match config {
        Value::Object(map) => {
            let counts =
                |key: &&String| key.as_str() != FINGERPRINT && !FREE_KEYS.contains(&key.as_str());
            let entries = map.iter().filter(|(key, _)| counts(key));
            Value::Object(Map::from_iter(
                entries.map(|(key, value)| (key.clone(), identity(value))),
            ))
        }
        Value::Array(entries) => entries.iter().map(identity).collect(),
        scalar => scalar.clone(),
    }
}

/// The data's fingerprint that `config` holds, at whatever depth.
pub(crate) fn fingerprint(config: &Value) -> Option<&str> {
    match config {
        Value::Object(map) => {
            let own = map.get(FINGERPRINT).and_then(Value::as_str);
            own.or_else(|| map.values().find_map(fingerprint))
        }
        Value::Array(entries) => entries.iter().find_map(fingerprint),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn free_keys_and_the_fingerprint_are_left_out_at_any_depth_and_nothing_else_is() {
        let config = json!({"cell": {"fingerprint": "ab", "settings": {"checkpoint_seconds": 60, "epochs": 3}}, "threads": 2, "list": [{"threads": 1, "k": 2}]});
        let expected = json!({"cell": {"settings": {"epochs": 3}}, "list": [{"k": 2}]});
        assert_eq!(identity(&config), expected);
        assert_eq!(fingerprint(&config), Some("ab"));
        assert_eq!(fingerprint(&expected), None);
        assert_eq!(fingerprint(&json!({"list": [1, config]})), Some("ab"));
    }
}
