//! A line of the scoreboard: a published number, and how far ours came.

use serde::Serialize;

/// A published number, and ours.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Line {
    /// Authors, year, title, table.
    pub source: String,
    /// The experiment that reproduces it.
    pub experiment: String,
    /// Net, data set and K, or the model.
    pub setting: String,
    /// The same without the data set: what tells a number that two lines are of.
    #[serde(skip)]
    pub cell: String,
    /// Name of the method in the publication.
    pub method: String,
    /// `NLL`, `-ELBO`, `log joint`, `KL`.
    pub quantity: &'static str,
    /// The published number.
    pub published: f64,
    /// Its sd over runs.
    pub published_sd: Option<f64>,
    /// What rounding makes of it: an sd below this counts as this.
    pub rounding: f64,
    /// Whether the publication measured it itself, and it is probably no slip.
    pub is_target: bool,
    /// The mean over our runs.
    pub ours: Option<f64>,
    /// Its sd over seeds.
    pub ours_sd: Option<f64>,
    /// Seeds that are done, and those that are published.
    pub seeds: [u64; 2],
    /// Epochs or gradient steps done, and those of the published protocol.
    pub steps: [u64; 2],
    /// `epochs`, `steps`.
    pub unit: &'static str,
    /// Verdict: how far it came.
    pub word: Word,
}

/// Verdict on a reproduction, in a word: how far it came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Word {
    /// Run to the published end, and within [`TOLERANCE`].
    Reproduced,
    /// Run to the published end, and outside of it.
    Differs,
    /// Run, and not to the published end.
    Cut,
    /// There is no run.
    NotRun,
}

/// Standard deviations within which a number is reproduced: √(sd² published + sd² ours).
pub const TOLERANCE: f64 = 2.0;
/// Nats: the rounding of likelihoods, log joints and squared errors, which are published to a tenth.
pub const TENTH: f64 = 0.05;
/// Nats: the sd of a number that is published without one, about the largest that is published.
pub const UNSTATED: f64 = 0.5;

impl Word {
    /// Returns the word as it is printed.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Reproduced => "reproduced",
            Self::Differs => "differs",
            Self::Cut => "cut",
            Self::NotRun => "not run",
        }
    }
}

impl Line {
    /// Ours minus published.
    pub fn difference(&self) -> Option<f64> {
        Some(self.ours? - self.published)
    }

    /// The same in standard deviations of both.
    pub fn sds(&self) -> Option<f64> {
        let published = self.published_sd.unwrap_or(UNSTATED).max(self.rounding);
        Some(self.difference()? / published.hypot(self.ours_sd.unwrap_or(0.0)))
    }

    /// With the word that its numbers call for; `whole` if runs were made to the published end.
    pub(super) fn judged(mut self, whole: bool) -> Self {
        self.word = match self.sds() {
            None if self.steps[0] == 0 => Word::NotRun,
            // One that was stopped has no number yet.
            None => Word::Cut,
            Some(_) if !whole => Word::Cut,
            Some(sds) if sds.abs() <= TOLERANCE => Word::Reproduced,
            Some(_) => Word::Differs,
        };
        self
    }
}
