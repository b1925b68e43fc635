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
    /// All tests that reach it passed, if any reaches it.
    Survived { reached: bool },
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
            Self::Survived { reached: false } => {
                write!(f, "SURVIVES, reached by no test")
            }
            Self::Survived { .. } => write!(f, "SURVIVES"),
        }
    }
}

/// A line of the file.
#[derive(Serialize, Deserialize)]
struct Line {
    commit: String,
    sources: String,
    mutant: String,
    verdict: Verdict,
    seconds: f64,
}

/// All verdicts on the present sources, of whatever commit. What survived the tests of another commit is tried anew: they may
/// have changed.
pub struct Results {
    file: File,
    commit: String,
    sources: String,
    /// Each with whether it is of the present commit.
    verdicts: HashMap<String, (Verdict, bool)>,
    /// The tests that noticed mutants of other sources.
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
            if line.sources == checkout.sources {
                seconds += line.seconds;
                let commit = line.commit;
                verdicts.insert(line.mutant, (line.verdict, commit == checkout.commit));
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
            commit: self.commit.clone(),
            sources: self.sources.clone(),
            mutant: name.clone(),
            verdict: verdict.clone(),
            seconds,
        };
        let line = serde_json::to_string(&line).map_err(|error| error.to_string())?;
        writeln!(self.file, "{line}").map_err(|error| error.to_string())?;
        self.seconds += seconds;
        self.verdicts.insert(name, (verdict, true));
        Ok(())
    }

    /// Forgets what was noticed by a test that is no more.
    pub fn keep(&mut self, is_there: impl Fn(&str) -> bool) {
        self.verdicts.retain(|_, (verdict, _)| match verdict {
            Verdict::Killed { by } | Verdict::Late { by } => is_there(by),
            _ => true,
        });
    }

    /// Whether no test is left to try.
    pub fn has(&self, mutant: &Mutant) -> bool {
        let verdict = self.verdicts.get(&mutant.name());
        verdict.is_some_and(|(verdict, present)| *present || !verdict.survives())
    }

    pub fn is_unviable(&self, mutant: &Mutant) -> bool {
        let verdict = self.verdicts.get(&mutant.name());
        verdict.is_some_and(|(verdict, _)| verdict.is_unviable())
    }

    /// The test that noticed it among other sources.
    pub fn earlier(&self, mutant: &Mutant) -> Option<&str> {
        self.earlier.get(&mutant.name()).map(String::as_str)
    }

    /// The verdict on a mutant, if it has one.
    pub fn verdict(&self, mutant: &Mutant) -> Option<&Verdict> {
        let verdict = self.verdicts.get(&mutant.name());
        verdict.map(|(verdict, _)| verdict)
    }

    /// Seconds that the tests of all mutants took.
    pub fn seconds(&self) -> f64 {
        self.seconds
    }
}
