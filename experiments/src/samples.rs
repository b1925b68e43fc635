//! The numbers of samples of a last evaluation.

use serde::{Deserialize, Serialize};

/// One number of importance samples S, written as a number, or several, written as a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "OneOrSeveral", into = "OneOrSeveral")]
pub struct FinalSamples(Vec<u64>);

/// [`FinalSamples`] as a file has them.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum OneOrSeveral {
    One(u64),
    Several(Vec<u64>),
}

impl From<OneOrSeveral> for FinalSamples {
    fn from(samples: OneOrSeveral) -> Self {
        let mut samples = match samples {
            OneOrSeveral::One(samples) => vec![samples],
            OneOrSeveral::Several(samples) => samples,
        };
        samples.sort_unstable();
        samples.dedup();
        Self(samples)
    }
}

impl From<FinalSamples> for OneOrSeveral {
    fn from(FinalSamples(samples): FinalSamples) -> Self {
        match samples.as_slice() {
            [one] => Self::One(*one),
            _ => Self::Several(samples),
        }
    }
}

impl From<u64> for FinalSamples {
    fn from(samples: u64) -> Self {
        Self(vec![samples])
    }
}

impl FinalSamples {
    /// Each of them, ascending.
    pub fn all(&self) -> &[u64] {
        &self.0
    }

    /// The largest, with which one pass gives all; 0 if there are none, which no settings allow.
    pub fn largest(&self) -> u64 {
        self.0.last().copied().unwrap_or(0)
    }
}

impl std::fmt::Display for FinalSamples {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let all: Vec<String> = self.0.iter().map(u64::to_string).collect();
        f.write_str(&all.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, from_value, json, to_value};

    #[test]
    fn one_number_is_written_as_before_and_several_as_an_ascending_list() {
        let again = |value: Value| to_value(from_value::<FinalSamples>(value).unwrap()).unwrap();
        assert_eq!(again(json!(1000)), json!(1000));
        assert_eq!(again(json!([1000])), json!(1000));
        assert_eq!(again(json!([1000, 100, 1000])), json!([100, 1000]));
        assert!(from_value::<FinalSamples>(json!("many")).is_err());
    }
}
