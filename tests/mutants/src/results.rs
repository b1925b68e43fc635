//! Verdicts, kept on disk: a run that was stopped goes on.

use std::collections::HashMap;
use std::fmt;
use std::fs::{self, File};
use std::io::Write;

use serde::{Deserialize, Serialize};

use crate::checkout::Checkout;
use crate::mutant::Mutant;

/// What became of a mutant.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// It does not compile.
    Unviable,
    /// A test failed.
    Killed { by: String },
    /// A test did not end.
    Late { by: String },
    /// All tests that reach it passed.
    Survived { tests: usize },
}

impl Verdict {
    pub fn is_unviable(&self) -> bool {
        matches!(self, Self::Unviable)
    }

    pub fn survives(&self) -> bool {
        matches!(self, Self::Survived { .. })
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unviable => write!(f, "does not compile"),
            Self::Killed { by } => write!(f, "killed by {by}"),
            Self::Late { by } => write!(f, "{by} does not end"),
            Self::Survived { tests: 0 } => write!(f, "SURVIVES, reached by no test"),
            Self::Survived { tests } => write!(f, "SURVIVES {tests} tests"),
        }
    }
}

/// A line of the file.
#[derive(Serialize, Deserialize)]
struct Line {
    /// The commit; of a mutant that does not compile the sources, whatever commit has them.
    at: String,
    mutant: String,
    verdict: Verdict,
    seconds: f64,
}

/// All verdicts of a commit.
pub struct Results {
    file: File,
    commit: String,
    sources: String,
    verdicts: HashMap<String, Verdict>,
    /// The tests that noticed mutants at other commits.
    earlier: HashMap<String, String>,
    seconds: f64,
}

impl Results {
    pub fn open(checkout: &Checkout) -> Result<Self, String> {
        let path = checkout.scratch.join("results.jsonl");
        let written = fs::read_to_string(&path).unwrap_or_default();
        let (mut verdicts, mut earlier) = (HashMap::new(), HashMap::new());
        let mut seconds = 0.0;
        // A line that a kill cut short is not there.
        for line in written.lines().flat_map(serde_json::from_str::<Line>) {
            if [&checkout.commit, &checkout.sources].contains(&&line.at) {
                seconds += line.seconds;
                verdicts.insert(line.mutant, line.verdict);
            } else if let Verdict::Killed { by } = line.verdict {
                earlier.insert(line.mutant, by);
            }
        }
        let file = File::options().create(true).append(true).open(&path);
        Ok(Self {
            file: file.map_err(|error| format!("cannot open {}: {error}", path.display()))?,
            commit: checkout.commit.clone(),
            sources: checkout.sources.clone(),
            verdicts,
            earlier,
            seconds,
        })
    }

    pub fn add(&mut self, mutant: &Mutant, verdict: Verdict, seconds: f64) -> Result<(), String> {
        let name = mutant.name();
        let line = Line {
            at: match verdict {
                Verdict::Unviable => self.sources.clone(),
                _ => self.commit.clone(),
            },
            mutant: name.clone(),
            verdict: verdict.clone(),
            seconds,
        };
        let line = serde_json::to_string(&line).map_err(|error| error.to_string())?;
        writeln!(self.file, "{line}").map_err(|error| error.to_string())?;
        self.seconds += seconds;
        self.verdicts.insert(name, verdict);
        Ok(())
    }

    pub fn has(&self, mutant: &Mutant) -> bool {
        self.verdicts.contains_key(&mutant.name())
    }

    pub fn is_unviable(&self, mutant: &Mutant) -> bool {
        let verdict = self.verdicts.get(&mutant.name());
        verdict.is_some_and(Verdict::is_unviable)
    }

    /// The test that noticed it at another commit.
    pub fn earlier(&self, mutant: &Mutant) -> Option<&str> {
        self.earlier.get(&mutant.name()).map(String::as_str)
    }

    /// The verdict on a mutant that has one.
    pub fn verdict(&self, mutant: &Mutant) -> &Verdict {
        &self.verdicts[&mutant.name()]
    }

    /// Seconds that the tests of all mutants took.
    pub fn seconds(&self) -> f64 {
        self.seconds
    }
}
