//! One text for one JSON value, so that it can be hashed.

use serde_json::Value;
use sha2::{Digest, Sha256};

/// The canonical text of `value`: no white space, keys sorted by their bytes, numbers as `serde_json` prints them
/// (`1` and `1.0` are different values).
pub fn canonical_json(value: &Value) -> String {
    let mut text = String::new();
    write_canonical(value, &mut text);
    text
}

/// The sha256 (64 hexadecimal digits) of [`canonical_json`]: the hash by which a run folder knows its configuration.
pub fn config_hash(config: &Value) -> String {
    sha256(canonical_json(config).as_bytes())
}

pub(crate) fn sha256(bytes: &[u8]) -> String {
    format!("{:x}", Sha256::digest(bytes))
}

fn write_canonical(value: &Value, text: &mut String) {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_by_key(|(key, _)| *key);
            text.push('{');
            for (i, (key, entry)) in entries.into_iter().enumerate() {
                if i > 0 {
                    text.push(',');
                }
                text.push_str(&Value::from(key.as_str()).to_string());
                text.push(':');
                write_canonical(entry, text);
            }
            text.push('}');
        }
        Value::Array(entries) => {
            text.push('[');
            for (i, entry) in entries.iter().enumerate() {
                if i > 0 {
                    text.push(',');
                }
                write_canonical(entry, text);
            }
            text.push(']');
        }
        scalar => text.push_str(&scalar.to_string()),
    }
}

/// One line for each key in which `asked` differs from `stored`, objects compared key by key.
pub(crate) fn differences(stored: &Value, asked: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    compare("", Some(stored), Some(asked), &mut lines);
    lines
}

fn compare(key: &str, stored: Option<&Value>, asked: Option<&Value>, lines: &mut Vec<String>) {
    if let (Some(Value::Object(a)), Some(Value::Object(b))) = (stored, asked) {
        let mut keys: Vec<&String> = a.keys().chain(b.keys()).collect();
        keys.sort();
        keys.dedup();
        for name in keys {
            let inner = if key.is_empty() {
                name.clone()
            } else {
                format!("{key}.{name}")
            };
            compare(&inner, a.get(name), b.get(name), lines);
        }
    } else if stored.map(canonical_json) != asked.map(canonical_json) {
        let key = if key.is_empty() { "the whole" } else { key };
        lines.push(format!(
            "{key}: {} in the folder, {} asked for",
            abbreviated(stored),
            abbreviated(asked)
        ));
    }
}

fn abbreviated(value: Option<&Value>) -> String {
    let Some(value) = value else {
        return "absent".into();
    };
    let text = canonical_json(value);
    match text.char_indices().nth(60) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn canonical_text_has_sorted_keys_and_no_space() {
        let value = json!({"b": [1, 2.5, null, true], "a": {"z": "\"ü\n", "y": -0.0}});
        assert_eq!(
            canonical_json(&value),
            r#"{"a":{"y":-0.0,"z":"\"ü\n"},"b":[1,2.5,null,true]}"#
        );
    }

    #[test]
    fn the_hash_is_the_sha256_of_the_canonical_text() {
        // printf '{"a":1}' | sha256sum
        let hash = "015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862";
        assert_eq!(config_hash(&json!({"a": 1})), hash);
        assert_ne!(config_hash(&json!({"a": 1.0})), hash);
    }

    #[test]
    fn the_canonical_text_survives_parsing() {
        // Numbers that serde_json without `float_roundtrip` reads back one unit off, and integers beyond 2^53.
        let numbers: [f64; 6] = [
            31.245270191439438,
            121.48791951161945,
            100.78399658203125,
            1e300,
            5e-324,
            1.7976931348623157e308,
        ];
        let value = json!({"f": numbers, "u": u64::MAX, "i": i64::MIN});
        let parsed: Value = serde_json::from_str(&canonical_json(&value)).unwrap();
        assert_eq!(canonical_json(&parsed), canonical_json(&value));
        for (i, number) in numbers.iter().enumerate() {
            assert_eq!(parsed["f"][i].as_f64().unwrap().to_bits(), number.to_bits());
        }
    }

    #[test]
    fn differences_name_nested_keys_on_both_sides() {
        let stored = json!({"net": "linear", "settings": {"epochs": 20, "batch": 50}, "old": 1});
        let asked = json!({"net": "linear", "settings": {"epochs": 30, "batch": 50}, "new": [1]});
        assert_eq!(
            differences(&stored, &asked),
            [
                "new: absent in the folder, [1] asked for",
                "old: 1 in the folder, absent asked for",
                "settings.epochs: 20 in the folder, 30 asked for",
            ]
        );
        assert!(differences(&stored, &stored).is_empty());
        assert_eq!(
            differences(&json!(1), &json!(2)),
            ["the whole: 1 in the folder, 2 asked for"]
        );
    }

    #[test]
    fn long_values_are_shortened_at_a_character() {
        let lines = differences(&json!({"k": "ü".repeat(100)}), &json!({"k": 1}));
        assert!(lines[0].contains('…') && lines[0].len() < 200);
    }
}
